#include <doctest/doctest.h>

#include "cli/program.hpp"

using namespace trainfront::tests;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("help and version go to standard output and succeed") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--help"}, {"sweep", "--help"}, {"plan", "--help"}, {"explain", "-h"}}) {
    const Ended ended = run_program(words);
    CHECK(ended.status == 0);
    CHECK(contains(ended.out, "Usage: trainfront"));
    CHECK(ended.err.empty());
  }
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--version"}, {"sweep", "--version"}}) {
    const Ended ended = run_program(words);
    CHECK(ended.status == 0);
    CHECK(ended.out.starts_with("trainfront "));
  }
}

TEST_CASE("bad usage ends with status 2 and names what was probably meant") {
  struct Case {
    std::vector<std::string> words;
    std::string said;
  };
  for (const Case& each :
       {Case{{}, "which command?"}, Case{{"swep"}, "did you mean \"sweep\"?"},
        Case{{"sweep", "x.toml", "--deadlin", "5d"}, "did you mean \"--deadline\"?"},
        Case{{"sweep"}, "file is required"}, Case{{"sweep", "x.toml", "--threads", "0"}, "--threads"},
        Case{{"sweep", "x.toml", "--threads", "many"}, "--threads"},
        Case{{"export", "--help"}, "unknown command \"export\""},
        Case{{"plan", "x.toml", "--deadline", ""}, "--deadline: must not be empty"},
        Case{{"explain", "x.toml", "--plan", ""}, "--plan: must not be empty"},
        Case{{"explain", "x.toml", "--trace="}, "--trace"},
        Case{{"explain", "x.toml", "--plan", "1", "--layout", "tp=1"}, "excludes"},
        Case{{"sweep", "no-such-file.toml"}, "no-such-file.toml"}}) {
    CAPTURE(each.said);
    const Ended ended = run_program(each.words);
    CHECK(ended.status == 2);
    CHECK(ended.out.empty());
    CHECK_MESSAGE(contains(ended.err, each.said), ended.err);
  }
}

TEST_CASE("of many ranks one speaks") {
  const Ended bad = run_program_on(3, {"swep"});
  CHECK(bad.status == 2);
  const std::size_t first = bad.err.find("unknown command");
  REQUIRE(first != std::string::npos);
  CHECK(bad.err.find("unknown command", first + 1) == std::string::npos);
  CHECK(run_program_on(3, {"--version"}).out == run_program({"--version"}).out);
}

TEST_CASE("a closed or full standard output is an error") {
  if (!std::filesystem::exists("/dev/full")) return;
  const Ended ended =
      Process({"sh", "-c", std::string(TRAINFRONT_PROGRAM) + " --version > /dev/full"}).wait();
  CHECK(ended.status == 1);
  CHECK(contains(ended.err, "cannot write to standard output"));
}

TEST_CASE("with closed standard streams nothing that is printed lands in a file") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  REQUIRE(run_program({"sweep", folder / "s.toml", "-o", folder / "whole"}).status == 0);
  const Ended ended =
      Process({"sh", "-c",
               std::string("exec ") + TRAINFRONT_PROGRAM + " sweep " + (folder / "s.toml").string() + " -o " +
                   (folder / "out").string() + " <&- >&- 2>&-"})
          .wait();
  CHECK(ended.status == 1);
  for (const char* file : {"front.csv", "front.json", "report.html"})
    CHECK(slurp(folder / ("out/" + std::string(file))) == slurp(folder / ("whole/" + std::string(file))));
}

TEST_CASE("a limit on the size of files is an error like a full disk, not a kill") {
  const Folder folder;
  const Ended ended = Process({"sh", "-c",
                               std::string("ulimit -f 1; exec ") + TRAINFRONT_PROGRAM + " catalog offers > " +
                                   (folder / "out").string()})
                          .wait();
  CHECK(ended.status == 1);
  CHECK(contains(ended.err, "cannot write to standard output"));
}

TEST_CASE("several tasks that MPI does not know of are noticed") {
  const Folder folder;
  spew(folder / "s.toml", small_sweep());
  for (const char* variable : {"SLURM_NTASKS=4", "OMPI_COMM_WORLD_SIZE=4"}) {
    CAPTURE(variable);
    const Ended ended = run_program({"sweep", folder / "s.toml", "-o", folder / "out"}, {variable});
    CHECK(ended.status == 2);
    CHECK(contains(ended.err, "started 4 tasks"));
    CHECK(contains(ended.err, "srun --mpi=pmi2"));
    CHECK_FALSE(std::filesystem::exists(folder / "out"));
  }
  // mpiexec says that one is meant.
  CHECK(run_program_on(1, {"plan", folder / "s.toml", "--progress", "none"}, {"SLURM_NTASKS=4"}).status == 0);
}
