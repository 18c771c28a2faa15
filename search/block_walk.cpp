#include "search/block_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/plan_rules.hpp"

namespace trainfront::search {
namespace {

using costmodel::Rule;

constexpr double kNever = std::numeric_limits<double>::infinity();
// A step's time and the bound on it are summed in different orders.
constexpr double kRounding = 1 - 1e-12;

}  // namespace

void keep_nearest(std::optional<NearMiss>& nearest, const std::optional<NearMiss>& other) {
  if (!other) return;
  if (!nearest || other->excess_bytes < nearest->excess_bytes ||
      (other->excess_bytes == nearest->excess_bytes && other->index < nearest->index))
    nearest = other;
}

BlockWalk::Unit::Unit(const BlockSetup& block, std::int64_t dp, int group_gpus,
                      std::int64_t state_copy_groups, Tables& tables)
    : setup{block, dp, group_gpus, state_copy_groups},
      kernel{block, setup, dp, tables},
      most_step_s{kNever},
      most_work_s{kNever} {
  for (std::size_t cell = 0; cell < block.cells.size(); ++cell) {
    certainty.push_back(kernel.certainty(cell / block.spares.size(), cell % block.spares.size()));
    if (block.cells[cell].legal_offers == 0) continue;
    most_step_s = std::min(most_step_s, certainty.back().most_step_s);
    most_work_s = std::min(most_work_s, certainty.back().most_work_s);
  }
}

BlockWalk::BlockWalk(const Space& space, const Block& block, const Front& incumbent,
                     const WalkOptions& options, Harvest& harvest)
    : space_{space},
      problem_{space.problem()},
      options_{options},
      harvest_{harvest},
      setup_{space, block},
      capacity_bytes_{costmodel::usable_memory_bytes(setup_.hardware.hardware.device)},
      best_(setup_.cells.size(), Best{kNever, 0, 0}) {
  for (const Cell& cell : setup_.cells) {
    const double usd_per_s = cell.least_usd_per_s;
    dominated_from_.push_back(cell.legal_offers == 0 ? 0.0
                                                     : std::min(incumbent.dominated_from(usd_per_s),
                                                                harvest.front.dominated_from(usd_per_s)));
  }
  for (std::int64_t batch : problem_.global_batches) steps_.push_back(steps_needed(problem_.recipe, batch));
  batches_.resize(steps_.size());
  data_parallel_.resize(problem_.islands.size());
}

void BlockWalk::run() {
  const Block& block = setup_.block;
  const auto& costs = space_.tables().costs(block.hardware, block.first_shape, block.last_shape);
  for (std::size_t shape = block.first_shape; shape < block.last_shape; ++shape)
    walk_shape(shape, costs[shape - block.first_shape]);
  add_to_front();
}

void BlockWalk::count_illegal(Rule rule, std::uint64_t plans) {
  harvest_.counts.illegal[static_cast<std::size_t>(rule)] += plans;
}

void BlockWalk::walk_shape(std::size_t shape, const costmodel::LayoutCost& shape_cost) {
  const LayoutList& list = space_.layouts(setup_.block.hardware);
  const std::size_t first = list.shapes[shape];
  const std::size_t last = list.shapes[shape + 1];
  const std::uint64_t plans_per_layout = steps_.size() * problem_.islands.size() * setup_.plans_per_step;
  harvest_.counts.plans += (last - first) * plans_per_layout;
  const int group = shape_cost.layout.group_gpus();
  if (setup_.gpus % group != 0) {
    count_illegal(Rule::kGpusNotDivisible, (last - first) * plans_per_layout);
    return;
  }
  dp_ = setup_.gpus / group;
  for (BatchOfShape& batch : batches_) batch.known = false;
  costmodel::LayoutCost cost = shape_cost;
  cost.layout.dp = static_cast<int>(dp_);
  for (std::size_t position = first; position < last; ++position) {
    cost.layout.zero = list.layouts[position].zero;
    cost.layout.shard_group = list.layouts[position].shard_group;
    walk_layout(cost.layout, cost, position);
  }
}

void BlockWalk::walk_layout(const costmodel::Layout& layout, costmodel::LayoutCost& cost,
                            std::size_t position) {
  for (auto& cached : data_parallel_) cached.reset();
  const auto memory = costmodel::layout_memory(problem_.model, problem_.recipe, layout);
  const std::size_t first_layout = space_.layouts(setup_.block.hardware).shapes[setup_.block.first_shape];
  std::uint64_t step = (position - first_layout) * steps_.size() * problem_.islands.size();
  for (std::size_t batch = 0; batch < steps_.size(); ++batch) {
    const std::int64_t global_batch = problem_.global_batches[batch];
    const Rule rule = check_batch(problem_.model, problem_.recipe, layout, global_batch);
    if (rule != Rule::kNone) {
      count_illegal(rule, problem_.islands.size() * setup_.plans_per_step);
      step += problem_.islands.size();
      continue;
    }
    const double bytes = costmodel::peak_memory_bytes(memory, dp_, global_batch);
    for (std::size_t islands = 0; islands < problem_.islands.size(); ++islands, ++step) {
      const Rule divided = islands_rule(problem_.islands[islands], dp_, setup_.nodes);
      if (divided != Rule::kNone) {
        count_illegal(divided, setup_.plans_per_step);
        continue;
      }
      Unit& unit = unit_of(layout);
      for (std::size_t broken = 0; broken < unit.setup.illegal.size(); ++broken)
        harvest_.counts.illegal[broken] += unit.setup.illegal[broken];
      if (unit.setup.legal == 0) continue;
      if (!(bytes <= capacity_bytes_)) {
        harvest_.counts.out_of_memory += unit.setup.legal;
        keep_nearest(
            harvest_.least_memory_excess,
            NearMiss{bytes - capacity_bytes_,
                     setup_.block.first_index + step * setup_.plans_per_step + unit.setup.first_legal});
        continue;
      }
      walk_step(unit, cost, batch, islands, step);
    }
  }
}

BlockWalk::Unit& BlockWalk::unit_of(const costmodel::Layout& layout) {
  const int group = layout.group_gpus();
  const std::int64_t copies = groups_per_state_copy(layout);
  for (auto& unit : units_)
    if (unit->setup.group_gpus == group && unit->setup.state_copy_groups == copies) return *unit;
  return *units_.emplace_back(std::make_unique<Unit>(setup_, dp_, group, copies, space_.tables()));
}

const BlockWalk::BatchOfShape& BlockWalk::batch_of_shape(const costmodel::LayoutCost& cost,
                                                         std::size_t batch) {
  BatchOfShape& known = batches_[batch];
  if (known.known) return known;
  known.known = true;
  known.steps = steps_[batch];
  known.flush_s = costmodel::step_time_lower_bound(cost, dp_, problem_.global_batches[batch]) * kRounding;
  const double micro_batches =
      static_cast<double>(problem_.global_batches[batch] / (dp_ * cost.layout.micro_batch));
  const double slope_s = std::min(cost.near.curve.slope(), cost.far.curve.slope());
  known.stack_share = micro_batches * slope_s * kRounding / known.flush_s;
  return known;
}

costmodel::StepTime BlockWalk::step_time(const costmodel::LayoutCost& cost, std::size_t batch,
                                         std::size_t islands) {
  auto& data_parallel = data_parallel_[islands];
  if (!data_parallel)
    data_parallel = costmodel::data_parallel_cost(cost, dp_, problem_.islands[islands].count);
  return costmodel::step_time(cost, *data_parallel, dp_, problem_.global_batches[batch],
                              problem_.islands[islands]);
}

void BlockWalk::walk_step(Unit& unit, const costmodel::LayoutCost& cost, std::size_t batch,
                          std::size_t islands, std::uint64_t step) {
  if (options_.brute_force) {
    evaluate(unit, step_time(cost, batch, islands), steps_[batch], step);
    return;
  }
  // A bound may leave a plan out only if it is known whether the plan is finite: that is counted.
  const BatchOfShape& shape = batch_of_shape(cost, batch);
  const double least_work_s = shape.steps * shape.flush_s;
  if (progress_is_known(unit, least_work_s, kNever, kNever) &&
      prune(unit, Bound::kFlush, least_work_s, shape.stack_share)) {
    count_endless(unit, least_work_s);
    return;
  }
  const costmodel::StepTime time = step_time(cost, batch, islands);
  const double step_s = time.with_stacks(1);
  const double work_s = shape.steps * step_s;
  if (time.fixed_s >= 0 && progress_is_known(unit, work_s, step_s, work_s) &&
      prune(unit, Bound::kStep, work_s, time.per_stack_s / step_s)) {
    count_endless(unit, work_s);
    return;
  }
  evaluate(unit, time, shape.steps, step);
}

bool BlockWalk::progress_is_known(const Unit& unit, double least_work_s, double most_step_s,
                                  double most_work_s) const {
  if (!(most_step_s <= unit.most_step_s) || !std::isfinite(least_work_s)) return false;
  if (most_work_s <= unit.most_work_s) return true;
  for (std::size_t cell = 0; cell < setup_.cells.size(); ++cell) {
    if (setup_.cells[cell].legal_offers == 0) continue;
    const Certainty& certainty = unit.certainty[cell];
    if (!(most_work_s <= certainty.most_work_s) && !(least_work_s >= certainty.least_work_s)) return false;
  }
  return true;
}

void BlockWalk::count_endless(const Unit& unit, double least_work_s) {
  for (std::size_t cell = 0; cell < setup_.cells.size(); ++cell) {
    const Certainty& certainty = unit.certainty[cell];
    std::uint64_t endless = certainty.endless;
    if (certainty.endless_from_scratch > 0 && least_work_s >= certainty.least_work_s)
      endless += certainty.endless_from_scratch;
    harvest_.counts.non_finite += endless * static_cast<std::uint64_t>(setup_.cells[cell].legal_offers);
  }
}

bool BlockWalk::prune(Unit& unit, Bound bound, double work_s, double stack_share) {
  if (!(work_s >= unit.bounds.dominated_work(stack_share, dominated_from_, version_, setup_, unit.kernel)))
    return false;
  harvest_.counts.pruned[static_cast<std::size_t>(bound)] += unit.setup.legal;
  return true;
}

void BlockWalk::evaluate(Unit& unit, const costmodel::StepTime& step_time, double steps, std::uint64_t step) {
  harvest_.counts.evaluated += unit.setup.legal;
  unit.kernel.set_step({step_time.fixed_s, step_time.per_stack_s}, steps);
  for (std::size_t rate = 0; rate < setup_.rates.size(); ++rate) {
    unit.kernel.run(rate);
    for (std::size_t spare = 0; spare < setup_.spares.size(); ++spare)
      keep(rate * setup_.spares.size() + spare, unit.kernel, step);
  }
}

void BlockWalk::keep(std::size_t cell, const UnitKernel& kernel, std::uint64_t step) {
  const Cell& offers = setup_.cells[cell];
  if (offers.legal_offers == 0) return;
  const std::size_t spare = cell % setup_.spares.size();
  const double least_s = kernel.least_time_s(spare);
  Best& best = best_[cell];
  if (least_s < best.time_s) {
    best = {least_s, step, kernel.first_with(spare, least_s)};
    if (least_s < dominated_from_[cell]) {
      dominated_from_[cell] = least_s;
      ++version_;
    }
  }
  if (!kernel.may_be_endless(spare)) return;
  kernel.best_times(spare, times_);
  const RateClass& rate = setup_.rates[cell / setup_.spares.size()];
  for (const auto& [protection, time_s] : times_) {
    if (time_s <= kCertainlyFinite_s) continue;
    for (int number : rate.offers) {
      if (!setup_.is_legal(number, setup_.spares[spare])) continue;
      const costmodel::Offer& offer = setup_.hardware.offers[static_cast<std::size_t>(number)];
      if (!std::isfinite(time_s) ||
          !std::isfinite(costmodel::bill_usd(offer, setup_.spares[spare].paid_nodes, time_s)))
        ++harvest_.counts.non_finite;
    }
  }
}

void BlockWalk::add_to_front() {
  const std::size_t protections = problem_.protections.size();
  for (std::size_t cell = 0; cell < best_.size(); ++cell) {
    const Best& best = best_[cell];
    if (!std::isfinite(best.time_s)) continue;
    const SparesClass& spare = setup_.spares[cell % setup_.spares.size()];
    for (int number : setup_.rates[cell / setup_.spares.size()].offers) {
      if (!setup_.is_legal(number, spare)) continue;
      const auto offer = static_cast<std::size_t>(number);
      harvest_.front.add({best.time_s,
                          costmodel::bill_usd(setup_.hardware.offers[offer], spare.paid_nodes, best.time_s),
                          setup_.block.first_index + best.step * setup_.plans_per_step + offer * protections +
                              static_cast<std::size_t>(best.protection)});
    }
  }
}

}  // namespace trainfront::search
