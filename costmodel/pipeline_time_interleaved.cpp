#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "costmodel/pipeline_time.hpp"

namespace trainfront::costmodel {
namespace {

// The schedule's forwards of one stage in order have index i = 0, 1, ...; index i is of chunk (i / p) mod v.
// A lap is p consecutive ones. Backwards run the same order mirrored in time, so that all that is said of the
// forwards here holds of them read from the end, with their times in place of the forwards'.
class WarmUp {
 public:
  using Time = double (*)(const StageTime&);

  WarmUp(std::span<const StageTime> chunks, int stages, double transfer_s, Time time)
      : chunks_(chunks),
        p_(stages),
        v_(static_cast<int>(chunks.size()) / stages),
        transfer_s_(transfer_s),
        time_(time) {
    start_.resize(static_cast<std::size_t>((v_ + 1) * p_));
    for (int lap = 0; lap <= v_; ++lap) {
      for (int s = 0; s < p_; ++s) {
        double& start = start_[static_cast<std::size_t>(lap * p_ + s)];
        if (s > 0) start = this->start(lap, s - 1) + op(lap, s - 1) + transfer_s_;
        if (s == 0 && lap % v_ > 0) start = this->start(lap - 1, p_ - 1) + op(lap - 1, p_ - 1) + transfer_s_;
        if (lap > 0) start = std::max(start, this->start(lap - 1, s) + p_ * op(lap - 1, s));
      }
    }
  }

  // Forwards before the first backward at stage d, but one: Megatron-LM, get_pp_rank_microbatches.
  int count(int d) const { return 2 * (p_ - 1 - d) + (v_ - 1) * p_; }

  // End of forward number count(d) at stage d.
  double end(int d) const {
    const int lap = count(d) / p_;
    const double in_lap = count(d) - lap * p_ + 1;
    double path = 0;  // from the stage that is waited for to d
    double latest = 0;
    for (int s = d; s >= 0; --s) {
      latest = std::max(latest, start(lap, s) + in_lap * op(lap, s) + path);
      path += transfer_s_ + op(lap, s);
    }
    return latest;
  }

  double op(int lap, int s) const { return time_(chunks_[static_cast<std::size_t>(lap % v_ * p_ + s)]); }

 private:
  double start(int lap, int s) const { return start_[static_cast<std::size_t>(lap * p_ + s)]; }

  std::span<const StageTime> chunks_;
  int p_;
  int v_;
  double transfer_s_;
  Time time_;
  std::vector<double> start_;  // of a lap's first forward at each stage
};

double stage_work(std::span<const StageTime> chunks, int stages, int stage) {
  double total = 0;
  for (std::size_t c = static_cast<std::size_t>(stage); c < chunks.size();
       c += static_cast<std::size_t>(stages)) {
    total += chunks[c].total();
  }
  return total;
}

// A stage begins when the first micro-batch arrives and must send the last gradients on. Holds for any
// transfers and micro-batches.
void add_work(PipelineCurve& curve, std::span<const StageTime> chunks, int stages, double transfer_s) {
  double fill = 0;
  for (int d = 0; d < stages; ++d) {
    curve.add({fill, stage_work(chunks, stages, d)});
    fill += chunks[static_cast<std::size_t>(d)].total() + 2 * transfer_s;
  }
}

// Transfers that compute cannot cover set the pace; the schedule itself says how.
PipelineCurve slow_transfers_curve(std::span<const StageTime> chunks, int stages, double transfer_s) {
  const double two = interleaved_time(chunks, stages, 2 * stages, transfer_s);
  const double four = interleaved_time(chunks, stages, 4 * stages, transfer_s);
  PipelineCurve curve;
  const double slope = (four - two) / (2 * stages);
  add_work(curve, chunks, stages, transfer_s);
  curve.add({two - 2 * stages * slope, slope});
  curve.any_count = curve.count;
  return curve;
}

// The forwards (or backwards, mirrored) that all stages run in one slot. Stages are independent within a
// slot, and those of one lap lie side by side, so that the inner loop vectorises.
class Lane {
 public:
  Lane(std::vector<double> seconds, int stages, int micro_batches, double transfer_s)
      : seconds_(std::move(seconds)),
        p_(stages),
        v_(static_cast<int>(seconds_.size()) / stages),
        total_(micro_batches * v_),
        transfer_s_(transfer_s),
        end_(static_cast<std::size_t>(p_)),
        sent_(static_cast<std::size_t>(p_)),
        lap_end_(static_cast<std::size_t>(p_)) {}

  // Stage s runs operation `first` - s; free[s] is when it can.
  void run(int first, std::vector<double>& free) {
    const int from = std::max(0, first - total_ + 1);
    const int to = std::min(p_ - 1, first);
    if (from > to) return;
    sent_ = end_;
    // Operation i belongs to lap i / p: stages up to this one are a lap further on.
    const int change = first % p_;
    if (change >= from) lap(first / p_ % v_, from, std::min(change, to), first, free);
    if (change < to) lap((first / p_ + v_ - 1) % v_, std::max(from, change + 1), to, first, free);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void lap(int number, int from, int to, int first, std::vector<double>& free) {
    const double* __restrict seconds = seconds_.data() + at(number * p_);
    const double* __restrict sent = sent_.data();
    double* __restrict end = end_.data();
    double* __restrict ready = free.data();
    int s = from;
    if (s == 0) {
      double start = ready[0];
      if (number > 0) start = std::max(start, lap_end_[at(first % p_)] + transfer_s_);
      ready[0] = end[0] = start + seconds[0];
      ++s;
    }
    for (; s <= to; ++s) {
      const double arrival = sent[s - 1] + transfer_s_;
      const double start = ready[s] < arrival ? arrival : ready[s];
      ready[s] = end[s] = start + seconds[s];
    }
    if (to == p_ - 1) lap_end_[at((first - to) % p_)] = end[to];
  }

  std::vector<double> seconds_;  // of lap v at stage s: [v p + s]
  int p_;
  int v_;
  int total_;
  double transfer_s_;
  std::vector<double> end_;      // of each stage's last operation
  std::vector<double> sent_;     // the same one slot ago
  std::vector<double> lap_end_;  // where a lap ends, by position in it
};

bool alike_between_ends(std::span<const StageTime> chunks) {
  constexpr double kRounding = 1e-9;
  const auto alike = [](double a, double b) { return std::abs(a - b) <= kRounding * b; };
  for (std::size_t i = 2; i + 1 < chunks.size(); ++i) {
    if (!alike(chunks[i].forward_s, chunks[1].forward_s)) return false;
    if (!alike(chunks[i].backward_s(), chunks[1].backward_s())) return false;
  }
  return true;
}

}  // namespace

// Slot by slot: in slot n stage s runs forward n - s, then backward n - 2 (p-1) - (v-1) p + s. Each waits for
// its neighbour's in the slot before or, at the ends of the line, for the one a lap ago. Backwards are
// counted from the last stage and the last chunk, which makes them look like forwards.
double interleaved_time(std::span<const StageTime> chunks, int stages, int micro_batches, double transfer_s) {
  const int p = stages;
  const int v = static_cast<int>(chunks.size()) / p;
  const int warm = 2 * (p - 1) + (v - 1) * p;
  std::vector<double> forward_s, backward_s;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    forward_s.push_back(chunks[i].forward_s);
    backward_s.push_back(chunks[chunks.size() - 1 - i].backward_s());
  }
  Lane forward(std::move(forward_s), p, micro_batches, transfer_s);
  Lane backward(std::move(backward_s), p, micro_batches, transfer_s);
  std::vector<double> free(static_cast<std::size_t>(p), 0.0);
  for (int slot = 0; slot < micro_batches * v + warm; ++slot) {
    forward.run(slot, free);
    if (slot < warm - (p - 1)) continue;
    std::reverse(free.begin(), free.end());
    backward.run(slot - warm + p - 1, free);
    std::reverse(free.begin(), free.end());
  }
  return *std::max_element(free.begin(), free.end());
}

PipelineCurve interleaved_curve(std::span<const StageTime> chunks, int stages, double transfer_s) {
  const int p = stages;
  const int v = static_cast<int>(chunks.size()) / p;
  PipelineCurve curve;
  if (p > kMaxStages) {
    curve.add({std::numeric_limits<double>::infinity(), 0});
    curve.any_count = curve.count;
    return curve;
  }
  const double shortest =
      std::accumulate(chunks.begin(), chunks.end(), std::numeric_limits<double>::infinity(),
                      [](double least, const StageTime& t) {
                        return std::min({least, t.forward_s, t.backward_s()});
                      });
  if (transfer_s > shortest) return slow_transfers_curve(chunks, stages, transfer_s);
  const auto chunk = [&](int c, int s) -> const StageTime& {
    return chunks[static_cast<std::size_t>(c * p + s)];
  };
  add_work(curve, chunks, p, transfer_s);
  curve.any_count = curve.count;
  curve.min_micro_batches = 2 * p;

  const WarmUp forward(chunks, p, transfer_s, [](const StageTime& t) { return t.forward_s; });
  const WarmUp backward(chunks, p, transfer_s, [](const StageTime& t) { return t.backward_s(); });
  double first_backward = -transfer_s, last_forward = -transfer_s;
  for (int d = p - 1; d >= 0; --d) {
    first_backward = chunk(v - 1, d).backward_s() + std::max(forward.end(d), first_backward + transfer_s);
    last_forward = chunk(v - 1, d).forward_s + std::max(backward.end(d), last_forward + transfer_s);
    double outside =
        chunk(v - 1, d).total();  // of the stage's work, what lies before or after its steady state
    const int warm = forward.count(d) + 1;
    for (int lap = 0; lap * p < warm; ++lap) {
      outside += std::min(p, warm - lap * p) * chunk(lap % v, d).total();
    }
    curve.add({first_backward - outside + last_forward, stage_work(chunks, p, d)});
  }
  // Fewer micro-batches: from the value at 2p down, each saves no more than the busiest stage's work.
  const double slope = curve.slope();
  curve.few = {curve.time(2 * p) - 2 * p * slope, slope};
  if (alike_between_ends(chunks)) return curve;
  for (std::size_t i = 0; i < curve.at_groups.size(); ++i) {
    curve.at_groups[i] = interleaved_time(chunks, p, p << i, transfer_s);
  }
  curve.group = p;
  return curve;
}

}  // namespace trainfront::costmodel
