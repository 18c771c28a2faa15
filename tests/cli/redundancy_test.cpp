#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"

using namespace trainfront::tests;
using nlohmann::json;

namespace {

Ended redundancy(std::vector<std::string> options) {
  options.insert(options.begin(), {"redundancy", "--groups", "64"});
  return run_program(options);
}

}  // namespace

TEST_CASE("where nothing finishes no row is the best") {
  const Ended text = redundancy({"--mtbf", "1ms"});
  CHECK(text.status == 0);
  CHECK(text.out.find(" *") == std::string::npos);
  CHECK(text.out.find("ever finishes") != std::string::npos);
  CHECK(json::parse(redundancy({"--mtbf", "1ms", "--json"}).out)["optimal_r"].is_null());
  CHECK(redundancy({"--mtbf", "5m"}).out.find(" *") != std::string::npos);
}

TEST_CASE("one trial has no standard error") {
  const Ended text = redundancy({"--mtbf", "5m", "--r", "4", "--simulate", "1"});
  CHECK(text.status == 0);
  CHECK(text.out.find("+- -") != std::string::npos);
  CHECK(text.out.find("+- 0.00") == std::string::npos);
  const json row =
      json::parse(redundancy({"--mtbf", "5m", "--r", "4", "--simulate", "1", "--json"}).out)["rows"][0];
  CHECK(row["simulated"]["failures_stderr"].is_null());
  CHECK(row["simulated"]["time_to_train_ratio_stderr"].is_null());
}

TEST_CASE("numbers out of range are refused everywhere alike") {
  for (const char* threads : {"0", "-7", "99999", "many"}) {
    CAPTURE(threads);
    CHECK(redundancy({"--mtbf", "5m", "--threads", threads}).status == 2);
  }
  CHECK(redundancy({"--mtbf", "5m", "--stack-time", "1e300"}).status == 2);
  CHECK(redundancy({"--mtbf", "5m", "--weibull-shape", "0.4"}).status == 2);
}

TEST_CASE("an environment that asks for too many threads does not crash") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  for (const char* variable : {"OMP_NUM_THREADS=999999999", "SLURM_CPUS_PER_TASK=99999"}) {
    CAPTURE(variable);
    const Ended ended = run_program(
        {"redundancy", "--groups", "8", "--mtbf", "1h", "--r", "2", "--simulate", "2"}, {variable});
    CHECK_MESSAGE(ended.status == 0, ended.err);
  }
}

TEST_CASE("calibrate tells a folder from a file, and ranks from nonsense") {
  const Folder folder;
  const Ended ended =
      run_program({"calibrate", folder.path(), "--device", "h100-sxm", "-o", folder / "p.toml"});
  CHECK(ended.status == 2);
  CHECK(ended.err.find("is a folder, not a file") != std::string::npos);
  CHECK(ended.err.find("internal error") == std::string::npos);
  spew(folder / "log", "x");
  CHECK(run_program({"calibrate", folder / "log", "--device", "h100-sxm", "--ranks", "-3"}).status == 2);
}
