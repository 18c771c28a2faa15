// Holds the search's bounds against what they bound on many more random plans than the tests have time for,
// and whole fronts against brute force; and says how near the cheap bound on the step is.
//   bounds_bench [--problems N] [--seed N]     random problems; exit status 1 if anything is broken
//   bounds_bench --draws N SWEEP.toml...       flush over step of random plans that fit, and on the front
#include <fmt/core.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/memory.hpp"
#include "inputs/sweep_file.hpp"
#include "tests/search/bound_checks.hpp"

namespace {

using namespace trainfront;
using namespace trainfront::search;

struct Options {
  int problems = 2000;
  std::uint64_t seed = 1;
  int draws = 30000;
  std::vector<std::string> files;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (argument == "--problems" && value) {
      options.problems = std::atoi(value), ++i;
    } else if (argument == "--seed" && value) {
      options.seed = static_cast<std::uint64_t>(std::atoll(value)), ++i;
    } else if (argument == "--draws" && value) {
      options.draws = std::atoi(value), ++i;
    } else {
      options.files.emplace_back(argument);
    }
  }
  return options;
}

bool print(const char* what, const Held& held) {
  fmt::print("{}: {:.4g} plans, {} broken, bound over value at most {:.9f}\n", what,
             static_cast<double>(held.plans), held.broken, held.nearest);
  return held.broken == 0;
}

bool same_answer(const Harvest& a, const Harvest& b) {
  return a.front == b.front && a.counts.plans == b.counts.plans && a.counts.illegal == b.counts.illegal &&
         a.counts.out_of_memory == b.counts.out_of_memory && a.counts.non_finite == b.counts.non_finite &&
         a.counts.struck_too_often == b.counts.struck_too_often &&
         a.least_memory_excess == b.least_memory_excess;
}

// Blocks one by one in random order, each knowing some of what was found before, against brute force.
bool hold_fronts(const Options& options) {
  RandomProblems problems{options.seed};
  std::uint64_t plans = 0, evaluated = 0, evaluable = 0, different = 0, points = 0;
  for (int i = 0; i < options.problems; ++i) {
    const Space space{problems.next_of_any_law()};
    Harvest brute;
    walk(space, 0, space.blocks(), {}, {.brute_force = true}, brute);
    std::vector<std::uint64_t> order;
    for (std::uint64_t block = 0; block < space.blocks(); ++block) order.push_back(block);
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[problems.below(k)]);
    Harvest bounded;
    Front incumbent;
    for (std::uint64_t block : order) {
      Harvest piece;
      walk(space, block, block + 1, incumbent, {}, piece);
      bounded.merge(piece);
      if (problems.one_in(2)) incumbent = bounded.front;
    }
    plans += brute.counts.plans;
    evaluable += brute.counts.evaluated;
    evaluated += bounded.counts.evaluated;
    points += brute.front.points().size();
    different += !same_answer(brute, bounded);
  }
  fmt::print(
      "fronts: {} problems, {:.4g} plans ({:.4g} evaluable, {:.4g} evaluated with bounds), {} points; {} "
      "differ from brute force\n",
      options.problems, static_cast<double>(plans), static_cast<double>(evaluable),
      static_cast<double>(evaluated), points, different);
  return different == 0;
}

// Flush over step; 0 for a plan that breaks a rule or does not fit.
double tightness(const Space& space, std::uint64_t index) {
  const Problem& problem = space.problem();
  const Plan plan = space.decode(index);
  const auto& hardware = problem.hardware[static_cast<std::size_t>(plan.hardware)].hardware;
  const std::int64_t nodes = costmodel::nodes_for(plan.gpus, hardware.gpus_per_node);
  if (step_rule(problem, plan.layout, plan.gpus, nodes, plan.global_batch, plan.islands) !=
      costmodel::Rule::kNone)
    return 0;
  if (!(costmodel::memory_use(problem.model, problem.recipe, plan.layout, plan.global_batch).parts.total() <=
        costmodel::usable_memory_bytes(hardware.device)))
    return 0;
  const auto cost = costmodel::layout_cost(problem.model, problem.recipe, plan.layout, hardware,
                                           costmodel::default_profile(plan.layout.framework));
  return costmodel::step_time_lower_bound(cost, plan.layout.dp, plan.global_batch) /
         costmodel::step_time(cost, plan.layout.dp, plan.global_batch, plan.islands).with_stacks(1);
}

void print_shares(const std::string& what, std::vector<double> shares) {
  std::sort(shares.begin(), shares.end());
  fmt::print("{}, {} plans: flush over step", what, shares.size());
  for (double part : {0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0}) {
    if (shares.empty()) break;
    fmt::print("  {:.0f} % {:.3f}", 100 * part,
               shares[static_cast<std::size_t>(part * static_cast<double>(shares.size() - 1))]);
  }
  fmt::print("\n");
}

void print_tightness(const std::string& file, const Options& options) {
  const Space space{inputs::read_sweep_file(file).problem};
  std::mt19937_64 random{options.seed};
  std::vector<double> shares;
  for (std::uint64_t tries = 0;
       shares.size() < static_cast<std::size_t>(options.draws) && tries < 100'000'000; ++tries) {
    const double share = tightness(space, random() % space.size());
    if (share > 0) shares.push_back(share);
  }
  print_shares(file + ", random plans that fit", std::move(shares));
  Harvest harvest;
  walk(space, 0, space.blocks(), {}, {}, harvest);
  std::vector<double> on_front;
  for (const Point& point : harvest.front.points()) on_front.push_back(tightness(space, point.index));
  print_shares(file + ", the front", std::move(on_front));
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  for (const std::string& file : options.files) print_tightness(file, options);
  if (!options.files.empty()) return 0;
  bool holds = print("step, by the flush", hold_flush(options.seed, options.problems));
  const HeldWork work = hold_work(options.seed, options.problems, 100);
  holds &= print("time, at the least overhead known without tables", work.at_least_overhead);
  holds &= print("time, by the protections' tables", work.with_tables);
  holds &= print("slowdown where failures are mild, by its limit", hold_mild(options.seed, options.problems));
  holds &= hold_fronts(options);
  return holds ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
