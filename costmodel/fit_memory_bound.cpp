#include "costmodel/fit_memory_bound.hpp"

#include <array>
#include <cmath>

#include "costmodel/fit_minimize.hpp"
#include "costmodel/fit_table.hpp"

namespace trainfront::costmodel {
namespace {

constexpr std::size_t kTableSamples = 24;

MemoryBoundFit fit_with(const MemoryBoundFit& start, bool with_table,
                        const std::vector<MemoryBoundSample>& samples) {
  const auto parameters = [&](const std::vector<double>& x) {
    return MemoryBoundFit{.launch_s = std::exp(x[0]),
                          .bytes_per_s = start.bytes_per_s * std::exp(x[1]),
                          .evidence = Evidence::kCalibrated,
                          .table = {}};
  };
  const auto cost = [&](const std::vector<double>& x) {
    const MemoryBoundFit fit = parameters(x);
    double sum = 0;
    for (const MemoryBoundSample& sample : samples) sum += robust_cost(predict(fit, sample), sample.seconds);
    return sum;
  };
  MemoryBoundFit fit = parameters(minimize(cost, {std::log(4e-6), 0}, 0.3, 200));
  if (!with_table) return fit;
  std::vector<TableSample> table_samples;
  for (const MemoryBoundSample& sample : samples) {
    table_samples.push_back({{sample.bytes, 1, 1}, std::log(sample.seconds)});
  }
  std::array<double, 18> octaves{};
  for (std::size_t i = 0; i < octaves.size(); ++i) octaves[i] = std::exp2(14 + i);
  const TableShape shape{.axes = {axis_within(octaves, table_samples, 0), {0}, {0}}};
  fit.table = fit_table(
      shape,
      [&](const std::array<double, 3>& size) { return std::log(fit.launch_s + size[0] / fit.bytes_per_s); },
      table_samples);
  return fit;
}

}  // namespace

double predict(const MemoryBoundFit& fit, const MemoryBoundSample& sample) {
  if (fit.table.empty()) return fit.launch_s + sample.bytes / fit.bytes_per_s;
  return fit.table.at(sample.bytes) + std::max(0.0, sample.bytes - fit.table.most(0)) / fit.bytes_per_s;
}

MemoryBoundFit fit_memory_bound(const MemoryBoundFit& start, const std::vector<MemoryBoundSample>& samples,
                                FitScore& score) {
  const bool with_table = samples.size() >= kTableSamples;
  const auto fit_seen = [&](const std::vector<MemoryBoundSample>& seen) {
    return fit_with(start, with_table, seen);
  };
  score.form = with_table ? "table" : "form";
  score.samples = samples.size();
  score.by_size = summarize(held_out_errors(
      samples, [](const MemoryBoundSample& sample) { return static_cast<std::uint64_t>(sample.bytes); },
      fit_seen, predict));
  score.by_shape = score.by_size;
  return fit_seen(samples);
}

}  // namespace trainfront::costmodel
