// The tables of docs/failures.md and docs/performance.md that compare the failure model's closed forms with
// simulation, as Markdown: failure_tables [survival] [paper] [precise] [kernel] [build]; all without a word.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "faults/cycle_kernel.hpp"
#include "faults/monte_carlo.hpp"
#include "faults/paper_form.hpp"
#include "faults/precise_time.hpp"
#include "faults/random.hpp"
#include "tests/faults/spare_paper.hpp"

using namespace trainfront::faults;

namespace {

std::vector<SimulatedRun> simulated_runs(const Simulation& setup, int count) {
  std::vector<SimulatedRun> runs(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(dynamic)
  for (int number = 0; number < count; ++number)
    runs[static_cast<std::size_t>(number)] = simulate(setup, number);
  return runs;
}

// Failures endured and stacks of the closed forms, the rate falling with the survivors.
struct Endured {
  double failures = 0;
  double stacks = 0;
};
Endured endured(std::int64_t n, const Survival& survival) {
  Endured sum;
  double dwell = 0;
  for (std::size_t k = 0; k < survival.size(); ++k) {
    const auto left = static_cast<double>(n - static_cast<std::int64_t>(k));
    sum.failures += survival[k];
    dwell += survival[k] / left;
    sum.stacks += survival[k] / left * std::ceil(static_cast<double>(n) / left - 1e-12);
  }
  sum.stacks /= dwell;
  return sum;
}

void survival_table() {
  fmt::print(
      "| N | r | failures: paper | ours | simulated | stacks: paper | ours | simulated |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const std::int64_t n : {64, 200}) {
    for (const int r : {3, 6, 9, 12}) {
      MonteCarlo setup{.groups = n, .r = r, .placement = Placement::kRandom};
      const int trials = n < 100 ? 6000 : 1500;
      std::vector<MonteCarloTrial> results(static_cast<std::size_t>(trials));
#pragma omp parallel for schedule(dynamic)
      for (int number = 0; number < trials; ++number)
        results[static_cast<std::size_t>(number)] = monte_carlo(setup, number, number + 1).front();
      std::vector<double> failures;
      double time = 0;
      double stacked = 0;
      for (const MonteCarloTrial& trial : results) {
        failures.push_back(trial.failures);
        time += trial.time;
        stacked += trial.time * trial.stacks;
      }
      const Mean simulated = mean_of(failures);
      const Endured ours = endured(n, mean_random_survival(n, r));
      fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} +- {:.2f} | {:.3f} | {:.3f} | {:.3f} |\n", n, r,
                 paper::failures_endured(n, r), ours.failures, simulated.value, simulated.standard_error,
                 paper::mean_stacks(n, r), ours.stacks, stacked / time);
    }
  }
}

void paper_table() {
  fmt::print(
      "| N | SPARe, r | paper | simulated | available: paper | simulated | replication r = 3: paper | "
      "simulated | available: paper | simulated |\n|---|---|---|---|---|---|---|---|---|---|\n");
  const auto figures = [](const Simulation& setup, const PaperFigures& published) {
    std::vector<double> ratios;
    std::vector<double> ups;
    for (const SimulatedRun& run : simulated_runs(setup, 12)) {
      ratios.push_back(paper_ratio(setup, run));
      ups.push_back(paper_availability(run));
    }
    return fmt::format("{:.2f} | {:.2f} +- {:.2f} | {:.1f} | {:.1f}", published.ratio, mean_of(ratios).value,
                       mean_of(ratios).standard_error, 100 * published.availability,
                       100 * mean_of(ups).value);
  };
  for (const PaperRow& row : kPaperRows)
    fmt::print("| {} | {} | {} | {} |\n", row.n, row.spare_r, figures(paper_spare(row), row.spare),
               figures(paper_replication(row), row.replication));
}

struct Setting {
  Protection protection;
  std::int64_t n;
  FailureLaw law;
  double restart_steps;
};

std::vector<Setting> settings() {
  Protection parts{Scheme::kSpare, 6};
  parts.sub_shards = 4;
  parts.k_max = 8;
  Protection elastic{Scheme::kElastic};
  elastic.k_max = 6;
  const std::vector<Protection> protections = {{Scheme::kCheckpoint},
                                               {Scheme::kSpare, 2},
                                               {Scheme::kSpare, 6},
                                               {Scheme::kReplication, 4},
                                               elastic,
                                               parts};
  const std::vector<FailureLaw> laws = {
      {1, true, false}, {1, false, false}, {1, true, true}, {0.78, false, false}};
  std::vector<Setting> all;
  for (const Protection& protection : protections)
    for (const std::int64_t n : {32, 200})
      for (const FailureLaw& law : laws)
        for (const double restart : {2.0, 20.0}) {
          // A restart that fails as often as not is no plan's.
          if (law.failures_in_restart && protection.scheme == Scheme::kCheckpoint) continue;
          all.push_back({protection, n, law, restart});
        }
  return all;
}

Simulation setup_of(const Setting& setting, double steps_per_mtbf) {
  Simulation setup;
  setup.units = setting.n;
  setup.protection = setting.protection;
  setup.law = setting.law;
  setup.step = {0.05, 0.95};
  setup.environment = {steps_per_mtbf * static_cast<double>(setting.n), setting.restart_steps, 0.5, 0.1,
                       0.02};
  setup.checkpoint_every = -1;
  setup.steps = 1'000'000'000;
  return setup;
}

double kernel_s(const Simulation& setup) {
  const CycleTable table =
      cycle_table(setup.units, setup.protection, law_in(setup.law, setup.environment), setup.state_copies);
  return run_time(table, setup.step, setup.environment, kManySteps).time_s / kManySteps *
         static_cast<double>(setup.steps);
}

struct Errors {
  double sum = 0;
  double most = 0;
  double noise = 0;
  int cases = 0;
  void add(double error, double its_noise = 0) {
    sum += std::abs(error);
    most = std::max(most, std::abs(error));
    noise += its_noise;
    ++cases;
  }
  std::string text() const { return fmt::format("{:.2f}/{:.1f}", 100 * sum / cases, 100 * most); }
};

// Plans that are slower than this are nobody's, and take long to simulate.
constexpr double kMostSlowdownShown = 20;

void precise_table() {
  fmt::print(
      "| steps per MTBF | precise: exponential | Weibull 0.78 | kernel: exponential | Weibull 0.78 | "
      "noise | settings |\n|---|---|---|---|---|---|---|\n");
  for (const double steps_per_mtbf : {2.0, 5.0, 20.0, 100.0}) {
    Errors precise[2];
    Errors kernel[2];
    for (const Setting& setting : settings()) {
      Simulation setup = setup_of(setting, steps_per_mtbf);
      const PreciseTime closed = precise_time(setup);
      const double fast_s = kernel_s(setup);
      if (!std::isfinite(closed.time_s) || !std::isfinite(fast_s)) continue;
      const double a_step = 1 / static_cast<double>(setup.steps);
      if (closed.time_s * a_step > kMostSlowdownShown) continue;
      setup.checkpoint_every = closed.checkpoint_every;
      // Slow ones take as long as the others.
      setup.steps = std::llround(
          std::clamp(300 * closed.saved_steps, 2e3, 2e5 / std::max(1.0, closed.time_s * a_step)));
      std::vector<double> times;
      for (const SimulatedRun& run : simulated_runs(setup, 16))
        times.push_back(run.time_s / static_cast<double>(setup.steps));
      const Mean simulated = mean_of(times);
      const std::size_t law = setting.law.weibull_shape == 1 ? 0 : 1;
      const double noise = simulated.standard_error / simulated.value;
      precise[law].add(closed.time_s * a_step / simulated.value - 1, noise);
      kernel[law].add(fast_s * a_step / simulated.value - 1);
    }
    fmt::print("| {:g} | {} | {} | {} | {} | {:.2f} | {} |\n", steps_per_mtbf, precise[0].text(),
               precise[1].text(), kernel[0].text(), kernel[1].text(),
               100 * (precise[0].noise + precise[1].noise) / (precise[0].cases + precise[1].cases),
               precise[0].cases + precise[1].cases);
  }
}

// Systems drawn at random.
Simulation random_system(Random& random, double steps_per_mtbf, double shape) {
  const std::vector<Setting> all = settings();
  Setting setting = all[random.below(static_cast<std::uint32_t>(all.size()))];
  setting.n = 4 * std::llround(2 * std::pow(75.0, random.uniform()));  // 8 to 600
  setting.law = {shape, random.uniform() < 0.5, random.uniform() < 1.0 / 3};
  if (setting.protection.scheme == Scheme::kCheckpoint) setting.law.failures_in_restart = false;
  setting.protection.k_max = std::min(setting.protection.k_max, static_cast<int>(setting.n / 2));
  setting.restart_steps = 0.5 * std::pow(40.0, random.uniform());
  Simulation setup = setup_of(setting, steps_per_mtbf);
  setup.environment.save_s = 0.02 * std::pow(50.0, random.uniform());
  return setup;
}

void kernel_table() {
  fmt::print("| steps per MTBF | exponential | Weibull 0.78 |\n|---|---|---|\n");
  for (const double steps_per_mtbf : {2.0, 5.0, 10.0, 20.0, 100.0}) {
    Errors errors[2];
    Random random(17, 0);
    for (int i = 0; i < 300; ++i)
      for (const std::size_t law : {0U, 1U}) {
        const Simulation setup = random_system(random, steps_per_mtbf, law == 0 ? 1 : 0.78);
        const double closed_s = precise_time(setup).time_s;
        const double fast_s = kernel_s(setup);
        if (std::isfinite(closed_s) && std::isfinite(fast_s)) errors[law].add(fast_s / closed_s - 1);
      }
    fmt::print("| {:g} | {} | {} |\n", steps_per_mtbf, errors[0].text(), errors[1].text());
  }
}

void build_table() {
  fmt::print("| N | tables for r = 1 ... min(N, 64) | the slowest |\n|---|---|---|\n");
  for (const std::int64_t n : {20, 64, 200, 1000, 16'384, 131'072, 1'000'000}) {
    double all_s = 0;
    double most_s = 0;
    for (int r = 1; r <= std::min<std::int64_t>(n, 64); ++r) {
      const auto start = std::chrono::steady_clock::now();
      const CycleTable table = cycle_table(n, {Scheme::kSpare, r}, {});
      const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (!(table.columns.front().dwell > 0)) fmt::print("no table for r = {}\n", r);
      all_s += took;
      most_s = std::max(most_s, took);
    }
    fmt::print("| {} | {:.3f} s | {:.2f} ms |\n", n, all_s, 1e3 * most_s);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::set<std::string> wanted(argv + 1, argv + argc);
  const auto is_wanted = [&](const char* table) { return wanted.empty() || wanted.contains(table); };
  if (is_wanted("survival")) survival_table();
  if (is_wanted("paper")) paper_table();
  if (is_wanted("precise")) precise_table();
  if (is_wanted("kernel")) kernel_table();
  if (is_wanted("build")) build_table();
  return 0;
}
