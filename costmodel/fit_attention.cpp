#include "costmodel/fit_attention.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/attention_form.hpp"
#include "costmodel/fit_minimize.hpp"
#include "costmodel/fit_other_sources.hpp"
#include "costmodel/fit_table.hpp"

namespace trainfront::costmodel {
namespace {

constexpr std::size_t kFormSamples = 800;
constexpr std::size_t kTableSamples = 48;
constexpr std::array<double, 12> kSequences{16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
constexpr std::array<double, 10> kHeads{4, 16, 32, 64, 128, 256, 512, 1024, 4096, 8192};
constexpr std::array<double, 3> kHeadDims{64, 128, 192};

// Over the data-sheet profile: a benchmark finds its inputs in the L2 cache.
constexpr double kMostMemory = 5;

// `fits_dims`: heads of several sizes were measured, which alone tells what the softmax costs.
AttentionFit with_parameters(const AttentionFit& start, bool fits_dims, const std::vector<double>& x) {
  AttentionFit fit = start;
  fit.flops_per_s *= std::exp(x[0]);
  // Beyond these a tile's edge, or a softmax, would outweigh all of a call.
  fit.half_sequence = std::min(std::exp(x[1]), 4096.0);
  if (fits_dims) fit.softmax_dims = std::min(std::exp(x[2]), 512.0);
  fit.bytes_per_s *= std::min(std::exp(x[3]), kMostMemory);
  fit.launch_s = std::exp(x[4]);
  fit.cache_bytes_per_s = start.bytes_per_s * std::exp(x[5]);
  return fit;
}

AttentionFit fit_form(const AttentionFit& start, const std::vector<AttentionSample>& samples) {
  const std::size_t step = std::max<std::size_t>(1, samples.size() / kFormSamples);
  AttentionFit origin = start;
  origin.table = {};
  const auto head_dims = [](const AttentionSample& sample) {
    return sample.shape.qk_dim + sample.shape.value_dim;
  };
  const bool fits_dims = std::any_of(samples.begin(), samples.end(), [&](const AttentionSample& sample) {
    return head_dims(sample) != head_dims(samples.front());
  });
  const auto cost = [&](const std::vector<double>& x) {
    const AttentionFit fit = with_parameters(origin, fits_dims, x);
    double sum = 0;
    for (std::size_t i = 0; i < samples.size(); i += step) {
      sum += robust_cost(predict(fit, samples[i]), samples[i].seconds);
    }
    return sum;
  };
  std::vector<double> x{0, 5.5, 3.5, 0, std::log(8e-6), -1};
  x = minimize(cost, x, 0.3, 350);
  for (const double width : {0.2, 0.5, 0.1}) x = minimize(cost, x, width, 250);
  AttentionFit fit = with_parameters(origin, fits_dims, x);
  if (std::none_of(samples.begin(), samples.end(), [](const auto& sample) { return sample.writes_cache; })) {
    fit.cache_bytes_per_s = 0;
  }
  fit.evidence = Evidence::kCalibrated;
  return fit;
}

AttentionFit fit_with(const AttentionFit& start, bool with_table,
                      const std::vector<AttentionSample>& samples) {
  AttentionFit fit = fit_form(start, samples);
  if (!with_table) return fit;
  std::vector<TableSample> table_samples;
  for (const AttentionSample& sample : samples) {
    const AttentionShape& shape = sample.shape;
    // What is left without the cache; never less than a share that noise cannot reach.
    const double cache_s = sample.writes_cache ? attention_cache_s(fit, shape) : 0;
    table_samples.push_back(
        {{equivalent_sequence(fit, shape), shape.batch * shape.heads, (shape.qk_dim + shape.value_dim) / 2},
         std::log(std::max(0.3 * sample.seconds, sample.seconds - cache_s))});
  }
  const TableShape shape{.axes = {axis_within(kSequences, table_samples, 0),
                                  axis_within(kHeads, table_samples, 1),
                                  axis_within(kHeadDims, table_samples, 2)}};
  const auto prior = [&](const std::array<double, 3>& size) {
    return std::log(attention_form(fit, {.batch = 1,
                                         .queries = size[0],
                                         .keys = size[0],
                                         .heads = size[1],
                                         .kv_heads = 0,
                                         .qk_dim = size[2],
                                         .value_dim = size[2]}));
  };
  fit.table = fit_table(shape, prior, table_samples);
  return fit;
}

std::uint64_t shape_key(const AttentionSample& sample) {
  return static_cast<std::uint64_t>(sample.shape.queries * 131071 + sample.shape.batch * sample.shape.heads);
}
std::uint64_t size_key(const AttentionSample& sample) {
  return static_cast<std::uint64_t>(sample.shape.queries);
}

// The median of backward over forward, as predicted; samples without a backward call keep the start's.
void set_backward_factor(const std::vector<AttentionSample>& samples, AttentionFit& fit) {
  std::vector<double> factors;
  for (const AttentionSample& sample : samples) {
    if (sample.backward) factors.push_back(sample.seconds / attention_forward(fit, sample.shape));
  }
  if (factors.size() < 3) return;
  std::nth_element(factors.begin(), factors.begin() + static_cast<std::ptrdiff_t>(factors.size() / 2),
                   factors.end());
  fit.backward_factor = std::max(1.0, factors[factors.size() / 2]);
}

}  // namespace

double predict(const AttentionFit& fit, const AttentionSample& sample) {
  double seconds = attention_forward(fit, sample.shape) * (sample.backward ? fit.backward_factor : 1);
  if (sample.writes_cache) seconds += attention_cache_s(fit, sample.shape);
  return seconds;
}

AttentionFit fit_attention(const AttentionFit& start, const std::vector<AttentionSample>& samples,
                           const std::vector<AttentionSample>& others,
                           const std::vector<std::string>& sources, FitScore& score) {
  std::vector<AttentionSample> forward;
  for (const AttentionSample& sample : samples) {
    if (!sample.backward) forward.push_back(sample);
  }
  const bool with_table = forward.size() >= kTableSamples;
  const auto fit_seen = [&](const std::vector<AttentionSample>& seen) {
    return fit_with(start, with_table, seen);
  };
  score.operation = "attention";
  score.precision = "bf16";
  score.form = with_table ? "table" : "form";
  score.samples = forward.size();
  score.by_shape = summarize(held_out_errors(forward, shape_key, fit_seen, predict));
  score.by_size = summarize(held_out_errors(forward, size_key, fit_seen, predict));
  AttentionFit fit = fit_seen(forward);
  set_backward_factor(samples, fit);
  score.other_sources = score_other_sources(
      others, sources, [&](const AttentionSample& sample) { return predict(fit, sample); });
  return fit;
}

}  // namespace trainfront::costmodel
