#include "search/walk.hpp"

#include <limits>
#include <optional>

#include "search/block_walk.hpp"

namespace trainfront::search {

std::string_view bound_name(Bound bound) {
  switch (bound) {
    case Bound::kFlush:
      return "flush";
    case Bound::kStep:
      return "step";
    case Bound::kProtection:
      return "protection";
  }
  return "";
}

Counts& Counts::operator+=(const Counts& other) {
  plans += other.plans;
  for (std::size_t rule = 0; rule < illegal.size(); ++rule) illegal[rule] += other.illegal[rule];
  out_of_memory += other.out_of_memory;
  non_finite += other.non_finite;
  struck_too_often += other.struck_too_often;
  evaluated += other.evaluated;
  for (std::size_t bound = 0; bound < pruned.size(); ++bound) pruned[bound] += other.pruned[bound];
  return *this;
}

void Harvest::merge(const Harvest& other) {
  front.merge(other.front);
  counts += other.counts;
  keep_nearest(least_memory_excess, other.least_memory_excess);
}

bool walk(const Space& space, std::uint64_t first, std::uint64_t last, const Front& incumbent,
          const WalkOptions& options, Harvest& harvest) {
  std::optional<BlockWalk> on_count;
  for (std::uint64_t number = first; number < last && number < space.blocks(); ++number) {
    const Block block = space.block(number);
    if (!on_count || !on_count->is_at(block)) {
      if (on_count) on_count->add_to_front();
      on_count.emplace(space, block.hardware, block.gpus, incumbent, options, harvest);
    }
    if (!on_count->run(block)) return false;
  }
  if (on_count) on_count->add_to_front();
  return true;
}

Counts excluded_counts(const Space& space) {
  Counts counts;
  counts.illegal = space.excluded();
  for (std::uint64_t plans : counts.illegal)
    if (__builtin_add_overflow(counts.plans, plans, &counts.plans))
      counts.plans = std::numeric_limits<std::uint64_t>::max();
  return counts;
}

}  // namespace trainfront::search
