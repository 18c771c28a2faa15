#include "costmodel/pipeline_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace trainfront::costmodel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using StageArray = std::array<double, kMaxStages>;

// Of the paths through 1F1B's graph at stage d: to the end of its first backward, and from the start of its
// last forward to the end of the flush.
struct SteadyEnds {
  StageArray to_first_backward;
  StageArray from_last_forward;
  StageArray warm_up;  // to the end of the last forward before the first backward
  StageArray cool_down;
};

void steady_ends(std::span<const StageTime> stages, int micro_batches, SteadyEnds& ends) {
  const int p = static_cast<int>(stages.size());
  double forward = 0, backward = 0, longest_forward = 0, longest_backward = 0;
  for (int d = 0; d < p; ++d) {
    const StageTime& stage = stages[static_cast<std::size_t>(d)];
    const auto i = static_cast<std::size_t>(d);
    const double waiting = std::min(p - 1 - d, micro_batches - 1);
    forward += stage.forward_s;
    backward += stage.backward_s();
    longest_forward = std::max(longest_forward, stage.forward_s);
    longest_backward = std::max(longest_backward, stage.backward_s());
    ends.warm_up[i] = forward + waiting * longest_forward;
    ends.cool_down[i] = backward + waiting * longest_backward;
  }
  double first_backward = 0, last_forward = 0;
  for (int d = p - 1; d >= 0; --d) {
    const auto i = static_cast<std::size_t>(d);
    first_backward = stages[i].backward_s() + std::max(ends.warm_up[i], first_backward);
    last_forward = stages[i].forward_s + std::max(ends.cool_down[i], last_forward);
    ends.to_first_backward[i] = first_backward;
    ends.from_last_forward[i] = last_forward;
  }
}

}  // namespace

double PipelineCurve::time(double micro_batches) const {
  if (group > 0) {
    const auto [one, two, four] = at_groups;
    const double groups = micro_batches / group;
    if (groups <= 1) return one;
    if (groups <= 2) return one + (groups - 1) * (two - one);
    if (groups <= 4) return two + (groups - 2) * (four - two) / 2;
    return four + (groups - 4) * std::max((four - two) / 2, group * steepest_line());
  }
  const bool few_only = micro_batches < min_micro_batches;
  const int used = few_only ? any_count : count;
  double longest = few_only ? few.fixed_s + micro_batches * few.slope_s : 0;
  for (int i = 0; i < used; ++i) {
    const Line& line = lines[static_cast<std::size_t>(i)];
    longest = std::max(longest, line.fixed_s + micro_batches * line.slope_s);
  }
  return longest;
}

double PipelineCurve::steepest_line() const {
  double steepest = 0;
  for (int i = 0; i < count; ++i) steepest = std::max(steepest, lines[static_cast<std::size_t>(i)].slope_s);
  return steepest;
}

double PipelineCurve::slope() const {
  if (group == 0) return steepest_line();
  const auto [one, two, four] = at_groups;
  return std::max({steepest_line(), (two - one) / group, (four - two) / (2 * group)});
}

void PipelineCurve::add(Line line) {
  for (int i = any_count; i < count; ++i) {
    Line& other = lines[static_cast<std::size_t>(i)];
    if (other.fixed_s >= line.fixed_s && other.slope_s >= line.slope_s) return;
    if (other.fixed_s <= line.fixed_s && other.slope_s <= line.slope_s) {
      other = lines[static_cast<std::size_t>(--count)];
      --i;
    }
  }
  if (count < kMaxLines) {
    lines[static_cast<std::size_t>(count++)] = line;
    return;
  }
  // Full: the line that is lowest where runs mostly are goes, and what is left is a lower bound.
  const auto at_typical = [this](const Line& l) { return l.fixed_s + 4.0 * min_micro_batches * l.slope_s; };
  int lowest = any_count;
  for (int i = any_count; i < count; ++i) {
    if (at_typical(lines[static_cast<std::size_t>(i)]) < at_typical(lines[static_cast<std::size_t>(lowest)]))
      lowest = i;
  }
  if (lowest < count && at_typical(lines[static_cast<std::size_t>(lowest)]) < at_typical(line)) {
    lines[static_cast<std::size_t>(lowest)] = line;
  }
}

double gpipe_time(std::span<const StageTime> stages, double micro_batches) {
  return gpipe_curve(stages).time(micro_batches);
}

PipelineCurve gpipe_curve(std::span<const StageTime> stages) {
  double sum = 0, longest_forward = 0, longest_backward = 0;
  for (const StageTime& stage : stages) {
    sum += stage.total();
    longest_forward = std::max(longest_forward, stage.forward_s);
    longest_backward = std::max(longest_backward, stage.backward_s());
  }
  PipelineCurve curve;
  curve.add({sum - longest_forward - longest_backward, longest_forward + longest_backward});
  curve.any_count = curve.count;
  return curve;
}

double one_f_one_b_time(std::span<const StageTime> stages, int micro_batches) {
  const int p = static_cast<int>(stages.size());
  if (p > kMaxStages) return kInfinity;
  if (p == 1) return micro_batches * stages[0].total();
  SteadyEnds ends;
  steady_ends(stages, micro_batches, ends);
  double longest = 0;
  for (int d = std::max(0, p - micro_batches); d < p; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const int steady = micro_batches - 2 - (p - 1 - d);  // pairs of backward and forward between the two ends
    if (steady >= 0) {
      longest = std::max(longest,
                         ends.to_first_backward[i] + steady * stages[i].total() + ends.from_last_forward[i]);
    } else {
      longest = std::max({longest, ends.to_first_backward[i] + ends.cool_down[i] - stages[i].backward_s(),
                          ends.warm_up[i] - stages[i].forward_s + ends.from_last_forward[i]});
    }
  }
  return longest;
}

PipelineCurve one_f_one_b_curve(std::span<const StageTime> stages) {
  const int p = static_cast<int>(stages.size());
  PipelineCurve curve;
  if (p > kMaxStages) {
    curve.add({kInfinity, 0});
    curve.any_count = curve.count;
    return curve;
  }
  if (p == 1) {
    curve.add({0, stages[0].total()});
    curve.any_count = curve.count;
    return curve;
  }
  curve.min_micro_batches = p + 1;
  SteadyEnds ends;
  steady_ends(stages, p + 1, ends);
  for (int d = 0; d < p; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const double pair = stages[i].total();
    curve.add({ends.to_first_backward[i] + ends.from_last_forward[i] - (1.0 + p - d) * pair, pair});
  }
  return curve;
}

PipelineCurve pipeline_curve(Schedule schedule, std::span<const StageTime> chunks, int stages,
                             double transfer_s, bool overlaps, double flight_s) {
  const bool interleaved = chunks.size() > static_cast<std::size_t>(stages);
  if (interleaved && overlaps) return interleaved_curve(chunks, stages, transfer_s);
  if (schedule == Schedule::kGpipe && overlaps) {
    // A link is a stage of its own, between those that it joins.
    std::vector<StageTime> with_links;
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
      if (chunk > 0) with_links.push_back({transfer_s, transfer_s, 0});
      with_links.push_back(chunks[chunk]);
    }
    PipelineCurve curve = gpipe_curve(with_links);
    curve.lines[0].fixed_s += 2 * (stages - 1) * flight_s;  // every path goes over every link, there and back
    return curve;
  }
  std::vector<StageTime> blocked(chunks.begin(), chunks.end());
  for (std::size_t chunk = 0; chunk < blocked.size(); ++chunk) {
    if (chunk + 1 < blocked.size()) blocked[chunk].forward_s += transfer_s;
    if (chunk > 0) blocked[chunk].input_gradient_s += transfer_s;
  }
  if (interleaved) return interleaved_curve(blocked, stages, 0);
  if (schedule == Schedule::kGpipe) return gpipe_curve(blocked);
  if (schedule == Schedule::kZeroBubble) return zero_bubble_curve(blocked);
  return one_f_one_b_curve(blocked);
}

}  // namespace trainfront::costmodel
