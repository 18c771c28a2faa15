#include "costmodel/fit_gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "costmodel/fit_gemm_steps.hpp"
#include "costmodel/fit_minimize.hpp"
#include "costmodel/fit_other_sources.hpp"
#include "costmodel/fit_table.hpp"
#include "costmodel/gemm_form.hpp"

namespace trainfront::costmodel {
namespace {

constexpr std::size_t kFormSamples = 800;  // enough to fix eight constants
constexpr std::size_t kFineSamples = 4000;
constexpr std::size_t kTableSamples = 48;  // fewer say nothing about neighbours
constexpr std::size_t kStepSamples = 1000;

std::vector<GemmSample> thinned(const std::vector<GemmSample>& samples, std::size_t most) {
  const std::size_t step = std::max<std::size_t>(1, samples.size() / most);
  std::vector<GemmSample> some;
  for (std::size_t i = 0; i < samples.size(); i += step) some.push_back(samples[i]);
  return some;
}

// Beyond these, constants that the samples leave open change no time.
constexpr double kMostNorm = 100, kMostSize = 1e9;

// Constants as free numbers: factors as logarithms, the exponent as a logit.
GemmFit with_parameters(const GemmFit& start, const std::vector<double>& x) {
  GemmFit fit = start;
  fit.flops_per_s *= std::exp(x[0]);
  fit.bytes_per_s *= std::exp(x[1]);
  fit.norm = std::min(1 + std::exp(x[2]), kMostNorm);
  fit.launch_s = std::exp(x[3]);
  fit.occupancy_exponent = 1 / (1 + std::exp(-x[4]));
  fit.k_half = std::min(std::exp(x[5]), kMostSize);
  fit.tile_half = std::min(std::exp(x[6]), kMostSize);
  fit.k_split = std::min(std::exp(x[7]), kMostSize);
  return fit;
}

GemmFit fit_form(const Device& device, Precision precision, const GemmFit& start,
                 const std::vector<GemmSample>& samples) {
  const std::vector<GemmSample> some = thinned(samples, kFormSamples);
  const auto cost = [&](const std::vector<double>& x) {
    const GemmFit fit = with_parameters(start, x);
    double sum = 0;
    for (const GemmSample& sample : some) {
      sum += robust_cost(gemm_form(fit, precision, device.compute_units, sample.m, sample.n, sample.k),
                         sample.seconds);
    }
    return sum;
  };
  std::vector<double> x{0, 0, 0.9, std::log(4e-6), 2, 4, 1.5, std::log(4000.0)};
  x = minimize(cost, x, 0.3, 350);
  for (int restart = 0; restart < 2; ++restart) x = minimize(cost, x, 0.2, 250);
  GemmFit fit = with_parameters(start, x);
  fit.table = {};
  fit.steps = {};
  fit.form_share = 0;
  return fit;
}

constexpr std::array<double, 16> kRows{1,   4,    8,    16,   32,   64,    128,   256,
                                       512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
constexpr std::array<double, 13> kColumns{16,   32,   64,   128,   256,   512,  1024,
                                          2048, 4096, 8192, 16384, 32768, 65536};
constexpr std::array<double, 24> kFineRows{1,    4,    8,    16,   24,   32,    48,    64,
                                           96,   128,  192,  256,  384,  512,   768,   1024,
                                           1536, 2048, 3072, 4096, 8192, 16384, 32768, 65536};
constexpr std::array<double, 19> kFineColumns{16,   32,   64,   128,  256,   512,   768,   1024,  1536, 2048,
                                              3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 65536};

// What cross-validation chooses among.
struct Choice {
  double form_share = 1;  // 1: the form alone; less leaves more to the table
  bool fine = false;      // nodes of the table at half octaves, too
  bool steps = false;     // and what the table leaves over, by decision trees
};

void add_table(const Device& device, Precision precision, const Choice& choice,
               const std::vector<GemmSample>& samples, GemmFit& fit) {
  const double form_share = choice.form_share;
  const auto form_log = [&](double m, double n, double k) {
    return std::log(gemm_form(fit, precision, device.compute_units, m, n, k));
  };
  std::vector<TableSample> table_samples;
  for (const GemmSample& sample : samples) {
    table_samples.push_back({{sample.m, sample.n, sample.k},
                             std::log(sample.seconds) - form_share * form_log(sample.m, sample.n, sample.k)});
  }
  const std::span<const double> rows = choice.fine ? std::span<const double>(kFineRows) : kRows;
  const std::span<const double> columns = choice.fine ? std::span<const double>(kFineColumns) : kColumns;
  const TableShape shape{.axes = {axis_within(rows, table_samples, 0), axis_within(columns, table_samples, 1),
                                  axis_within(columns, table_samples, 2)}};
  const auto prior = [&](const std::array<double, 3>& size) {
    return (1 - form_share) * form_log(size[0], size[1], size[2]);
  };
  MonotoneTable table = fit_table(shape, prior, table_samples);
  fit.table = std::move(table);
  fit.form_share = form_share;
}

void add_steps(const Device& device, Precision precision, const std::vector<GemmSample>& samples,
               GemmFit& fit) {
  std::vector<StepSample> left_over;
  for (const GemmSample& sample : samples) {
    const double table_s = gemm_burst(fit, precision, device.compute_units, sample.m, sample.n, sample.k);
    left_over.push_back({gemm_traits(precision, device.compute_units, sample.m, sample.n, sample.k),
                         std::log(sample.seconds / table_s)});
  }
  fit.steps = fit_gemm_steps(left_over);
}

GemmFit fit_with(const Device& device, Precision precision, const GemmFit& start, const Choice& choice,
                 const std::vector<GemmSample>& samples) {
  GemmFit fit = fit_form(device, precision, start, samples);
  if (choice.form_share < 1) add_table(device, precision, choice, samples, fit);
  if (choice.steps) add_steps(device, precision, samples, fit);
  fit.evidence = Evidence::kCalibrated;
  return fit;
}

std::uint64_t shape_key(const GemmSample& sample) {
  return static_cast<std::uint64_t>(sample.n * 131071 + sample.k);
}
// Neighbours within a quarter octave go together: m and m + 1 would tell each other's time.
std::uint64_t size_key(const GemmSample& sample) {
  return static_cast<std::uint64_t>(std::lround(4 * std::log2(sample.m)));
}

Choice choose(const Device& device, Precision precision, const GemmFit& start,
              const std::vector<GemmSample>& samples) {
  if (samples.size() < kTableSamples) return {};
  constexpr unsigned kSomeFolds = 2;
  // What is more elaborate must earn its place.
  constexpr double kGain = 0.97;
  const std::vector<GemmSample> some = thinned(samples, 5000);
  Choice best_choice;
  double best = INFINITY;
  const auto consider = [&](const Choice& choice, double gain) {
    const auto errors = held_out_errors(
        some, shape_key, [&](const auto& seen) { return fit_with(device, precision, start, choice, seen); },
        [&](const GemmFit& fit, const GemmSample& sample) {
          return gemm_burst(fit, precision, device.compute_units, sample.m, sample.n, sample.k);
        },
        kSomeFolds);
    const double mean = summarize(errors).mean;
    if (errors.empty() || mean >= best * gain) return;
    best = mean;
    best_choice = choice;
  };
  for (const Choice& choice :
       {Choice{1, false}, Choice{0, false}, Choice{0.5, false}, Choice{0, true}, Choice{0.5, true}}) {
    // Nodes that no sample is near cost time and tell nothing.
    if (choice.fine && samples.size() < kFineSamples) continue;
    consider(choice, choice.fine ? kGain : 1);
  }
  if (best_choice.form_share < 1 && samples.size() >= kStepSamples) {
    Choice with_steps = best_choice;
    with_steps.steps = true;
    consider(with_steps, kGain);
  }
  return best_choice;
}

}  // namespace

GemmFit fit_gemm(const Device& device, Precision precision, const GemmFit& start,
                 const std::vector<GemmSample>& samples) {
  return fit_with(device, precision, start, choose(device, precision, start, samples), samples);
}

GemmFit fit_gemm(const Device& device, Precision precision, const GemmFit& start,
                 const std::vector<GemmSample>& samples, const std::vector<GemmSample>& others,
                 const std::vector<std::string>& sources, FitScore& score) {
  const Choice choice = choose(device, precision, start, samples);
  const auto fit_seen = [&](const std::vector<GemmSample>& seen) {
    return fit_with(device, precision, start, choice, seen);
  };
  const auto predict = [&](const GemmFit& fit, const GemmSample& sample) {
    return gemm_burst(fit, precision, device.compute_units, sample.m, sample.n, sample.k);
  };
  score.operation = "gemm";
  score.precision = precision == Precision::kFp8 ? "fp8" : "bf16";
  score.form = choice.form_share == 1 ? "form" : choice.form_share == 0 ? "table" : "table over form^0.5";
  if (choice.fine) score.form = "fine " + score.form;
  if (choice.steps) score.form += ", steps";
  score.samples = samples.size();
  score.by_shape = summarize(held_out_errors(samples, shape_key, fit_seen, predict));
  score.by_size = summarize(held_out_errors(samples, size_key, fit_seen, predict));

  GemmFit fit = fit_seen(samples);
  score.other_sources =
      score_other_sources(others, sources, [&](const GemmSample& sample) { return predict(fit, sample); });
  return fit;
}

}  // namespace trainfront::costmodel
