#include "search/block_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainfront::search {
namespace {

using costmodel::Rule;

constexpr double kNever = std::numeric_limits<double>::infinity();
// A step's time and the bound on it are summed in different orders.
constexpr double kRounding = 1 - 1e-12;

// What is known of all ways to mask failures takes the fixed part of a step for what it is, a time.
bool is_odd(const ProtectionPart& part, const costmodel::StepTime& time) {
  return part.is_masking() && time.fixed_s < 0;
}

}  // namespace

void keep_nearest(std::optional<NearMiss>& nearest, const std::optional<NearMiss>& other) {
  if (!other) return;
  if (!nearest || other->excess_bytes < nearest->excess_bytes ||
      (other->excess_bytes == nearest->excess_bytes && other->index < nearest->index))
    nearest = other;
}

BlockWalk::BlockWalk(const Space& space, int hardware, std::size_t gpus, const Front& incumbent,
                     const WalkOptions& options, Harvest& harvest, Neighbours* neighbours)
    : space_{space},
      problem_{space.problem()},
      hardware_{hardware},
      gpus_{gpus},
      options_{options},
      harvest_{harvest},
      neighbours_{neighbours},
      setups_{space.tables().setups(hardware)},
      setup_{space.tables().setup(*setups_, hardware, gpus, own_setup_)},
      capacity_bytes_{costmodel::usable_memory_bytes(setup_.hardware.hardware.device)},
      best_(setup_.cells.size(), Best{kNever, 0, 0}),
      costs_{space.tables().costs(hardware)},
      memories_{space.tables().memories(hardware)} {
  for (const Cell& cell : setup_.cells) {
    const double usd_per_s = cell.least_usd_per_s;
    double from_s = 0;
    if (cell.legal_offers > 0 && neighbours_ != nullptr) {
      const Vicinity& around = neighbours_->around();
      from_s =
          usd_per_s > 0 ? std::min(around.most_time_s, around.most_cost_usd / usd_per_s) : around.most_time_s;
    } else if (cell.legal_offers > 0) {
      from_s = std::min(incumbent.dominated_from(usd_per_s), harvest.front.dominated_from(usd_per_s));
    }
    dominated_.from_s.push_back(from_s);
  }
  for (std::int64_t batch : problem_.global_batches) steps_.push_back(steps_needed(problem_.recipe, batch));
  flushes_.resize(steps_.size());
  data_parallel_.resize(problem_.islands.size());
  const LayoutList& list = space_.layouts(hardware);
  first_index_ = space_.first_index(hardware) +
                 gpus * list.size() * steps_.size() * problem_.islands.size() * setup_.plans_per_step;
}

bool BlockWalk::run(const Block& block) {
  const LayoutList& list = space_.layouts(hardware_);
  harvest_.counts.plans += plans_of(block.first_shape, block.last_shape);
  for (std::size_t shape = block.first_shape; shape < block.last_shape;) {
    const int group = list.shapes[shape].layout.group_gpus();
    const std::size_t next = std::min<std::size_t>(list.shapes[shape].next_group, block.last_shape);
    if (setup_.gpus % group != 0) {
      count_illegal(Rule::kGpusNotDivisible, plans_of(shape, next));
      shape = next;
      continue;
    }
    dp_ = setup_.gpus / group;
    for (; shape < next; ++shape) {
      walk_shape(shape);
      if (is_given_up()) return false;
    }
  }
  return true;
}

// Asked when so many times have been evaluated, of which a shape counts for some, or it would cost too much.
bool BlockWalk::is_given_up() {
  constexpr std::int64_t kTimesBetween = 4096;
  constexpr std::int64_t kTimesOfShape = 64;
  until_asked_ -= kTimesOfShape;
  if (until_asked_ < 0 && !given_up_ && options_.give_up) {
    given_up_ = options_.give_up();
    until_asked_ = kTimesBetween;
  }
  return given_up_;
}

std::uint64_t BlockWalk::plans_of(std::size_t first_shape, std::size_t last_shape) const {
  const LayoutList& list = space_.layouts(hardware_);
  return (list.shapes[last_shape].first - list.shapes[first_shape].first) * steps_.size() *
         problem_.islands.size() * setup_.plans_per_step;
}

const costmodel::LayoutCost& BlockWalk::cost() {
  if (!cost_is_of_shape_) cost_ = space_.tables().cost(*costs_, hardware_, shape_, own_cost_);
  cost_is_of_shape_ = true;
  cost_.layout = layout_;
  return cost_;
}

void BlockWalk::count_illegal(Rule rule, std::uint64_t plans) {
  harvest_.counts.illegal[static_cast<std::size_t>(rule)] += plans;
}

// The first thing that check_batch asks: then no layout of the shape need be asked for itself.
bool BlockWalk::some_batch_divides(const costmodel::Layout& shape) const {
  const std::int64_t at_once = dp_ * shape.micro_batch;
  return std::any_of(problem_.global_batches.begin(), problem_.global_batches.end(),
                     [&](std::int64_t batch) { return batch % at_once == 0; });
}

void BlockWalk::walk_shape(std::size_t shape) {
  const LayoutList& list = space_.layouts(hardware_);
  if (!some_batch_divides(list.shapes[shape].layout)) {
    count_illegal(Rule::kBatch, plans_of(shape, shape + 1));
    return;
  }
  shape_ = shape;
  cost_is_of_shape_ = false;
  for (Flush& flush : flushes_) flush.known = false;
  const PackedMemory& memories = space_.tables().memory(*memories_, hardware_, shape, own_memory_);
  std::size_t stage = 0;
  costmodel::LayoutMemory memory = memories[stage];
  layout_ = list.shapes[shape].layout;
  layout_.dp = static_cast<int>(dp_);
  std::size_t position = list.shapes[shape].first;
  for (const Sharding& sharding : list.shardings_of(shape)) {
    if (position > list.shapes[shape].first && sharding.zero != layout_.zero) memory = memories[++stage];
    layout_.zero = sharding.zero;
    layout_.shard_group = sharding.ranks;
    memory.shard_ranks = sharding.ranks;
    walk_layout(memory, position++);
    if (given_up_) return;
  }
}

void BlockWalk::walk_layout(const costmodel::LayoutMemory& memory, std::size_t position) {
  for (auto& cached : data_parallel_) cached.reset();
  Unit* unit = nullptr;
  Step step;
  step.number = position * steps_.size() * problem_.islands.size();
  for (step.batch = 0; step.batch < steps_.size(); ++step.batch) {
    const std::int64_t global_batch = problem_.global_batches[step.batch];
    const Rule rule = check_batch(problem_.model, problem_.recipe, layout_, global_batch);
    if (rule != Rule::kNone) {
      count_illegal(rule, problem_.islands.size() * setup_.plans_per_step);
      step.number += problem_.islands.size();
      continue;
    }
    const double bytes = costmodel::peak_memory_bytes(memory, dp_, global_batch);
    for (step.islands = 0; step.islands < problem_.islands.size(); ++step.islands, ++step.number) {
      const Rule divided = islands_rule(problem_.islands[step.islands], dp_, setup_.nodes);
      if (divided != Rule::kNone) {
        count_illegal(divided, setup_.plans_per_step);
        continue;
      }
      if (unit == nullptr) unit = &unit_of(layout_);
      for (std::size_t broken = 0; broken < unit->setup->illegal.size(); ++broken)
        harvest_.counts.illegal[broken] += unit->setup->illegal[broken];
      if (unit->setup->legal() == 0) continue;
      if (!(bytes <= capacity_bytes_)) {
        harvest_.counts.out_of_memory += unit->setup->legal();
        keep_nearest(harvest_.least_memory_excess,
                     NearMiss{bytes - capacity_bytes_,
                              first_index_ + step.number * setup_.plans_per_step + unit->setup->first_legal});
        continue;
      }
      step.time.reset();
      for (ProtectionPart* part : {plain_.get(), unit->masking.get()})
        if (part != nullptr && !prune(*part, step)) evaluate(*part, step);
      if (is_given_up()) return;
    }
  }
}

BlockWalk::Unit& BlockWalk::unit_of(const costmodel::Layout& layout) {
  const int group = layout.group_gpus();
  const std::int64_t copy_groups = groups_per_state_copy(layout);
  for (Unit& unit : units_)
    if (unit.setup->group_gpus == group && unit.setup->state_copy_groups == copy_groups) return unit;
  Tables& tables = space_.tables();
  Unit unit{.setup = tables.unit_setup(setup_, dp_, group, copy_groups), .masking = nullptr};
  if (unit.setup->legal_masking > 0)
    unit.masking = std::make_unique<ProtectionPart>(setup_, unit.setup->masking, unit.setup->legal_masking,
                                                    unit.setup->unit, unit.setup->state_copies, true, tables);
  if (!plain_ && unit.setup->legal_plain > 0) {
    const faults::FailingUnit node{.units = setup_.nodes, .groups_per_unit = 1, .nodes_per_unit = 1};
    plain_ = std::make_unique<ProtectionPart>(setup_, unit.setup->plain, unit.setup->legal_plain, node, -1,
                                              false, tables);
  }
  return units_.emplace_back(std::move(unit));
}

const BlockWalk::Flush& BlockWalk::flush(std::size_t batch) {
  Flush& flush = flushes_[batch];
  if (flush.known) return flush;
  const costmodel::LayoutCost& layout = cost();
  const std::int64_t global_batch = problem_.global_batches[batch];
  const auto micro_batches = static_cast<double>(global_batch / (dp_ * layout_.micro_batch));
  const double slope_s = std::min(layout.near.curve.slope(), layout.far.curve.slope());
  flush.known = true;
  flush.time_s = costmodel::step_time_lower_bound(layout, dp_, global_batch) * kRounding;
  flush.stack_share = micro_batches * slope_s * kRounding / flush.time_s;
  return flush;
}

const costmodel::StepTime& BlockWalk::time_of(Step& step) {
  if (step.time) return *step.time;
  const costmodel::LayoutCost& layout = cost();
  const costmodel::Islands& islands = problem_.islands[step.islands];
  auto& data_parallel = data_parallel_[step.islands];
  if (!data_parallel) data_parallel = costmodel::data_parallel_cost(layout, dp_, islands.count);
  step.time = costmodel::step_time(layout, *data_parallel, dp_, problem_.global_batches[step.batch], islands);
  return *step.time;
}

// A bound may leave plans out only if it is known which of them are finite: those that are not are counted.
bool BlockWalk::prune(ProtectionPart& part, Step& step) {
  if (options_.brute_force) return false;
  const Flush& known = flush(step.batch);
  const double work_s = steps_[step.batch] * known.time_s;
  if (!(work_s >= part.dominated_work_at_least_overhead(known.stack_share, dominated_)))
    return prune_by_step(part, step);
  double step_s = kNever;
  if (!part.progress_is_known(work_s, kNever, step_s)) {
    step_s = time_of(step).with_stacks(1);
    const double most_work_s = steps_[step.batch] * step_s;
    if (!part.progress_is_known(work_s, most_work_s, step_s) || is_odd(part, *step.time)) return false;
  }
  count_pruned(part, Bound::kFlush, work_s, step_s);
  return true;
}

bool BlockWalk::prune_by_step(ProtectionPart& part, Step& step) {
  const costmodel::StepTime& time = time_of(step);
  const double step_s = time.with_stacks(1);
  const double work_s = steps_[step.batch] * step_s;
  if (is_odd(part, time) || !part.progress_is_known(work_s, work_s, step_s)) return false;
  const double stack_share = time.per_stack_s / step_s;
  if (work_s >= part.dominated_work_at_least_overhead(stack_share, dominated_)) {
    count_pruned(part, Bound::kStep, work_s, step_s);
    return true;
  }
  if (work_s >= part.dominated_work(stack_share, dominated_)) {
    count_pruned(part, Bound::kProtection, work_s, step_s);
    return true;
  }
  return false;
}

void BlockWalk::count_pruned(const ProtectionPart& part, Bound bound, double work_s, double step_s) {
  harvest_.counts.pruned[static_cast<std::size_t>(bound)] += part.legal();
  const ProtectionPart::Endless endless = part.endless(work_s, step_s);
  harvest_.counts.non_finite += endless.all;
  harvest_.counts.struck_too_often += endless.struck;
}

void BlockWalk::evaluate(ProtectionPart& part, Step& step) {
  harvest_.counts.evaluated += part.legal();
  const costmodel::StepTime& time = time_of(step);
  UnitKernel& kernel = part.kernel();
  until_asked_ -= static_cast<std::int64_t>(kernel.columns());
  kernel.set_step({time.fixed_s, time.per_stack_s}, steps_[step.batch]);
  for (std::size_t rate = 0; rate < setup_.rates.size(); ++rate) {
    kernel.run(rate);
    for (std::size_t spare = 0; spare < setup_.spares.size(); ++spare)
      keep(rate * setup_.spares.size() + spare, kernel, step.number);
  }
}

void BlockWalk::keep(std::size_t cell, const UnitKernel& kernel, std::uint64_t step) {
  if (setup_.cells[cell].legal_offers == 0) return;
  if (neighbours_ != nullptr) return keep_neighbour(cell, kernel, step);
  const std::size_t spare = cell % setup_.spares.size();
  const double least_s = kernel.least_time_s(spare);
  Best& best = best_[cell];
  if (least_s < best.time_s) {
    best = {least_s, step, kernel.first_with(spare, least_s)};
    if (least_s < dominated_.from_s[cell]) {
      dominated_.from_s[cell] = least_s;
      ++dominated_.version;
    }
  } else if (least_s == best.time_s && step == best.step && least_s < kNever) {
    best.protection = std::min(best.protection, kernel.first_with(spare, least_s));
  }
  if (kernel.may_be_endless(spare)) count_endless(cell, kernel);
}

// Of the cell's plans on this step the fastest, on the offer that is cheapest: no other of its kind is
// nearer.
void BlockWalk::keep_neighbour(std::size_t cell, const UnitKernel& kernel, std::uint64_t step) {
  const SparesClass& spare = setup_.spares[cell % setup_.spares.size()];
  const double least_s = kernel.least_time_s(cell % setup_.spares.size());
  if (!(least_s <= neighbours_->around().most_time_s)) return;
  Point point{least_s, kNever, 0};
  for (int number : setup_.rates[cell / setup_.spares.size()].offers) {
    if (!setup_.is_legal(number, spare)) continue;
    const auto offer = static_cast<std::size_t>(number);
    const double usd = costmodel::bill_usd(setup_.hardware.offers[offer], spare.paid_nodes, least_s);
    if (usd < point.cost_usd) point = {least_s, usd, offer};
  }
  if (!(point.cost_usd <= neighbours_->around().most_cost_usd)) return;
  point.index = first_index_ + step * setup_.plans_per_step + point.index * problem_.protections.size() +
                static_cast<std::size_t>(kernel.first_with(cell % setup_.spares.size(), least_s));
  neighbours_->add({hardware_, layout_.tp, layout_.cp, layout_.pp, layout_.ep}, point);
}

void BlockWalk::count_endless(std::size_t cell, const UnitKernel& kernel) {
  const SparesClass& spare = setup_.spares[cell % setup_.spares.size()];
  kernel.best_times(cell % setup_.spares.size(), times_);
  for (const auto& [protection, time_s, is_struck_too_often] : times_) {
    if (time_s <= kCertainlyFinite_s) continue;
    for (int number : setup_.rates[cell / setup_.spares.size()].offers) {
      const costmodel::Offer& offer = setup_.hardware.offers[static_cast<std::size_t>(number)];
      if (!setup_.is_legal(number, spare)) continue;
      const bool finite =
          std::isfinite(time_s) && std::isfinite(costmodel::bill_usd(offer, spare.paid_nodes, time_s));
      harvest_.counts.non_finite += finite ? 0 : 1;
      harvest_.counts.struck_too_often += is_struck_too_often ? 1 : 0;
    }
  }
}

void BlockWalk::add_to_front() {
  const std::size_t protections = problem_.protections.size();
  std::vector<Point> points;
  for (std::size_t cell = 0; cell < best_.size(); ++cell) {
    const Best& best = best_[cell];
    if (!std::isfinite(best.time_s)) continue;
    const SparesClass& spare = setup_.spares[cell % setup_.spares.size()];
    for (int number : setup_.rates[cell / setup_.spares.size()].offers) {
      if (!setup_.is_legal(number, spare)) continue;
      const auto offer = static_cast<std::size_t>(number);
      points.push_back({best.time_s,
                        costmodel::bill_usd(setup_.hardware.offers[offer], spare.paid_nodes, best.time_s),
                        first_index_ + best.step * setup_.plans_per_step + offer * protections +
                            static_cast<std::size_t>(best.protection)});
    }
  }
  harvest_.front.add_all(points);
}

}  // namespace trainfront::search
