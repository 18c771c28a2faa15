#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "faults/redundancy.hpp"

using namespace trainfront::faults;

namespace {

RedundancyStudy study() {
  RedundancyStudy study;
  study.system.units = 60;
  study.system.step = {1, 20};
  study.system.environment = {60 * 2000.0, 600, 20, 0, 0.2};
  study.system.steps = 5000;
  study.system.checkpoint_every = -1;
  study.r_min = 2;
  study.r_max = 7;
  return study;
}

const RedundancyRow& row_of(const std::vector<RedundancyRow>& rows, RowKind kind, int r) {
  for (const RedundancyRow& row : rows) {
    if (row.kind == kind && row.r == r) return row;
  }
  FAIL("no such row");
  return rows.front();
}

}  // namespace

TEST_CASE("the table has checkpoints, both replications and SPARe, families only where r divides N") {
  const auto rows = redundancy_rows(study());
  int families = 0;
  for (const RedundancyRow& row : rows) {
    CHECK(std::isfinite(row.time_ratio));
    CHECK(row.time_ratio > 1);
    CHECK(row.availability > 0);
    CHECK(row.availability < 1);
    CHECK(row.checkpoint_every > 0);
    families += row.kind == RowKind::kFamilies ? 1 : 0;
  }
  CHECK(families == 5);  // 2, 3, 4, 5, 6
  CHECK(rows.size() == 1 + 6 + 5 + 6);
  // r = 7 does not divide 60, yet the stacked kind has it, with the same survival as SPARe.
  const RedundancyRow& stacked = row_of(rows, RowKind::kStacked, 7);
  CHECK(stacked.failures == doctest::Approx(row_of(rows, RowKind::kSpare, 7).failures));
  CHECK(stacked.stacks == doctest::Approx(7));
}

TEST_CASE("the optimum is the row of the least time; nothing that fails needs nothing") {
  RedundancyStudy setup = study();
  auto rows = redundancy_rows(setup);
  const int best = optimal_redundancy(setup, rows).value();
  for (const RedundancyRow& row : rows) {
    if (row.kind == RowKind::kSpare) {
      const RedundancyRow& chosen = best == 1 ? rows.front() : row_of(rows, RowKind::kSpare, best);
      CHECK(chosen.time_ratio <= row.time_ratio);
    }
  }
  setup.system.environment.group_mtbf_s = std::numeric_limits<double>::infinity();
  rows = redundancy_rows(setup);
  CHECK(optimal_redundancy(setup, rows) == 0);
  for (const RedundancyRow& row : rows) {
    const bool replicates = row.kind == RowKind::kFamilies || row.kind == RowKind::kStacked;
    CHECK(row.time_ratio == doctest::Approx(replicates ? (1 + 20.0 * row.r) / 21 : 1));
    CHECK(row.failures >= 1);
  }
}

TEST_CASE("where nothing ever finishes there is no optimum") {
  RedundancyStudy setup = study();
  setup.system.environment.group_mtbf_s = 1e-3;
  const auto rows = redundancy_rows(setup);
  for (const RedundancyRow& row : rows) CHECK_FALSE(std::isfinite(row.time_ratio));
  CHECK_FALSE(optimal_redundancy(setup, rows).has_value());
}

TEST_CASE("where no closed form is good a row says so, and the optimum waits for the trials") {
  RedundancyStudy setup = study();
  setup.system.law.weibull_shape = 0.78;
  setup.system.environment = {60 * 12.0, 60, 5, 0, 0.2};  // a failure in less than every step
  setup.system.steps = 200;
  const auto rows = redundancy_rows(setup);
  std::vector<RedundancySimulated> simulated;
  for (const RedundancyRow& row : rows) {
    const bool patched = row.kind == RowKind::kSpare || row.kind == RowKind::kStacked;
    CHECK(row.is_known() != patched);
    CHECK((row.is_known() || row.checkpoint_every == 1));
    simulated.push_back(
        summarize(std::vector{redundancy_trial(setup, row, 0), redundancy_trial(setup, row, 1)}));
  }
  CHECK_FALSE(optimal_redundancy(setup, rows).has_value());
  const auto best = optimal_redundancy(setup, rows, simulated);
  REQUIRE(best.has_value());
  CHECK(*best > 1);
  setup.system.environment.group_mtbf_s = 60 * 22.0;
  for (const RedundancyRow& row : redundancy_rows(setup)) CHECK(row.is_known());
}

TEST_CASE("today's clusters want checkpoints, restarts of an hour every five minutes want SPARe") {
  RedundancyStudy setup = study();
  // 128 groups of 128 GPUs; 419 interruptions in 54 days.
  setup.system.units = 128;
  setup.system.step = {0.5, 6};
  setup.system.environment = {128 * 54 * 86'400.0 / 419, 600, 10, 0, 0.2};
  setup.system.steps = 100'000;
  CHECK(optimal_redundancy(setup, redundancy_rows(setup)) == 1);

  setup.system.units = 200;
  setup.system.step = {2, 64};
  setup.system.environment = {200 * 300.0, 3600, 60, 0, 0.2};
  setup.r_max = 12;
  const auto rows = redundancy_rows(setup);
  const int best = optimal_redundancy(setup, rows).value();
  CHECK(best >= 7);
  CHECK(best <= 10);
  double replication = std::numeric_limits<double>::infinity();
  for (const RedundancyRow& row : rows) {
    if (row.kind == RowKind::kStacked) replication = std::min(replication, row.time_ratio);
  }
  const double gain = 1 - row_of(rows, RowKind::kSpare, best).time_ratio / replication;
  CHECK(gain > 0.40);  // the paper: 40 to 50 %
  CHECK(gain < 0.55);
}

TEST_CASE("trials meet the closed forms, and do not depend on how they are split") {
  const RedundancyStudy setup = study();
  const auto rows = redundancy_rows(setup);
  for (const RowKind kind : {RowKind::kCheckpoint, RowKind::kStacked, RowKind::kFamilies, RowKind::kSpare}) {
    const RedundancyRow& row = kind == RowKind::kCheckpoint ? rows.front() : row_of(rows, kind, 3);
    std::vector<RedundancyTrial> trials;
    for (std::int64_t number = 0; number < 40; ++number)
      trials.push_back(redundancy_trial(setup, row, number));
    CHECK(redundancy_trial(setup, row, 17).time_ratio == trials[17].time_ratio);
    const RedundancySimulated simulated = summarize(trials);
    CHECK(std::abs(simulated.failures.value - row.failures) <= 4 * simulated.failures.standard_error + 1e-12);
    CHECK(simulated.stacks == doctest::Approx(row.stacks).epsilon(0.03));
    CHECK(simulated.availability == doctest::Approx(row.availability).epsilon(0.03));
    CHECK(std::abs(simulated.time_ratio.value / row.time_ratio - 1) <
          0.01 + 4 * simulated.time_ratio.standard_error / row.time_ratio);
  }
}

TEST_CASE("state with few copies ends cycles early, in the form and in the trials") {
  RedundancyStudy setup = study();
  setup.system.state_copies = 4;
  const auto rows = redundancy_rows(setup);
  const RedundancyRow& row = row_of(rows, RowKind::kSpare, 7);
  CHECK(row.failures < 0.9 * row_of(redundancy_rows(study()), RowKind::kSpare, 7).failures);
  std::vector<RedundancyTrial> trials;
  for (std::int64_t number = 0; number < 60; ++number) trials.push_back(redundancy_trial(setup, row, number));
  const RedundancySimulated simulated = summarize(trials);
  CHECK(std::abs(simulated.failures.value - row.failures) <
        4 * simulated.failures.standard_error + 0.02 * row.failures);
  CHECK(simulated.stacks == doctest::Approx(row.stacks).epsilon(0.03));
  CHECK(std::abs(simulated.time_ratio.value / row.time_ratio - 1) <
        0.01 + 4 * simulated.time_ratio.standard_error / row.time_ratio);
}

TEST_CASE("elastic shrinking has a row where it is asked for, which its trials meet") {
  RedundancyStudy setup = study();
  CHECK(redundancy_rows(setup).back().kind == RowKind::kSpare);
  setup.elastic = Protection{Scheme::kElastic};
  setup.elastic->k_max = -1;
  const auto row = [&] {
    const auto rows = redundancy_rows(setup);
    REQUIRE(rows.back().kind == RowKind::kElastic);
    CHECK(rows.back().r == 1);
    return rows.back();
  };
  const auto check = [&](double tolerance) {
    const RedundancyRow elastic = row();
    std::vector<RedundancyTrial> trials;
    for (std::int64_t number = 0; number < 40; ++number)
      trials.push_back(redundancy_trial(setup, elastic, number));
    const RedundancySimulated simulated = summarize(trials);
    CHECK(simulated.stacks == doctest::Approx(elastic.stacks).epsilon(0.01));
    CHECK(simulated.availability == doctest::Approx(elastic.availability).epsilon(0.01));
    CHECK(std::abs(simulated.time_ratio.value / elastic.time_ratio - 1) <
          tolerance + 4 * simulated.time_ratio.standard_error / elastic.time_ratio);
    return elastic;
  };
  const RedundancyRow best = check(0.005);
  CHECK(best.k_max > 0);
  CHECK(best.failures == doctest::Approx(best.k_max));
  for (const int k_max : {best.k_max / 2, 2 * best.k_max}) {
    setup.elastic->k_max = std::max(1, k_max);
    CHECK(row().time_ratio >= best.time_ratio);
  }
  setup.elastic->sub_shards = 8;
  check(0.005);
  setup.elastic->sub_shards = 1;
  setup.elastic->rejoins = true;
  setup.system.environment.repair_s = 7200;
  setup.system.environment.rejoin_s = 1;
  const RedundancyRow rejoining = check(0.01);
  CHECK(std::isnan(rejoining.failures));
  CHECK(rejoining.time_ratio < best.time_ratio);
  // The repair is the elastic row's alone.
  CHECK(redundancy_rows(setup).front().time_ratio == redundancy_rows(study()).front().time_ratio);
  setup.system.units = 1;
  setup.r_min = setup.r_max = 1;
  CHECK(redundancy_rows(setup).back().kind == RowKind::kSpare);
}

TEST_CASE(
    "where restarts fail too, the stacks of a cycle are those after its restart, in the trials as well") {
  RedundancyStudy setup = study();
  setup.system.law.failures_in_restart = true;
  setup.system.environment.restart_s = 8 * 2000;
  setup.r_min = setup.r_max = 5;
  for (const double shape : {1.0, 0.78}) {
    setup.system.law.weibull_shape = shape;
    const auto rows = redundancy_rows(setup);
    const RedundancyRow& row = row_of(rows, RowKind::kSpare, 5);
    RedundancyStudy spared = setup;
    spared.system.law.failures_in_restart = false;
    CHECK(row.stacks > row_of(redundancy_rows(spared), RowKind::kSpare, 5).stacks + 0.01);
    std::vector<RedundancyTrial> trials;
    for (std::int64_t number = 0; number < 400; ++number) {
      RedundancyStudy brief = setup;
      brief.system.steps = 1;
      trials.push_back(redundancy_trial(brief, row, number));
    }
    CHECK(summarize(trials).stacks == doctest::Approx(row.stacks).epsilon(0.01));
  }
}

TEST_CASE("faster recovery never raises the best time at any r") {
  RedundancyStudy slow = study();
  slow.system.environment.restart_s = 800;
  RedundancyStudy fast = slow;
  fast.system.environment.restart_s = 20;
  const auto slow_rows = redundancy_rows(slow);
  const auto fast_rows = redundancy_rows(fast);
  for (std::size_t i = 0; i < slow_rows.size(); ++i)
    CHECK(fast_rows[i].time_ratio <= slow_rows[i].time_ratio);
}

TEST_CASE("what never ends says so, and has neither interval nor availability") {
  RedundancyStudy setup = study();
  setup.system.step = {0, 100};
  for (const double mtbf_s : {1e-3, 2.0}) {  // far shorter than a step
    setup.system.environment.group_mtbf_s = 60 * mtbf_s;
    for (const RedundancyRow& row : redundancy_rows(setup)) {
      CHECK(std::isinf(row.time_ratio));
      CHECK(row.checkpoint_interval_s == 0);
      CHECK(row.availability == 0);
    }
  }
}

TEST_CASE("simulated availability is that of all runs together, and none of runs that never end") {
  std::vector<RedundancyTrial> trials(2);
  trials[0].time_ratio = 1;
  trials[0].down_ratio = 0.1;
  trials[1].time_ratio = 3;
  trials[1].down_ratio = 0.5;
  const RedundancySimulated both = summarize(trials);
  CHECK(both.availability == doctest::Approx(0.85));
  // Residues of -0.05/2 and 0.05/2 about a mean time of 2.
  CHECK(both.availability_error == doctest::Approx(0.025));
  trials[1].time_ratio = std::numeric_limits<double>::infinity();
  CHECK(std::isnan(summarize(trials).availability));
}

TEST_CASE("a save of 40 s every three hours costs 0.37 %, where failures are rare") {
  RedundancyStudy setup = study();
  setup.system.step = {0, 10};
  setup.system.environment = {60 * 1e12, 600, 40, 0, 0};
  setup.system.steps = 1'000'000;
  setup.system.checkpoint_every = (3 * 3600 - 40) / 10;
  const auto rows = redundancy_rows(setup);
  CHECK(rows.front().checkpoint_interval_s == doctest::Approx(3 * 3600));
  CHECK(rows.front().time_ratio - 1 == doctest::Approx(0.0037).epsilon(0.01));
  CHECK(1 - rows.front().availability == doctest::Approx(0.0037).epsilon(0.01));
}

TEST_CASE("the best interval for rare failures is Young's") {
  // sqrt(2 C M), C = 40 s: 1.37 h for M = 84 h, 1.93 h for M = 168 h (Young, CACM 17, 1974).
  RedundancyStudy setup = study();
  setup.system.step = {0, 10};
  setup.system.steps = 1'000'000;
  for (const double hours : {84.0, 168.0}) {
    setup.system.environment = {60 * hours * 3600, 600, 40, 0, 0};
    const double young_s = std::sqrt(2 * 40 * hours * 3600);
    CHECK(young_s / 3600 == doctest::Approx(hours < 100 ? 1.37 : 1.93).epsilon(0.005));
    CHECK(redundancy_rows(setup).front().checkpoint_interval_s == doctest::Approx(young_s).epsilon(0.01));
  }
}

TEST_CASE("more failures ask for more redundancy, faster restarts for less") {
  RedundancyStudy setup = study();
  const auto best = [&](double mtbf_s, double restart_s) {
    setup.system.environment = {60 * mtbf_s, restart_s, 20, 0, 0.2};
    return optimal_redundancy(setup, redundancy_rows(setup));
  };
  CHECK(best(200, 3600) >= best(20'000, 3600));
  CHECK(best(200, 3600) > best(2'000'000, 3600));
  CHECK(best(1000, 20) <= best(1000, 3600));
}
