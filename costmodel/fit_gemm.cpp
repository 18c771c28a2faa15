#include "costmodel/fit_gemm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "costmodel/device_family.hpp"
#include "costmodel/fit_gemm_pool.hpp"
#include "costmodel/fit_other_sources.hpp"
#include "costmodel/gemm_form.hpp"

namespace trainfront::costmodel {
namespace {

std::uint64_t shape_key(const GemmSample& sample) {
  return static_cast<std::uint64_t>(sample.n * 131071 + sample.k);
}
// Neighbours within a quarter octave go together: m and m + 1 would tell each other's time.
std::uint64_t size_key(const GemmSample& sample) {
  return static_cast<std::uint64_t>(std::lround(4 * std::log2(sample.m)));
}

using Lenders = std::vector<GemmLender>;

Lenders lenders_of(const std::vector<GemmRelative>& relatives, Precision precision,
                   const GemmChoice& choice) {
  Lenders lenders;
  for (const GemmRelative& relative : relatives) {
    if (relative.samples.size() >= kLeastRelativeSamples)
      lenders.push_back(lender_of(relative, precision, choice));
  }
  return lenders;
}

// The errors where the relatives' samples of a size are left out with the device's own.
std::vector<double> errors_by_lone_size(const Device& device, Precision precision, const GemmFit& start,
                                        const std::vector<GemmSample>& samples,
                                        const std::vector<GemmRelative>& lending, const GemmChoice& choice,
                                        unsigned folds = kFolds) {
  const auto fit_seen = [&](const std::vector<GemmSample>& seen, unsigned fold) {
    std::vector<GemmRelative> relatives = choice.relatives ? lending : std::vector<GemmRelative>{};
    for (GemmRelative& relative : relatives) {
      std::erase_if(relative.samples,
                    [&](const GemmSample& sample) { return fold_of(size_key(sample)) == fold; });
    }
    return fit_gemm_chosen(device, precision, start, choice, seen, lenders_of(relatives, precision, choice));
  };
  return held_out_errors(
      samples, size_key, fit_seen,
      [&](const GemmFit& fit, const GemmSample& sample) {
        return gemm_burst(fit, precision, device.compute_units, sample.m, sample.n, sample.k);
      },
      folds);
}

struct Chosen {
  GemmChoice choice = {};
  Lenders lenders = {};  // if they help
};

Chosen choose(const Device& device, Precision precision, const GemmFit& start,
              const GemmMeasurements& measured) {
  constexpr unsigned kSomeFolds = 2;
  // What is more elaborate must earn its place.
  constexpr double kGain = 0.97;
  const std::size_t count = measured.samples.size();
  const std::vector<GemmSample> some = thinned(measured.samples, 5000);
  Chosen best;
  double least_error = INFINITY;
  const auto by_shape = [&](const GemmChoice& choice, const Lenders& lenders) {
    return held_out_errors(
        some, shape_key,
        [&](const auto& seen) { return fit_gemm_chosen(device, precision, start, choice, seen, lenders); },
        [&](const GemmFit& fit, const GemmSample& sample) {
          return gemm_burst(fit, precision, device.compute_units, sample.m, sample.n, sample.k);
        },
        kSomeFolds);
  };
  const auto consider = [&](const GemmChoice& choice, double gain) {
    const std::vector<double> errors = by_shape(choice, {});
    const double mean = summarize(errors).mean;
    // Nor where the mean is no number.
    if (errors.empty() || !(mean < least_error * gain)) return;
    least_error = mean;
    best.choice = choice;
  };
  for (const GemmChoice& choice : {GemmChoice{1, false}, GemmChoice{0, false}, GemmChoice{0.5, false},
                                   GemmChoice{0, true}, GemmChoice{0.5, true}}) {
    if (choice.form_share < 1 && count < kTableGemmSamples) continue;
    // Nodes that no sample is near cost time and tell nothing.
    if (choice.fine && count < kFineGemmSamples) continue;
    consider(choice, choice.fine ? kGain : 1);
  }
  if (best.choice.form_share < 1 && count >= kStepGemmSamples) {
    GemmChoice with_steps = best.choice;
    with_steps.steps = true;
    consider(with_steps, kGain);
  }
  GemmChoice with_relatives = best.choice;
  if (with_relatives.form_share == 1) with_relatives.form_share = 0;
  with_relatives.relatives = true;
  Lenders lenders = lenders_of(measured.relatives, precision, with_relatives);
  if (lenders.empty()) return best;
  std::size_t pooled = count;
  for (const GemmLender& lender : lenders) pooled += lender.relative->samples.size();
  with_relatives.steps = pooled >= kStepGemmSamples;

  // Of a shape that is held out relatives tell; both that and what nobody measured may be asked of the table.
  const auto with_sizes = [&](double shape_error, const GemmChoice& choice) {
    const std::vector<double> errors =
        errors_by_lone_size(device, precision, start, some, measured.relatives, choice, kSomeFolds);
    return (shape_error + summarize(errors).mean) / 2;
  };
  const double alone = with_sizes(least_error, best.choice);
  const double together = with_sizes(summarize(by_shape(with_relatives, lenders)).mean, with_relatives);
  if (together < kGain * alone) best = {with_relatives, std::move(lenders)};
  return best;
}

std::string form_name(const GemmChoice& choice) {
  std::string name = choice.form_share == 1   ? "form"
                     : choice.form_share == 0 ? "table"
                                              : "table over form^0.5";
  if (choice.fine) name = "fine " + name;
  if (choice.steps) name += ", steps";
  if (choice.relatives) name += ", relatives'";
  return name;
}

}  // namespace

bool runs_same_kernels(const Device& device, const Device& other, Precision precision) {
  const auto alike = [](double a, double b, double apart) { return a <= b * apart && b <= a * apart; };
  constexpr double kUnitsApart = 1.05, kPeakApart = 1.2;
  const double peak = dense_peak_flops_per_s(device, precision);
  return same_family(device, other) && alike(device.compute_units, other.compute_units, kUnitsApart) &&
         peak > 0 && alike(peak, dense_peak_flops_per_s(other, precision), kPeakApart);
}

GemmFit fit_gemm(const Device& device, Precision precision, const GemmFit& start,
                 const GemmMeasurements& measured) {
  const Chosen chosen = choose(device, precision, start, measured);
  return fit_gemm_chosen(device, precision, start, chosen.choice, measured.samples, chosen.lenders);
}

GemmFit fit_gemm(const Device& device, Precision precision, const GemmFit& start,
                 const GemmMeasurements& measured, FitScore& score) {
  const Chosen chosen = choose(device, precision, start, measured);
  const GemmChoice& choice = chosen.choice;
  const auto fit_seen = [&](const std::vector<GemmSample>& seen) {
    return fit_gemm_chosen(device, precision, start, choice, seen, chosen.lenders);
  };
  const auto predict = [&](const GemmFit& fit, const GemmSample& sample) {
    return gemm_burst(fit, precision, device.compute_units, sample.m, sample.n, sample.k);
  };
  score.operation = "gemm";
  score.precision = precision == Precision::kFp8 ? "fp8" : "bf16";
  score.form = form_name(choice);
  score.samples = measured.samples.size();
  score.by_shape = summarize(held_out_errors(measured.samples, shape_key, fit_seen, predict));
  score.by_size = summarize(held_out_errors(measured.samples, size_key, fit_seen, predict));
  if (choice.relatives) {
    score.by_own_size = score.by_size;
    score.by_size = summarize(
        errors_by_lone_size(device, precision, start, measured.samples, measured.relatives, choice));
  }

  GemmFit fit = fit_seen(measured.samples);
  score.other_sources = score_other_sources(measured.others, measured.sources,
                                            [&](const GemmSample& sample) { return predict(fit, sample); });
  return fit;
}

}  // namespace trainfront::costmodel
