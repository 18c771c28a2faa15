#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "engine/errors.hpp"
#include "engine/redundancy_setup.hpp"
#include "engine/reports/redundancy_plot.hpp"

using namespace trainfront;
using engine::RedundancyOptions;

namespace {

RedundancyOptions good() {
  RedundancyOptions options;
  options.groups = 64;
  options.mtbf = "5m";
  return options;
}

std::string complaint(const RedundancyOptions& options) {
  try {
    engine::redundancy_study(options);
  } catch (const engine::UsageError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("redundancy options: times have units, the MTBF is the system's") {
  RedundancyOptions options = good();
  options.restart = "1h";
  options.checkpoint = "60";
  options.rate = "constant";
  const faults::RedundancyStudy study = engine::redundancy_study(options);
  CHECK(study.system.environment.group_mtbf_s == doctest::Approx(64 * 300));
  CHECK(study.system.environment.restart_s == 3600);
  CHECK(study.system.environment.save_s == 60);
  CHECK_FALSE(study.system.law.rate_falls);
  CHECK(study.r_min == 2);
  CHECK(study.r_max == 20);
  options.groups = 6;
  CHECK(engine::redundancy_study(options).r_max == 6);
  options.mtbf = "inf";
  CHECK(std::isinf(engine::redundancy_study(options).system.environment.group_mtbf_s));
}

TEST_CASE("redundancy options that make no sense are all named at once") {
  RedundancyOptions options = good();
  CHECK(complaint(options).empty());
  options.mtbf = "-5m";
  options.restart = "soon";
  options.weibull_shape = std::numeric_limits<double>::quiet_NaN();
  options.placement = "somewhere";
  options.steps = 0;
  options.r = "5:3";
  const std::string text = complaint(options);
  for (const char* option : {"--mtbf", "--restart", "--weibull-shape", "--placement", "--steps", "--r"}) {
    CAPTURE(option);
    CHECK(has(text, option));
  }
}

TEST_CASE("redundancy beyond the groups, of nothing, or without a system is refused") {
  RedundancyOptions options = good();
  for (const char* range : {"0:3", "2:65", "-1", "a:b", "3:", ":", "2:3:4", "99999999999"}) {
    options.r = range;
    CAPTURE(range);
    CHECK(has(complaint(options), "--r"));
  }
  options = good();
  options.groups = 0;
  CHECK(has(complaint(options), "--groups"));
  CHECK(has(complaint(RedundancyOptions{}), "--groups"));
  options = good();
  options.mtbf = "0";
  CHECK(has(complaint(options), "--mtbf"));
  options = good();
  options.detect = "20m";
  CHECK(has(complaint(options), "--detect"));
}

TEST_CASE("elastic shrinking has its own options, and a plan's own protection unless they ask for another") {
  RedundancyOptions options = good();
  CHECK_FALSE(engine::redundancy_study(options).elastic);
  options.elastic = true;
  CHECK(engine::redundancy_study(options).elastic->k_max == -1);
  options.k_max = 3;
  options.sub_shards = 4;
  CHECK(engine::redundancy_study(options).elastic->k_max == 3);
  CHECK(engine::redundancy_study(options).elastic->sub_shards == 4);
  options.repair = "2h";
  CHECK(has(complaint(options), "--sub-shards"));
  options.sub_shards = 1;
  CHECK(engine::redundancy_study(options).elastic->rejoins);
  CHECK(engine::redundancy_study(options).system.environment.repair_s == 7200);
  options.elastic = false;
  CHECK(has(complaint(options), "--repair"));
  options.elastic = true;
  options.repair = "soon";
  CHECK(has(complaint(options), "--repair \"soon\""));

  faults::Simulation plan;
  plan.units = 8;
  plan.environment.repair_s = 100;
  faults::Protection own{faults::Scheme::kElastic};
  own.k_max = 2;
  own.rejoins = true;
  RedundancyOptions none;
  CHECK(engine::redundancy_study(none, &plan, own).elastic->k_max == 2);
  CHECK(engine::redundancy_study(none, &plan, own).elastic->rejoins);
  none.elastic = true;
  CHECK_FALSE(engine::redundancy_study(none, &plan, own).elastic->rejoins);
}

TEST_CASE("failures that outrun the steps are remarked on") {
  RedundancyOptions options = good();
  options.mtbf = "5s";
  const auto study = engine::redundancy_study(options);
  const auto notes = engine::redundancy_notes(options, study);
  REQUIRE(notes.size() == 1);
  CHECK(has(notes[0], "more often than one step"));
}

TEST_CASE("the plot draws a line a scheme, and a point with its bar a simulated row") {
  RedundancyOptions options = good();
  options.r = "2:6";
  options.restart = "1h";
  const auto study = engine::redundancy_study(options);
  const auto rows = faults::redundancy_rows(study);
  const std::string bare = engine::redundancy_plot(rows, {});
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(bare.rfind("<svg", 0) == 0);
  CHECK(bare.substr(bare.size() - 7) == "</svg>\n");
  CHECK(count(bare, "<path") == 6);  // SPARe and both replications, in both panels
  CHECK(count(bare, "<circle") == 0);
  CHECK_FALSE(has(bare, "nan"));
  CHECK_FALSE(has(bare, "inf"));

  std::vector<faults::RedundancySimulated> simulated;
  for (const faults::RedundancyRow& row : rows) {
    const std::vector<faults::RedundancyTrial> trials = {faults::redundancy_trial(study, row, 0),
                                                         faults::redundancy_trial(study, row, 1)};
    simulated.push_back(faults::summarize(trials));
  }
  const std::string full = engine::redundancy_plot(rows, simulated);
  CHECK(count(full, "<circle") > 5);
  CHECK_FALSE(has(full, "nan"));
}

TEST_CASE("times beyond any training are refused, not printed with all their digits") {
  RedundancyOptions options = good();
  options.stack_time = "1e300";
  options.mtbf = "1e300";
  options.restart = "2e9";
  const std::string said = complaint(options);
  CHECK(has(said, "--stack-time \"1e300\""));
  CHECK(has(said, "--mtbf \"1e300\""));
  CHECK(has(said, "--restart \"2e9\""));
  options = good();
  options.mtbf = "1e12";
  CHECK(complaint(options).empty());
}

TEST_CASE("the plot of one trial draws no error bars") {
  const faults::RedundancyStudy study = engine::redundancy_study(good());
  const std::vector<faults::RedundancyRow> rows = redundancy_rows(study);
  std::vector<faults::RedundancySimulated> simulated;
  for (const faults::RedundancyRow& row : rows) {
    const faults::RedundancyTrial trial{10, 1, 2, row.time_ratio, 0.1 * row.time_ratio};
    simulated.push_back(faults::summarize(std::span(&trial, 1)));
    CHECK(std::isnan(simulated.back().failures.standard_error));
    CHECK(std::isnan(simulated.back().time_ratio.standard_error));
  }
  CHECK_FALSE(has(engine::redundancy_plot(rows, simulated), "nan"));
}
