#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "faults/cycle.hpp"
#include "faults/cycle_kernel.hpp"
#include "faults/failing_unit.hpp"

using namespace trainfront::faults;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Protection> protections() {
  Protection spare_auto{Scheme::kSpare, 4};
  spare_auto.k_max = -1;
  Protection spare_parts{Scheme::kSpare, 9};
  spare_parts.sub_shards = 8;
  spare_parts.k_max = 12;
  Protection elastic{Scheme::kElastic};
  elastic.k_max = -1;
  Protection elastic_parts = elastic;
  elastic_parts.sub_shards = 16;
  return {{Scheme::kNone},
          {Scheme::kCheckpoint},
          {Scheme::kSpares},
          {Scheme::kReplication, 2},
          {Scheme::kReplication, 4},
          {Scheme::kSpare, 2},
          {Scheme::kSpare, 9},
          spare_auto,
          spare_parts,
          elastic,
          elastic_parts};
}

const StepModel kStep{0.5, 6};

}  // namespace

TEST_CASE("without failures no protection but replication costs time") {
  const Environment never{kInfinity, 900, 10, 20, 0.2};
  for (const Protection& protection : protections()) {
    const RunTime run = run_time(cycle_table(64, protection, {}), kStep, never, 1e5);
    const double stacks = protection.scheme == Scheme::kReplication ? protection.r : 1;
    CHECK(run.time_s == doctest::Approx(1e5 * (0.5 + 6 * stacks)));
    CHECK(run.availability == 1);
    CHECK(run.interval_s == 0);
  }
}

TEST_CASE("checkpointing meets the exact optimum of exponential failures") {
  // 64 groups, MTBF 8400 s together, 60 s saves, 300 s restarts. The best interval, save to save, is 964.7 +
  // 60 s and time is (M + T_r)(e^(tau/M) - 1)/(tau - T_s) (Daly 2006; the numeric optimum for C = 60, M =
  // 8400).
  const double mtbf = 8400;
  const RunTime run =
      run_time(cycle_table(64, {Scheme::kCheckpoint}, {}), {0, 1}, {64 * mtbf, 300, 60, 0, 0}, 1e6);
  const double tau = 964.7 + 60;
  CHECK(run.interval_s == doctest::Approx(tau).epsilon(1e-3));
  CHECK(run.time_s ==
        doctest::Approx(1e6 * (mtbf + 300) * std::expm1(tau / mtbf) / (tau - 60)).epsilon(1e-4));
  // Up between failures, less the saves: E floor(X/tau) = 1/(e^(tau/M) - 1) of them end.
  CHECK(run.availability ==
        doctest::Approx((mtbf - 60 / std::expm1(tau / mtbf)) / (mtbf + 300)).epsilon(1e-4));
}

TEST_CASE("restarts that fail too make checkpointing wait M (e^(T_r/M) - 1)") {
  FailureLaw law;
  law.failures_in_restart = true;
  const Environment environment{64 * 3600.0, 1800, 60, 0, 0};
  const double once = run_time(cycle_table(64, {Scheme::kCheckpoint}, {}), {0, 1}, environment, 1e6).time_s;
  const double again =
      run_time(cycle_table(64, {Scheme::kCheckpoint}, law_in(law, environment)), {0, 1}, environment, 1e6)
          .time_s;
  CHECK(again / once == doctest::Approx(std::exp(0.5) / 1.5).epsilon(1e-3));
}

TEST_CASE("starting over without protection costs (1/a + T_r)(e^(aT) - 1)") {
  const RunTime run = run_time(cycle_table(8, {Scheme::kNone}, {}), {0, 1}, {8e4, 600, 60, 0, 0}, 20'000);
  CHECK(run.time_s == doctest::Approx((10'000 + 600) * std::expm1(2.0)));
  const RunTime hopeless = run_time(cycle_table(8, {Scheme::kNone}, {}), {0, 1}, {8e4, 600, 60, 0, 0}, 1e6);
  CHECK(hopeless.time_s == kInfinity);
}

TEST_CASE("spares are checkpointing whose restart the caller makes faster") {
  const Environment environment{1e6, 900, 10, 20, 0.2};
  CHECK(run_time(cycle_table(128, {Scheme::kSpares, 1, 1, 4}, {}), kStep, environment, 1e6).time_s ==
        run_time(cycle_table(128, {Scheme::kCheckpoint}, {}), kStep, environment, 1e6).time_s);
}

TEST_CASE("SPARe with two groups by hand") {
  // N = 2, r = 2, exponential, falling rate: half an MTBF at one stack, one MTBF at two; one masked failure,
  // which costs a stack of 6 s and 1 s besides; the step it hits is, in the mean, half done at one stack's
  // speed.
  const CycleTable table = cycle_table(2, {Scheme::kSpare, 2}, {});
  REQUIRE(table.columns.size() == 1);
  CHECK(table.columns[0].dwell == doctest::Approx(1.5));
  CHECK(table.columns[0].failures == doctest::Approx(2));
  CHECK(table.columns[0].stacks == doctest::Approx((0.5 * 1 + 1 * 2) / 1.5));
  const double mtbf = 1e5;
  const double steps_a_cycle = mtbf * (0.5 / 6.5 + 1 / 12.5) - (6 + 1) / 12.5 + 0.5 * (1 - 6.5 / 12.5);
  const double up = 1.5 * mtbf;
  const double s = std::sqrt(2 * 10 / up);
  const RunTime run = run_time(table, kStep, {mtbf, 900, 10, 0.8, 0.2}, kManySteps);
  CHECK(run.time_s ==
        doctest::Approx(kManySteps * (up + 900) / (steps_a_cycle * (1 - s / 2) * (1 - s / 2))).epsilon(1e-6));
}

TEST_CASE("a voluntary restart loses no work") {
  // k_max = 1: one MTBF of the system at full speed; the failure is found (within the 300 s), the half step
  // that is left done, patched with one stack of 1 s, saved, and the system restarted; nothing is ever lost.
  // A patch that is hit is done again, and found out about (61 s, e^(61/5000) - 1 times).
  Protection protection{Scheme::kSpare, 3};
  protection.k_max = 1;
  const RunTime run = run_time(cycle_table(100, protection, {}), {0, 1}, {100 * 5000.0, 300, 20, 60, 0}, 1e6);
  CHECK(run.time_s ==
        doctest::Approx(1e6 * (5000 + 0.5 + 1 + 61 * std::expm1(61 / 5000.0) + 20 + 300) / 5000.5));
  CHECK(run.interval_s == 0);
  CHECK(run.k_max == 1);
}

TEST_CASE("the best k_max is never worse than any that was offered") {
  for (const double restart : {30.0, 900.0, 7200.0}) {
    Protection best{Scheme::kSpare, 9};
    best.k_max = -1;
    const Environment environment{1e6, restart, 10, 20, 0.2};
    const RunTime chosen = run_time(cycle_table(200, best, {}), kStep, environment, 1e6);
    for (const int k : {0, 1, 2, 4, 9, 13, 28, 63, 94}) {
      Protection fixed = best;
      fixed.k_max = k;
      CHECK(chosen.time_s <= run_time(cycle_table(200, fixed, {}), kStep, environment, 1e6).time_s * 1.0001);
    }
  }
}

TEST_CASE("elastic shrinking has the optimum that its small-loss form predicts") {
  // K* = sqrt(2 N (T_r + T_s)/M), time = 1 + a, a = sqrt(2 (T_r + T_s)/(M N)), M the system's MTBF; the step
  // is done again after a failure: T/M more. To second order in a.
  const std::int64_t n = 1000;
  const double mtbf = 20'000;
  Protection protection{Scheme::kElastic};
  protection.k_max = -1;
  const RunTime run =
      run_time(cycle_table(n, protection, {}), {0, 1}, {n * mtbf, 900, 100, 0, 0}, kManySteps);
  const double a = std::sqrt(2 * 1000 / (mtbf * static_cast<double>(n)));
  CHECK(run.time_s / kManySteps == doctest::Approx(1 + a + a * a / 3 + 1 / mtbf).epsilon(5e-4));
  CHECK(run.k_max == doctest::Approx(a * static_cast<double>(n)).epsilon(0.25));
}

TEST_CASE("more failures, slower restarts and slower saves never make a plan faster") {
  for (const bool falls : {true, false}) {
    for (const bool in_restart : {true, false}) {
      FailureLaw law;
      law.rate_falls = falls;
      law.failures_in_restart = in_restart;
      for (const Protection& protection : protections()) {
        const auto time_in = [&](const Environment& environment) {
          const CycleTable table = cycle_table(64, protection, law_in(law, environment));
          REQUIRE(table.error == ProtectionError::kNone);
          return run_time(table, kStep, environment, 1e5).time_s;
        };
        for (const double mtbf : {1e4, 1e5, 1e6, 1e8}) {
          for (const double restart : {30.0, 3600.0}) {
            const Environment base{mtbf, restart, 5, 10, 0.2};
            const double time = time_in(base);
            const auto with = [&](auto change) {
              Environment worse = base;
              change(worse);
              return time_in(worse) * (1 + 1e-12);
            };
            CHECK(with([](Environment& e) { e.group_mtbf_s *= 0.9; }) >= time);
            CHECK(with([](Environment& e) { e.restart_s *= 1.3; }) >= time);
            CHECK(with([](Environment& e) { e.save_s *= 1.3; }) >= time);
            CHECK(with([](Environment& e) { e.reorder_s *= 3; }) >= time);
          }
        }
      }
    }
  }
}

TEST_CASE("the bound on time never lies above the time") {
  for (const Protection& protection : protections()) {
    const CycleTable table = cycle_table(64, protection, {});
    for (const double mtbf : {1e4, 1e5, 1e7}) {
      const Environment best{mtbf, 60, 5, 10, 0.2};
      for (const StepModel step : {StepModel{0, 5}, StepModel{2, 3}, StepModel{4, 4}}) {
        // All steps of at least 5 s of which at least 0.6 grow with the stacks.
        const double bound = least_run_time_s(table, 5, 0.5, best, 1e5);
        for (const double worse : {1.0, 0.5}) {
          const Environment environment{mtbf * worse, 60 / worse, 5 / worse, 10, 0.2};
          CHECK(bound <= run_time(table, step, environment, 1e5).time_s * (1 + 1e-12));
        }
      }
    }
  }
}

TEST_CASE("a plan that makes no progress takes for ever") {
  // A save takes longer than two mean cycles.
  CHECK(run_time(cycle_table(100, {Scheme::kCheckpoint}, {}), kStep, {100 * 60.0, 600, 130, 0, 0}, 1e4)
            .time_s == kInfinity);
  // Every failure stops for longer than the next one needs to come.
  CHECK(run_time(cycle_table(100, {Scheme::kSpare, 9}, {}), kStep, {100 * 10.0, 600, 1, 30, 0}, 1e4).time_s ==
        kInfinity);
}

TEST_CASE("arguments without a meaning give an error, no columns and no progress") {
  const auto error = [](std::int64_t n, Protection protection, FailureLaw law = {},
                        std::int64_t copies = -1) {
    const CycleTable table = cycle_table(n, protection, law, copies);
    CHECK(table.columns.empty());
    CHECK(run_time(table, kStep, {1e6, 60, 1, 0, 0}, 1e4).time_s == kInfinity);
    return table.error;
  };
  CHECK(error(0, {Scheme::kCheckpoint}) == ProtectionError::kNoGroups);
  CHECK(error(4, {Scheme::kSpare, 5}) == ProtectionError::kRedundancyAboveGroups);
  CHECK(error(4, {Scheme::kSpare, 0}) == ProtectionError::kRedundancyTooSmall);
  CHECK(error(16, {Scheme::kReplication, 3}) == ProtectionError::kRedundancyNotDivisor);
  CHECK(error(16, {Scheme::kSpare, 3}, {}, 1) == ProtectionError::kStateLost);
  CHECK(error(16, {Scheme::kSpare, 3, 0}) == ProtectionError::kSubShards);
  CHECK(error(16, {Scheme::kElastic, 1, 1, 0, 17}) == ProtectionError::kKMax);
  CHECK(error(16, {Scheme::kCheckpoint}, {0.0, true, false}) == ProtectionError::kLaw);

  const CycleTable table = cycle_table(16, {Scheme::kSpare, 3}, {});
  const double nan = std::nan("");
  for (const Environment& bad :
       {Environment{0, 60, 1, 0, 0}, Environment{-1, 60, 1, 0, 0}, Environment{nan, 60, 1, 0, 0},
        Environment{1e6, -1, 1, 0, 0}, Environment{1e6, 60, nan, 0, 0}, Environment{1e6, 60, 1, 61, 0}}) {
    CHECK(run_time(table, kStep, bad, 1e4).time_s == kInfinity);
  }
}

TEST_CASE("state sharded over groups ends the cycle earlier, the earlier the fewer copies there are") {
  double last = 0;
  for (const std::int64_t copies : {2, 4, 8, 64}) {
    const double failures = cycle_table(64, {Scheme::kSpare, 9}, {}, copies).columns[0].failures;
    CHECK(failures > last);
    last = failures;
  }
  CHECK(last == cycle_table(64, {Scheme::kSpare, 9}, {}).columns[0].failures);
  // Two copies: about as long as 32 pairs live, and not longer.
  CHECK(cycle_table(64, {Scheme::kSpare, 9}, {}, 2).columns[0].failures <
        cycle_table(64, {Scheme::kReplication, 2}, {}).columns[0].failures);
}

TEST_CASE("what fails together: groups over nodes, groups that share nodes, groups that straddle them") {
  CHECK(failing_unit(128, 128, 8) == FailingUnit{128, 1, 16});
  CHECK(failing_unit(512, 1, 8) == FailingUnit{64, 8, 1});
  CHECK(failing_unit(100, 12, 8) == FailingUnit{50, 2, 3});
  CHECK(failing_unit(2, 1, 8) == FailingUnit{1, 2, 1});
  CHECK(failing_unit(0, 1, 8).units == 0);
  CHECK(state_copies(failing_unit(64, 16, 8), 64, 1) == 64);
  CHECK(state_copies(failing_unit(64, 16, 8), 64, 64) == 1);
  CHECK(state_copies(failing_unit(64, 16, 8), 64, 16) == 4);
  CHECK(state_copies(failing_unit(512, 1, 8), 512, 8) == 64);
}

TEST_CASE("classes of states keep the sums they stand for") {
  Protection protection{Scheme::kSpare, 20};
  protection.sub_shards = 16;
  const CycleTable table = cycle_table(1000, protection, {});
  const CycleColumn& column = table.columns[0];
  REQUIRE(column.classes == static_cast<int>(kStackClasses));
  double dwell = 0;
  double failures = 0;
  for (std::size_t i = 0; i < kStackClasses; ++i) {
    dwell += column.class_dwell[i];
    failures += column.class_failures[i];
    if (i > 0) CHECK(column.class_stacks[i] > column.class_stacks[i - 1]);
  }
  CHECK(dwell == doctest::Approx(column.dwell));
  CHECK(failures == doctest::Approx(column.masked));
  // Mean speed against the sum over all states.
  const Survival p = survival(1000, 20, Placement::kGolomb);
  double rate = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const double left = 1000.0 - static_cast<double>(k);
    rate += p[k] / left / (0.5 + 6 * std::ceil(16'000 / left - 1e-12) / 16);
  }
  CHECK(cycle_sums(table, column, kStep, 0).work_rate == doctest::Approx(rate).epsilon(1e-5));
}

TEST_CASE("up to a million units and 64 hosts tables are finite, bounded and monotone in r and in the rate") {
  for (const std::int64_t n : {1, 2, 20, 21, 63, 1000, 40'000, 1'000'000}) {
    double endured = 0;
    for (const int r : {1, 2, 3, 5, 9, 20, 40, 64}) {
      if (r > n) break;
      if (n > 1000 && r != 1 && r != 9 && r != 64) continue;
      CAPTURE(n);
      CAPTURE(r);
      const CycleTable table = cycle_table(n, {Scheme::kSpare, r}, {});
      REQUIRE(table.columns.size() == 1);
      const CycleColumn& column = table.columns.front();
      CHECK(std::isfinite(column.dwell));
      CHECK(column.dwell > 0);
      CHECK(column.failures >= r);  // fewer lose no type
      CHECK(column.failures <= static_cast<double>(n));
      CHECK(column.failures > endured);
      endured = column.failures;
      CHECK(column.stacks >= 1);
      CHECK(column.stacks <= static_cast<double>(r));
      CHECK(column.losing >= 0);
      CHECK(column.losing <= 1);
      for (std::size_t i = 0; i < static_cast<std::size_t>(column.classes); ++i) {
        CHECK(column.class_dwell[i] >= 0);
        CHECK(std::isfinite(column.class_crowding[i]));
      }
      // From hopeless to hardly ever: never NaN, never below the time without failures, never rising.
      double before = kInfinity;
      for (const double steps_per_mtbf : {0.01, 1.0, 20.0, 1e3, 1e6, 1e12}) {
        const double mtbf_s = 6.5 * steps_per_mtbf * static_cast<double>(n);
        const RunTime run = run_time(table, kStep, {mtbf_s, 600, 15, 20, 0.2}, 1e5);
        CHECK_FALSE(std::isnan(run.time_s));
        CHECK(run.time_s >= 6.5e5 * (1 - 1e-12));
        CHECK(run.time_s <= before);
        CHECK(run.availability >= 0);
        CHECK(run.availability <= 1);
        before = run.time_s;
      }
    }
  }
}

TEST_CASE("Llama 3 405B on 16,384 GPUs: checkpointing is effective for over 90 % of the time") {
  // 419 unexpected interruptions in 54 days (Llama 3 paper, section 3.3.4); groups of 128 GPUs (tp 8, pp 16).
  const double mtbf = 54 * 86'400.0 / 419;
  const RunTime run =
      run_time(cycle_table(128, {Scheme::kCheckpoint}, {}), {0.5, 6}, {128 * mtbf, 600, 10, 0, 0}, 1e6);
  const double effective = 1e6 * 6.5 / run.time_s;
  CHECK(effective > 0.90);
  CHECK(effective < 0.95);
}

TEST_CASE("rare failures: the best interval is Young's") {
  // Saves of 40 s (BLOOM's 2.3 TB): sqrt(2 C M) is 1.37 h at an MTBF of 84 h, 1.93 h at 168 h.
  for (const double mtbf_h : {84.0, 168.0}) {
    const RunTime run =
        run_time(cycle_table(1, {Scheme::kCheckpoint}, {}), {0, 10}, {mtbf_h * 3600, 600, 40, 0, 0}, 1e6);
    CHECK(run.interval_s / 3600 == doctest::Approx(mtbf_h < 100 ? 1.37 : 1.93).epsilon(0.01));
    // Restarts and saves: 600 s per MTBF, and 40 s per interval that no failure cuts short.
    const double mtbf_s = mtbf_h * 3600;
    CHECK(
        run.availability ==
        doctest::Approx((mtbf_s - 40 / std::expm1(run.interval_s / mtbf_s)) / (mtbf_s + 600)).epsilon(1e-6));
  }
}

TEST_CASE("between two checkpoints lie the whole steps that lose least") {
  for (int hundredths = 0; hundredths < 4000; ++hundredths) {
    const double ideal = 0.01 * hundredths;
    const auto loss = [&](double steps) { return (steps - ideal) * (steps - ideal) / steps; };
    const double whole = best_whole(ideal);
    CHECK(whole == std::floor(whole));
    double least = kInfinity;
    for (int other = 1; other < 50; ++other) least = std::min(least, loss(other));
    CHECK(loss(whole) <= least * (1 + 1e-12) + 1e-12);
  }
  CHECK(best_whole(0) == 1);
  CHECK(best_whole(1e12 + 0.75) == 1e12 + 1);
  CHECK(best_whole(1e25) == doctest::Approx(1e25).epsilon(1e-15));
  // Five steps in a cycle that loses work with each: x = U (n - n_c)^2/(2 K n) at n_c = 2.6, n = 3, K = 5.
  const CycleRate rate{.failure_rate = 0.2, .efficiency = 0.5, .interval = 2.6, .losing = 0.5 * 0.2 * 0.5};
  const WholeSteps whole = whole_steps(1, rate);
  const double x = 0.4 * 0.4 / (2 * 5 * 3);
  CHECK(whole.number == 3);
  CHECK(whole.number * whole.inverse == doctest::Approx(2));
  CHECK(whole.longer == doctest::Approx(std::expm1(2 * x) / (2 * x)).epsilon(1e-8));
}
