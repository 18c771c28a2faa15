#pragma once

#include <array>
#include <span>

#include "costmodel/layout.hpp"

namespace trainfront::costmodel {

// One micro-batch on one stage, or on one chunk of it when interleaved. Backward is input and weight gradient
// together except under zero-bubble schedules.
struct StageTime {
  double forward_s = 0;
  double input_gradient_s = 0;
  double weight_gradient_s = 0;

  double backward_s() const { return input_gradient_s + weight_gradient_s; }
  double total() const { return forward_s + backward_s(); }
};

// One pipeline flush as a function of its micro-batches m: the largest of lines fixed_s + m slope_s. Lines
// that hold for any m come first; those beyond `any_count` hold from m = min_micro_batches on, `few` only
// below. With `group` it is the schedule's own time at one, two and four groups of so many micro-batches;
// each further group takes what the last two took, or the busiest stage's work where that is more.
struct PipelineCurve {
  struct Line {
    double fixed_s = 0;
    double slope_s = 0;
  };
  static constexpr int kMaxLines = 8;

  std::array<Line, kMaxLines> lines{};
  Line few;
  int count = 0;
  int any_count = 0;
  int min_micro_batches = 1;
  int group = 0;
  std::array<double, 3> at_groups{};

  double time(double micro_batches) const;
  // What one more micro-batch costs at the most: the slope of the steepest line, or between groups.
  double slope() const;
  double steepest_line() const;
  // Drops lines that this one covers. Of more than kMaxLines the lowest goes, which leaves a lower bound.
  void add(Line line);
};

// Largest number of stages; deeper pipelines get an infinite time.
inline constexpr int kMaxStages = 256;

// GPipe (arXiv 1811.06965): all forwards, then all backwards. Exact for any times and m.
double gpipe_time(std::span<const StageTime> stages, double micro_batches);

// 1F1B (PipeDream-Flush, arXiv 2006.09503; Megatron-LM). Stages may differ; a transfer that blocks its sender
// is part of the sender's times. Exact for any times and m >= 1: the longest of the paths that leave each
// stage d's steady state towards its first backward and from its last forward.
double one_f_one_b_time(std::span<const StageTime> stages, int micro_batches);

// The same as a curve, from m = stages + 1 on (a single stage: any m).
PipelineCurve gpipe_curve(std::span<const StageTime> stages);
PipelineCurve one_f_one_b_curve(std::span<const StageTime> stages);

// Interleaved 1F1B (arXiv 2104.04473, section 2.2) with groups of `stages` micro-batches, m a multiple of
// them. chunks[v * stages + s]; a transfer takes transfer_s each way and runs beside compute. Exact for any
// times and transfers, in O(chunks m).
double interleaved_time(std::span<const StageTime> chunks, int stages, int micro_batches, double transfer_s);

// While transfers are no longer than any chunk's passes: exact for equal chunks, with a heavier last chunk
// (the head) and a slightly heavier first; a single group is carried down from two, at the busiest stage's
// work a micro-batch. Where chunks between the ends differ: exact at one, two and four groups, within 3 per
// cent (random chunks) at others. With longer transfers: interleaved_time of two and of four groups, and the
// line through both.
PipelineCurve interleaved_curve(std::span<const StageTime> chunks, int stages, double transfer_s);

// ZB-1p (zero bubble, arXiv 2401.10241): warm-up of stages - 1 - s forwards; then forward, input gradient and
// the weight gradient s micro-batches behind. Exact for any times and m, in O(stages m).
double zero_bubble_time(std::span<const StageTime> stages, int micro_batches);
// From m = 2 stages on: its value there, and the busiest stage's work for each micro-batch more. Never below
// zero_bubble_time, equal while stages are equal.
PipelineCurve zero_bubble_curve(std::span<const StageTime> stages);

// The curve of a schedule; chunks as in interleaved_curve, one a stage unless interleaved. transfer_s is what
// a micro-batch takes to the next stage, and back: beside compute when `overlaps` (interleaved and GPipe
// only), else with the sender's pass. flight_s, under overlapped GPipe: on its way for so much longer, the
// link free.
PipelineCurve pipeline_curve(Schedule schedule, std::span<const StageTime> chunks, int stages,
                             double transfer_s, bool overlaps, double flight_s = 0);

}  // namespace trainfront::costmodel
