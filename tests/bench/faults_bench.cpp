// What the failure model costs: tables, the search's kernel, the precise forms, the simulators.
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "faults/cycle_kernel.hpp"
#include "faults/event_simulation.hpp"
#include "faults/monte_carlo.hpp"
#include "faults/precise_time.hpp"

using namespace trainfront::faults;

namespace {

double g_sink = 0;  // keeps the compiler from dropping the work

// Seconds a call, over at least a fifth of a second.
double seconds_per_call(const std::function<double()>& call) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::int64_t calls = 0;
  double elapsed = 0;
  while (elapsed < 0.2) {
    g_sink += call();
    ++calls;
    elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return elapsed / static_cast<double>(calls);
}

void report(const std::string& what, double seconds) {
  const bool small = seconds < 1e-6;
  fmt::print("{:<58} {:>10.2f} {}\n", what,
             seconds * (small            ? 1e9
                        : seconds < 1e-3 ? 1e6
                                         : 1e3),
             small            ? "ns"
             : seconds < 1e-3 ? "us"
                              : "ms");
}

}  // namespace

int main() {
  for (const std::int64_t n : {20, 64, 1000, 16'384, 1'000'000}) {
    report(fmt::format("cycle table, SPARe r = 9, N = {}", n), seconds_per_call([n] {
             return cycle_table(n, {Scheme::kSpare, 9}, {}).columns[0].dwell;
           }));
  }
  report("cycle table, checkpoint",
         seconds_per_call([] { return cycle_table(1000, {Scheme::kCheckpoint}, {}).columns[0].dwell; }));

  const CycleTable table = cycle_table(1000, {Scheme::kSpare, 9}, {});
  constexpr int kSteps = 10'000;
  report("sums of a step model, SPARe r = 9, N = 1000",
         seconds_per_call([&] {
           double sum = 0;
           for (int i = 0; i < kSteps; ++i)
             sum += cycle_sums(table, table.columns[0], {0.5 + 1e-6 * i, 6}, 20.2).work_rate;
           return sum;
         }) / kSteps);
  const CycleSums sums = cycle_sums(table, table.columns[0], {0.5, 6}, 20.2);
  std::vector<EnvironmentTerms> environments;
  for (int i = 0; i < kSteps; ++i)
    environments.push_back(environment_terms({1e6 + 100.0 * i, 900, 10, 20, 0.2}));
  report("time-to-train of a plan, one at a time", seconds_per_call([&] {
                                                     double sum = 0;
                                                     for (const EnvironmentTerms& terms : environments)
                                                       sum += time_to_train(sums, terms, 1e6);
                                                     return sum;
                                                   }) / kSteps);

  Simulation setup;
  setup.units = 200;
  setup.protection = {Scheme::kSpare, 9};
  setup.step = {2, 64};
  setup.environment = {200 * 300.0, 3600, 60, 0, 0.2};
  setup.steps = 10'000;
  setup.checkpoint_every = 15;
  report(
      "simulated run of 10,000 steps, N = 200, r = 9",
      seconds_per_call([&, number = std::int64_t{0}]() mutable { return simulate(setup, number++).time_s; }));
  report("short run of 10,000 steps, N = 200, r = 9",
         seconds_per_call([&] { return precise_time(setup).time_s; }));
  setup.steps = 100'000'000;
  report("chain form, N = 200, r = 9", seconds_per_call([&] { return precise_time(setup).time_s; }));
  setup.environment.group_mtbf_s = 200 * 30'000.0;
  report("fluid form, N = 200, r = 9", seconds_per_call([&] { return precise_time(setup).time_s; }));

  for (const int r : {9, 20}) {
    MonteCarlo loop;
    loop.groups = 1000;
    loop.r = r;
    double decisions = 0;
    double trials = 0;
    const double trial_s = seconds_per_call([&] {
      const auto trial =
          monte_carlo(loop, static_cast<std::int64_t>(trials), static_cast<std::int64_t>(trials) + 1);
      decisions += trial[0].failures;
      trials += 1;
      return trial[0].failures;
    });
    report(fmt::format("RECTLR decision, N = 1000, r = {}", r), trial_s * trials / decisions);
  }
  return std::isfinite(g_sink) ? 0 : 1;
}
