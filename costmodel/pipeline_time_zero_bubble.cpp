#include <algorithm>
#include <limits>

#include "costmodel/pipeline_time.hpp"

namespace trainfront::costmodel {

// Half-slots h: stage s runs forward (h - s)/2 when h - s is even, input gradient (h - 2p + 1 + s)/2 when
// odd. Going down the stages, each reads its neighbours as they were one half-slot before.
double zero_bubble_time(std::span<const StageTime> stages, int micro_batches) {
  const int p = static_cast<int>(stages.size());
  const int m = micro_batches;
  if (p > kMaxStages) return std::numeric_limits<double>::infinity();
  std::array<double, kMaxStages> free;           // when the stage can take its next operation
  std::array<double, kMaxStages> gradient_sent;  // when its last input gradient was done
  std::fill_n(free.begin(), p, 0.0);
  std::fill_n(gradient_sent.begin(), p, 0.0);
  for (int h = 0; h <= 2 * m + 2 * p - 3; ++h) {
    for (int s = p - 1; s >= 0; --s) {
      const auto i = static_cast<std::size_t>(s);
      const StageTime& stage = stages[i];
      if ((h - s) % 2 == 0) {
        if (h < s || (h - s) / 2 >= m) continue;
        free[i] = std::max(free[i], s > 0 ? free[i - 1] : 0.0) + stage.forward_s;
      } else {
        const int doubled = h - 2 * p + 1 + s;
        if (doubled < 0 || doubled / 2 >= m) continue;
        gradient_sent[i] = std::max(free[i], s < p - 1 ? gradient_sent[i + 1] : 0.0) + stage.input_gradient_s;
        free[i] = gradient_sent[i] + (doubled / 2 >= s ? stage.weight_gradient_s : 0.0);
      }
    }
  }
  double end = 0;
  for (int s = 0; s < p; ++s) {
    const auto i = static_cast<std::size_t>(s);
    end = std::max(end, free[i] + std::min(s, m) * stages[i].weight_gradient_s);
  }
  return end;
}

PipelineCurve zero_bubble_curve(std::span<const StageTime> stages) {
  const int p = static_cast<int>(stages.size());
  double busiest = 0;
  for (const StageTime& stage : stages) busiest = std::max(busiest, stage.total());
  PipelineCurve curve;
  const int m = 2 * p;
  curve.add({zero_bubble_time(stages, m) - m * busiest, busiest});
  curve.min_micro_batches = m;
  if (p == 1 || p > kMaxStages) curve.any_count = curve.count;
  return curve;
}

}  // namespace trainfront::costmodel
