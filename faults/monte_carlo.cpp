#include "faults/monte_carlo.hpp"

#include <algorithm>
#include <cmath>

#include "faults/random.hpp"
#include "faults/rectlr.hpp"

namespace trainfront::faults {
namespace {

MonteCarloTrial run_trial(const MonteCarlo& setup, const StackOrder& initial, const Controller& controller,
                          Random& random) {
  const auto n = static_cast<int>(setup.groups);
  StackOrder order = initial;
  std::vector<bool> alive(static_cast<std::size_t>(n), true);
  std::vector<int> survivors(static_cast<std::size_t>(n));
  for (int group = 0; group < n; ++group) survivors[static_cast<std::size_t>(group)] = group;

  MonteCarloTrial trial;
  double time = 0;
  double stacked = 0;
  double above = 0;
  int depth = setup.sub_shards;
  Dwells dwells(setup.restart, setup.weibull_shape);
  for (int lost = 0; lost < n; ++lost) {
    const int left = n - lost;
    const double dwell = dwells.next(1.0 / (setup.rate_falls ? left : n), random);
    time += dwell;
    stacked += dwell * depth / setup.sub_shards;
    if (depth > (n * setup.sub_shards + left - 1) / left) above += dwell;

    const std::size_t chosen = random.below(static_cast<std::uint32_t>(left));
    alive[static_cast<std::size_t>(survivors[chosen])] = false;
    survivors[chosen] = survivors.back();
    survivors.pop_back();
    trial.failures += 1;
    Decision decision = controller.decide(order, alive, depth);
    if (decision.phase == Phase::kWipeOut || lost + 1 == setup.k_max) {
      trial.moved /= trial.failures > 1 ? trial.failures - 1 : 1;
      break;
    }
    trial.moved += decision.moved;
    depth = decision.depth;
    order = std::move(decision.order);
  }
  trial.time = time;
  trial.stacks = time > 0 ? stacked / time : 1;
  trial.depth_above_fair_share = time > 0 ? above / time : 0;
  return trial;
}

}  // namespace

std::vector<MonteCarloTrial> monte_carlo(const MonteCarlo& setup, std::int64_t first, std::int64_t last) {
  std::vector<MonteCarloTrial> trials;
  if (setup.r < 1 || setup.r > setup.groups || setup.sub_shards < 1) return trials;
  const bool redraws = setup.placement == Placement::kRandom;
  StackOrder initial = initial_order(
      setup.groups, offsets(setup.groups, setup.r, setup.placement, setup.seed), setup.sub_shards);
  for (std::int64_t trial = first; trial < last; ++trial) {
    Random random(setup.seed, static_cast<std::uint64_t>(trial));
    if (redraws) {
      const std::uint64_t seed = std::uint64_t{random.bits()} << 32 | random.bits();
      initial = initial_order(setup.groups, offsets(setup.groups, setup.r, setup.placement, seed),
                              setup.sub_shards);
    }
    trials.push_back(run_trial(setup, initial, Controller(initial), random));
  }
  return trials;
}

double Dwells::next(double mean, Random& random) {
  if (!(restart_ > 0)) return mean;
  const double drawn = random.exponential();
  const double gap = mean * (shape_ == 1 ? drawn : std::pow(drawn, 1 / shape_) / std::tgamma(1 + 1 / shape_));
  const double before = std::max(passed_, restart_);
  passed_ += gap;
  return std::max(0.0, passed_ - before);
}

Mean mean_of(std::span<const double> values) {
  Mean mean;
  const auto n = static_cast<double>(values.size());
  if (values.empty()) return mean;
  for (const double value : values) mean.value += value / n;
  if (values.size() < 2) return mean;
  double squares = 0;
  for (const double value : values) squares += (value - mean.value) * (value - mean.value);
  mean.deviation = std::sqrt(squares / (n - 1));
  mean.standard_error = mean.deviation / std::sqrt(n);
  return mean;
}

}  // namespace trainfront::faults
