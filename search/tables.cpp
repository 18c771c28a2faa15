#include "search/tables.hpp"

#include <algorithm>
#include <bit>

#include "costmodel/framework_profile.hpp"
#include "search/unit_kernel.hpp"

namespace trainfront::search {
namespace {

// What each kind of table may take. Of setups, costs and memories, those of one kind of hardware or list; of
// all others together no more than that again.
constexpr std::size_t kMostSetupBytes = 16 << 20;
constexpr std::size_t kMostBlockTimesBytes = 24 << 20;
constexpr std::size_t kMostCostBytes = 48 << 20;
constexpr std::size_t kMostMemoryBytes = 64 << 20;
constexpr std::size_t kMostCycleBytes = 48 << 20;
constexpr std::size_t kMostSurvivalBytes = 16 << 20;
constexpr std::size_t kMostWaitBytes = 4 << 20;
constexpr std::size_t kMostUnitSetupBytes = 16 << 20;
constexpr std::size_t kMostMildStepBytes = 4 << 20;
constexpr std::size_t kMostCertaintyBytes = 16 << 20;
constexpr std::size_t kMostFactorBytes = 16 << 20;
constexpr std::size_t kMostKernelBytes = 64 << 20;

// The table at `position`, made if there is none. Walks go through one kind of hardware after the other:
// tables of the others make room.
template <class Table>
std::shared_ptr<Table> table_at(std::vector<std::shared_ptr<Table>>& tables, std::size_t position,
                                std::size_t count, std::size_t most_bytes) {
  std::size_t others = 0;
  for (const auto& table : tables)
    if (table && table != tables[position]) others += table->bytes();
  if (others > most_bytes) {
    for (auto& table : tables)
      if (table != tables[position]) table.reset();
  }
  if (!tables[position]) tables[position] = std::make_shared<Table>(count, most_bytes);
  return tables[position];
}

double least_efficiency_of(const faults::Efficiency& polynomial, double most_s) {
  double least = 1;
  for (int i = 0; i <= 50; ++i) least = std::min(least, faults::efficiency(polynomial, most_s * i / 50));
  return least;
}

}  // namespace

Tables::Tables(const Problem& problem, std::vector<std::shared_ptr<const LayoutList>> lists)
    : problem_{problem},
      fits_{faults::shape_fits(problem.failures.law.weibull_shape)},
      lists_{std::move(lists)},
      block_times_{kMostBlockTimesBytes},
      cycles_{kMostCycleBytes},
      survivals_{kMostSurvivalBytes},
      waits_{kMostWaitBytes},
      unit_setups_{kMostUnitSetupBytes},
      mild_steps_{kMostMildStepBytes},
      certainties_{kMostCertaintyBytes},
      factors_{kMostFactorBytes},
      kernels_{kMostKernelBytes},
      setups_(problem_.hardware.size()),
      costs_(problem_.hardware.size()),
      memories_(problem_.hardware.size()) {
  // Where cycles last many failures the law adds to the square's term (faults::cycle_table): never less than
  // this.
  for (std::size_t rung = 0; rung < least_efficiency_.size(); ++rung) {
    const double most_s = static_cast<double>(rung) / kRungs;
    least_efficiency_[rung] = 0.99 * std::min({least_efficiency_of(fits_.one_failure, most_s),
                                               least_efficiency_of(faults::kManyFailures, most_s),
                                               least_efficiency_of(faults::kExponentialFailure, most_s)});
  }
  for (std::size_t i = 0; i < problem_.protections.size(); ++i) {
    faults::Protection without = problem_.protections[i];
    without.spares = without.spares_per_1000 = 0;
    without.tier = faults::CheckpointTier::kShared;
    std::size_t first = 0;
    while (first < i) {
      faults::Protection other = problem_.protections[first];
      other.spares = other.spares_per_1000 = 0;
      other.tier = faults::CheckpointTier::kShared;
      if (other == without) break;
      ++first;
    }
    same_cycle_.push_back(static_cast<int>(first));
  }
  for (const auto& list : lists_)
    same_list_.push_back(static_cast<int>(std::find(lists_.begin(), lists_.end(), list) - lists_.begin()));
}

std::shared_ptr<const costmodel::BlockTimes> Tables::block_times(int hardware,
                                                                 const costmodel::Layout& layout) {
  const auto make = [&] {
    return costmodel::block_times(problem_.model, problem_.recipe, layout,
                                  problem_.hardware[static_cast<std::size_t>(hardware)].hardware,
                                  costmodel::default_profile(layout.framework));
  };
  // cp_heads follows from the rest.
  return block_times_.get({hardware, static_cast<int>(layout.framework), layout.tp, layout.cp,
                           static_cast<int>(layout.cp_type), layout.ep, layout.etp, layout.sp,
                           layout.micro_batch, static_cast<int>(layout.recompute), layout.modules.bits},
                          make, [](const auto& times) { return sizeof(times); });
}

Tables::~Tables() = default;

std::shared_ptr<Tables::Setups> Tables::setups(int hardware) {
  const std::lock_guard lock{guard_};
  return table_at(setups_, static_cast<std::size_t>(hardware), problem_.gpus.size(), kMostSetupBytes);
}

const BlockSetup& Tables::setup(Setups& setups, int hardware, std::size_t gpus,
                                std::unique_ptr<const BlockSetup>& own) const {
  const auto make = [&] { return BlockSetup(problem_, hardware, gpus); };
  return setups.get(gpus, own, make, [](const BlockSetup& setup) { return setup.bytes(); });
}

std::shared_ptr<const UnitSetup> Tables::unit_setup(const BlockSetup& setup, std::int64_t dp, int group_gpus,
                                                    std::int64_t state_copy_groups) {
  return unit_setups_.get(
      {setup.hardware_class, setup.gpus, group_gpus, state_copy_groups},
      [&] { return UnitSetup(setup, dp, group_gpus, state_copy_groups); },
      [](const UnitSetup& unit) { return unit.bytes(); });
}

std::shared_ptr<Tables::Costs> Tables::costs(int hardware) {
  const auto position = static_cast<std::size_t>(hardware);
  const std::lock_guard lock{guard_};
  return table_at(costs_, position, lists_[position]->shape_count(), kMostCostBytes);
}

const costmodel::LayoutCost& Tables::cost(Costs& costs, int hardware, std::size_t shape,
                                          std::unique_ptr<const costmodel::LayoutCost>& own) {
  const auto make = [&] {
    const LayoutList& list = *lists_[static_cast<std::size_t>(hardware)];
    const costmodel::Layout layout = list.layout(shape, 0);
    return costmodel::layout_cost(problem_.model, problem_.recipe, layout,
                                  problem_.hardware[static_cast<std::size_t>(hardware)].hardware,
                                  costmodel::default_profile(layout.framework),
                                  *block_times(hardware, layout));
  };
  return costs.get(shape, own, make, [](const auto& cost) { return sizeof(cost); });
}

std::shared_ptr<Tables::Memories> Tables::memories(int hardware) {
  const auto position = static_cast<std::size_t>(hardware);
  const std::lock_guard lock{guard_};
  return table_at(memories_, static_cast<std::size_t>(same_list_[position]), lists_[position]->shape_count(),
                  kMostMemoryBytes);
}

const PackedMemory& Tables::memory(Memories& memories, int hardware, std::size_t shape,
                                   std::unique_ptr<const PackedMemory>& own) const {
  const auto make = [&] {
    const LayoutList& list = *lists_[static_cast<std::size_t>(hardware)];
    PackedMemory memory;
    const std::vector<Sharding>& shardings = list.shardings_of(shape);
    for (std::size_t i = 0; i < shardings.size(); ++i) {
      if (i > 0 && shardings[i].zero == shardings[i - 1].zero) continue;
      memory.add(costmodel::layout_memory(problem_.model, problem_.recipe, list.layout(shape, i)));
    }
    return memory;
  };
  return memories.get(shape, own, make,
                      [](const PackedMemory& memory) { return sizeof(memory) + memory.bytes(); });
}

std::shared_ptr<const faults::Survival> Tables::survival(const faults::Protection& protection,
                                                         std::int64_t units, std::int64_t state_copies) {
  const auto bytes_of = [](const faults::Survival& lives) { return lives.capacity() * sizeof(double); };
  const auto scheme = static_cast<std::int64_t>(protection.scheme);
  const auto data = [&] {
    return survivals_.get(
        {scheme, protection.r, units, -1},
        [&] { return faults::data_survival(units, protection, faults::Placement::kGolomb, 0); }, bytes_of);
  };
  if (state_copies < 0 || !faults::masks_failures(protection)) return data();
  const auto both = [&] {
    const auto state = survivals_.get(
        {-1, 0, units, state_copies}, [&] { return faults::state_survival(units, state_copies); }, bytes_of);
    const auto lives = data();
    return lives->size() == 1 ? *lives : faults::both(*lives, *state);
  };
  return survivals_.get({scheme, protection.r, units, state_copies}, both, bytes_of);
}

double Tables::mean_wait_s(const faults::Protection& protection, const NodeFailures& node,
                           std::int64_t nodes) {
  const auto bits = [](double value) { return std::bit_cast<std::int64_t>(value); };
  const std::int64_t spares = spare_nodes(protection, nodes);
  if (spares == 0) return search::mean_wait_s(problem_.failures, protection, node, nodes);
  return *waits_.get(
      {bits(node.failures_per_s), bits(node.preemptions_per_s), bits(node.preempted_together), nodes, spares},
      [&] { return search::mean_wait_s(problem_.failures, protection, node, nodes); },
      [](double) { return sizeof(double); });
}

std::shared_ptr<const faults::CycleTable> Tables::cycle(int protection, std::int64_t units,
                                                        std::int64_t state_copies,
                                                        const faults::FailureLaw& law) {
  const auto make = [&] {  // milliseconds
    const auto& kind = problem_.protections[static_cast<std::size_t>(protection)];
    return faults::cycle_table(units, kind, law, state_copies, fits_, *survival(kind, units, state_copies));
  };
  const auto bits = [](double value) { return std::bit_cast<std::int64_t>(value); };
  return cycles_.get({same_cycle_[static_cast<std::size_t>(protection)], units, state_copies,
                      bits(law.restart_mtbfs), bits(law.burst_share), bits(law.burst_units)},
                     make, [](const faults::CycleTable& table) {
                       return sizeof(table) + table.columns.capacity() * sizeof(faults::CycleColumn);
                     });
}

}  // namespace trainfront::search
