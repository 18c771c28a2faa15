#include "search/tables.hpp"

#include <algorithm>

#include "costmodel/framework_profile.hpp"

namespace trainfront::search {
namespace {

// What each kind of table may take. Beyond it all of that kind are dropped and made anew when asked for;
// those in use live on with their users.
constexpr std::size_t kMostCycleBytes = 48 << 20;
constexpr std::size_t kMostMemoryBytes = 128 << 20;
constexpr std::size_t kMostCostBytes = 96 << 20;

double least_efficiency_of(const faults::Efficiency& polynomial) {
  double least = 1;
  for (int i = 0; i <= 50; ++i)
    least = std::min(least, faults::efficiency(polynomial, Tables::kShortSave * i / 50));
  return least;
}

}  // namespace

Tables::Tables(const Problem& problem, std::vector<std::shared_ptr<const LayoutList>> lists)
    : problem_{problem},
      one_failure_{faults::one_failure(problem.failures.law.weibull_shape)},
      least_efficiency_{0},
      lists_{std::move(lists)} {
  // Where cycles last many failures the law adds to the square's term (faults::cycle_table): never less than
  // this.
  least_efficiency_ =
      0.99 * std::min(least_efficiency_of(one_failure_), least_efficiency_of(faults::kManyFailures));
  for (std::size_t i = 0; i < problem_.protections.size(); ++i) {
    faults::Protection without = problem_.protections[i];
    without.spares = without.spares_per_1000 = 0;
    std::size_t first = 0;
    while (first < i) {
      faults::Protection other = problem_.protections[first];
      other.spares = other.spares_per_1000 = 0;
      if (other == without) break;
      ++first;
    }
    same_cycle_.push_back(static_cast<int>(first));
  }
  for (std::size_t hardware = 0; hardware < problem_.hardware.size(); ++hardware)
    hardware_.push_back(std::make_unique<OnHardware>());
}

costmodel::BlockTimes Tables::block_times(OnHardware& tables, const costmodel::Hardware& hardware,
                                          const costmodel::Layout& layout) const {
  const BlockKey key{static_cast<int>(layout.framework),
                     layout.tp,
                     layout.cp,
                     layout.ep,
                     layout.etp,
                     layout.sp,
                     layout.micro_batch,
                     static_cast<int>(layout.recompute)};
  {
    const std::lock_guard lock{tables.guard};
    const auto found = tables.block_times.find(key);
    if (found != tables.block_times.end()) return found->second;
  }
  const auto times = costmodel::block_times(problem_.model, problem_.recipe, layout, hardware,
                                            costmodel::default_profile(layout.framework));
  const std::lock_guard lock{tables.guard};
  return tables.block_times.try_emplace(key, times).first->second;
}

std::shared_ptr<const Tables::Costs> Tables::costs(int hardware_class, std::size_t first_shape,
                                                   std::size_t last_shape) {
  const auto position = static_cast<std::size_t>(hardware_class);
  OnHardware& tables = *hardware_[position];
  {
    const std::lock_guard lock{tables.guard};
    const auto found = tables.costs.find(first_shape);
    if (found != tables.costs.end()) return found->second;
  }
  // Computed outside the lock. If two threads compute the same shapes the first one's stay.
  const LayoutList& list = *lists_[position];
  const costmodel::Hardware& hardware = problem_.hardware[position].hardware;
  auto costs = std::make_shared<Costs>();
  costs->reserve(last_shape - first_shape);
  for (std::size_t shape = first_shape; shape < last_shape; ++shape) {
    const costmodel::Layout& layout = list.layouts[list.shapes[shape]];
    costs->push_back(costmodel::layout_cost(problem_.model, problem_.recipe, layout, hardware,
                                            costmodel::default_profile(layout.framework),
                                            block_times(tables, hardware, layout)));
  }
  const std::size_t bytes = costs->size() * sizeof(costmodel::LayoutCost);
  if (costs_bytes_ + bytes > kMostCostBytes) drop_costs();
  const std::lock_guard lock{tables.guard};
  const auto [entry, is_new] = tables.costs.try_emplace(first_shape, std::move(costs));
  if (is_new) costs_bytes_ += bytes;
  return entry->second;
}

void Tables::drop_costs() {
  for (const auto& tables : hardware_) {
    const std::lock_guard lock{tables->guard};
    tables->costs.clear();
  }
  costs_bytes_ = 0;
}

std::shared_ptr<const PackedMemory> Tables::memories(int hardware_class, std::size_t first_shape,
                                                     std::size_t last_shape) {
  const LayoutList& list = *lists_[static_cast<std::size_t>(hardware_class)];
  {
    const std::lock_guard lock{memories_guard_};
    const Memories& known = memories_[&list];
    const auto found = known.find(first_shape);
    if (found != known.end()) return found->second;
  }
  auto memories = std::make_shared<PackedMemory>();
  for (std::size_t shape = first_shape; shape < last_shape; ++shape) {
    for (std::size_t layout = list.shapes[shape]; layout < list.shapes[shape + 1]; ++layout) {
      if (layout > list.shapes[shape] && list.layouts[layout].zero == list.layouts[layout - 1].zero) continue;
      memories->add(costmodel::layout_memory(problem_.model, problem_.recipe, list.layouts[layout]));
    }
  }
  const std::lock_guard lock{memories_guard_};
  const std::size_t bytes = memories->bytes();
  if (memories_bytes_ + bytes > kMostMemoryBytes) {
    memories_.clear();
    memories_bytes_ = 0;
  }
  const auto [entry, is_new] = memories_[&list].try_emplace(first_shape, std::move(memories));
  if (is_new) memories_bytes_ += bytes;
  return entry->second;
}

std::shared_ptr<const faults::CycleTable> Tables::cycle(int protection, std::int64_t units,
                                                        std::int64_t state_copies) {
  const CycleKey key{same_cycle_[static_cast<std::size_t>(protection)], units, state_copies};
  {
    const std::lock_guard lock{cycles_guard_};
    const auto found = cycles_.find(key);
    if (found != cycles_.end()) return found->second;
  }
  // Milliseconds; outside the lock, as above.
  const auto table = std::make_shared<const faults::CycleTable>(
      faults::cycle_table(units, problem_.protections[static_cast<std::size_t>(protection)],
                          problem_.failures.law, state_copies, one_failure_));
  const std::size_t bytes = sizeof(*table) + table->columns.capacity() * sizeof(faults::CycleColumn);
  const std::lock_guard lock{cycles_guard_};
  if (cycles_bytes_ + bytes > kMostCycleBytes) {
    cycles_.clear();
    cycles_bytes_ = 0;
  }
  const auto [entry, is_new] = cycles_.try_emplace(key, table);
  if (is_new) cycles_bytes_ += bytes;
  return entry->second;
}

}  // namespace trainfront::search
