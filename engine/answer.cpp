#include "engine/answer.hpp"

#include <fmt/core.h>

#include "engine/errors.hpp"
#include "engine/reports/plan_row.hpp"
#include "engine/reports/readable.hpp"
#include "inputs/printable.hpp"
#include "search/queries.hpp"

namespace trainfront::engine {
namespace {

std::string criterion_of(const search::Goal& goal) {
  if (goal.probability) {
    search::Goal in_the_mean = goal;
    in_the_mean.probability.reset();
    return fmt::format("{}, with a probability of {}", criterion_of(in_the_mean),
                       readable_percent(*goal.probability));
  }
  if (goal.deadline_s && goal.budget_usd) {
    return fmt::format("cheapest within {} and {}", readable_duration(*goal.deadline_s),
                       readable_money(*goal.budget_usd));
  }
  if (goal.deadline_s) return fmt::format("cheapest within {}", readable_duration(*goal.deadline_s));
  if (goal.budget_usd) return fmt::format("fastest within {}", readable_money(*goal.budget_usd));
  return "knee of the front";
}

std::string counts_by_reason(const search::Counts& counts) {
  const auto plans = [](std::uint64_t count) { return readable_count(static_cast<double>(count)); };
  std::string text = fmt::format("of {} plans", plans(counts.plans));
  std::string separator = ": ";
  const auto add = [&](std::uint64_t count, std::string_view reason) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", separator, plans(count), reason);
    separator = ", ";
  };
  add(counts.out_of_memory, "do not fit into memory");
  add(counts.non_finite - counts.struck_too_often, "would never end (failures come faster than progress)");
  add(counts.struck_too_often, "are struck too often (failures come more often than every two steps)");
  for (std::size_t rule = 0; rule < counts.illegal.size(); ++rule) {
    const auto broken = costmodel::rule_name(static_cast<costmodel::Rule>(rule));
    add(counts.illegal[rule], fmt::format("are illegal ({})", broken));
  }
  return text;
}

std::string describe_memory_miss(const search::Space& space, const search::MemoryMiss& miss) {
  const search::HardwareClass& rented =
      space.problem().hardware[static_cast<std::size_t>(miss.plan.hardware)];
  return fmt::format(
      "the nearest to fitting is {} on {} {}, short of {} on pipeline stage {} of {} (plan {})",
      readable_layout(miss.plan.layout), miss.plan.gpus, rented.hardware.device.id,
      readable_bytes(miss.excess_bytes), miss.stage, miss.plan.layout.pp, miss.plan.index);
}

std::string describe_point(const search::Space& space, const search::Point& point) {
  const search::Plan plan = space.decode(point.index);
  const search::HardwareClass& rented = space.problem().hardware[static_cast<std::size_t>(plan.hardware)];
  const costmodel::Offer& offer = rented.offers[static_cast<std::size_t>(plan.offer)];
  return fmt::format("takes {} and {}: {} {} of {}, {}, {} (plan {})", readable_duration(point.time_s),
                     readable_money(point.cost_usd), plan.gpus, offer.device,
                     inputs::printable(readable_offer(offer)), readable_layout(plan.layout),
                     readable_protection(plan.protection), plan.index);
}

}  // namespace

int Answer::status() const {
  return kind == AnswerKind::kPlan ? kDone : ExitStatus::kNothingFeasible;
}

std::string_view Answer::status_name() const {
  switch (kind) {
    case AnswerKind::kPlan:
      return "done";
    case AnswerKind::kNothingFeasible:
      return "infeasible";
    case AnswerKind::kDeadlineMissed:
      return "deadline_missed";
    case AnswerKind::kBudgetMissed:
      return "budget_missed";
  }
  return "";
}

Answer find_answer(const search::Front& front, const search::Goal& goal) {
  Answer answer;
  answer.criterion = criterion_of(goal);
  if (front.empty()) return answer;
  answer.plan = search::answer(front, goal);
  if (answer.plan) {
    answer.kind = AnswerKind::kPlan;
    return answer;
  }
  const std::optional<search::Point> in_time =
      goal.deadline_s ? search::cheapest_within(front, *goal.deadline_s) : front.points().back();
  answer.kind = in_time ? AnswerKind::kBudgetMissed : AnswerKind::kDeadlineMissed;
  answer.nearest = in_time ? in_time : front.points().front();
  return answer;
}

std::string why_no_plan(const search::Space& space, const search::Harvest& harvest, const search::Goal& goal,
                        const Answer& answer) {
  switch (answer.kind) {
    case AnswerKind::kPlan:
      return {};
    case AnswerKind::kNothingFeasible: {
      const search::Counts& counts = harvest.counts;
      std::string text = "nothing feasible: " + counts_by_reason(counts);
      if (counts.plans == counts.out_of_memory) {
        text = fmt::format("nothing feasible: all {} plans exceed the memory",
                           readable_count(static_cast<double>(counts.plans)));
      }
      const std::optional<search::MemoryMiss> miss = search::memory_miss(space, harvest);
      return miss ? text + "; " + describe_memory_miss(space, *miss) : text;
    }
    case AnswerKind::kDeadlineMissed:
      return fmt::format(
          "no plan ends within the deadline of {}; the fastest {}. What limits its step most: {}",
          readable_duration(*goal.deadline_s), describe_point(space, *answer.nearest),
          plan_row(space, answer.nearest->index).bottleneck);
    case AnswerKind::kBudgetMissed:
      return fmt::format("no plan{} stays within the budget of {}; the cheapest {}",
                         goal.deadline_s ? " that ends in time" : "", readable_money(*goal.budget_usd),
                         describe_point(space, *answer.nearest));
  }
  return {};
}

void write_answer(const search::Space& space, const search::Harvest& harvest, const Answer& answer,
                  JsonWriter& json) {
  json.field("status", answer.status_name()).field("criterion", answer.criterion);
  const std::optional<search::Point>& point = answer.plan ? answer.plan : answer.nearest;
  if (point) {
    json.begin_object(answer.plan ? "answer" : "nearest");
    write_row(plan_row(space, point->index), json);
    json.end_object();
    return;
  }
  const std::optional<search::MemoryMiss> miss = search::memory_miss(space, harvest);
  if (!miss) return;
  json.begin_object("smallest_memory_excess").field("excess_bytes", miss->excess_bytes);
  json.field("capacity_bytes", miss->capacity_bytes).field("stage", miss->stage);
  json.field("plan", std::to_string(miss->plan.index)).field("layout", readable_layout(miss->plan.layout));
  json.end_object();
}

}  // namespace trainfront::engine
