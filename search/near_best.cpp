#include "search/near_best.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "search/block_walk.hpp"

namespace trainfront::search {
namespace {

bool is_nearer(const Neighbour& a, const Neighbour& b) {
  const auto key = [](const Neighbour& n) {
    return std::tuple(n.worse_by, n.point.time_s, n.point.cost_usd, n.point.index);
  };
  return key(a) < key(b);
}

}  // namespace

double Vicinity::worse_by(const Point& point) const {
  const double time = point.time_s / best.time_s - 1;
  const double cost = best.cost_usd > 0 ? point.cost_usd / best.cost_usd - 1 : 0;
  switch (measure) {
    case Measure::kCost:
      return cost;
    case Measure::kTime:
      return time;
    case Measure::kBoth:
      break;
  }
  return std::max(time, cost);
}

Vicinity vicinity(const Space& space, const Point& best, const Goal& goal, double slack) {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  Vicinity around;
  around.best = best;
  const Plan plan = space.decode(best.index);
  around.kind = {plan.hardware, plan.layout.tp, plan.layout.cp, plan.layout.pp, plan.layout.ep};
  around.measure = goal.deadline_s ? Measure::kCost : goal.budget_usd ? Measure::kTime : Measure::kBoth;
  around.most_time_s = goal.deadline_s.value_or(kUnlimited);
  around.most_cost_usd = goal.budget_usd.value_or(kUnlimited);
  if (around.measure != Measure::kCost)
    around.most_time_s = std::min(around.most_time_s, best.time_s * (1 + slack));
  if (around.measure != Measure::kTime)
    around.most_cost_usd = std::min(around.most_cost_usd, best.cost_usd * (1 + slack));
  return around;
}

void Neighbours::add(const Kind& kind, const Point& point) {
  if (!(point.time_s <= around_.most_time_s) || !(point.cost_usd <= around_.most_cost_usd)) return;
  const Neighbour neighbour{point, around_.worse_by(point)};
  const auto [entry, is_new] = best_of_kind_.try_emplace(kind, neighbour);
  if (!is_new && is_nearer(neighbour, entry->second)) entry->second = neighbour;
}

void Neighbours::merge(const Neighbours& other) {
  for (const auto& [kind, neighbour] : other.best_of_kind_) add(kind, neighbour.point);
}

std::vector<Neighbour> Neighbours::nearest(std::size_t most) const {
  std::vector<Neighbour> all;
  for (const auto& [kind, neighbour] : best_of_kind_)
    if (kind != around_.kind) all.push_back(neighbour);
  std::sort(all.begin(), all.end(), is_nearer);
  if (all.size() > most) all.resize(most);
  return all;
}

void survey(const Space& space, std::uint64_t first, std::uint64_t last, Neighbours& neighbours) {
  const Front none;
  const WalkOptions options;
  Harvest counted;
  for (std::uint64_t number = first; number < last && number < space.blocks(); ++number) {
    const Block block = space.block(number);
    BlockWalk(space, block.hardware, block.gpus, none, options, counted, &neighbours).run(block);
  }
}

}  // namespace trainfront::search
