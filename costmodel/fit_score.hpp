#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace trainfront::costmodel {

// Absolute relative errors of predictions, in per cent.
struct ErrorSummary {
  std::size_t count = 0;
  double mean = 0, median = 0;
  double bias = 0;  // mean of the signed errors
};

// Errors are predicted / measured - 1.
inline ErrorSummary summarize(std::span<const double> errors) {
  if (errors.empty()) return {};
  std::vector<double> sizes;
  ErrorSummary summary{.count = errors.size()};
  const auto count = static_cast<double>(errors.size());
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
    summary.mean += 100 * std::abs(error) / count;
    summary.bias += 100 * error / count;
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  summary.median = 100 * *middle;
  return summary;
}

// How one operation's fit did on what it had not seen.
struct FitScore {
  std::string operation = {}, precision = {};
  std::string form;                  // what cross-validation chose
  bool keeps_earlier_table = false;  // of the profile: what is new stands on what shaped it
  std::size_t samples = 0;
  ErrorSummary by_shape = {}, by_size = {};  // held out whole shapes, and whole sizes
  // Where relatives shape the fit: sizes held out of this device alone, and not of them.
  ErrorSummary by_own_size = {};
  struct OtherSource {
    std::string source;
    double scale = 1;  // measured over predicted, its median
    ErrorSummary after_scale;
  };
  std::vector<OtherSource> other_sources = {};  // not fitted on
};

inline constexpr unsigned kFolds = 5;

// The fold a key belongs to: the same wherever it is computed.
inline unsigned fold_of(std::uint64_t key) {
  key *= 0x9E3779B97F4A7C15u;
  key ^= key >> 29;
  key *= 0xBF58476D1CE4E5B9u;
  key ^= key >> 32;
  return static_cast<unsigned>(key % kFolds);
}

// Errors of each sample when its whole fold was left out: fit(samples), or fit(samples, fold), gives a fit,
// predict(fit, sample) seconds.
template <typename Sample, typename Key, typename Fit, typename Predict>
std::vector<double> held_out_errors(const std::vector<Sample>& samples, Key&& key, Fit&& fit,
                                    Predict&& predict, unsigned folds = kFolds) {
  std::vector<double> errors;
  for (unsigned fold = 0; fold < folds; ++fold) {
    std::vector<Sample> seen, unseen;
    for (const Sample& sample : samples) (fold_of(key(sample)) == fold ? unseen : seen).push_back(sample);
    if (seen.empty() || unseen.empty()) continue;
    const auto fitted = [&] {
      if constexpr (std::is_invocable_v<Fit, const std::vector<Sample>&, unsigned>)
        return fit(seen, fold);
      else
        return fit(seen);
    }();
    for (const Sample& sample : unseen) errors.push_back(predict(fitted, sample) / sample.seconds - 1);
  }
  return errors;
}

// The cost that forms are fitted by: relative errors, of which those above one half hardly count.
inline double robust_cost(double predicted, double measured) {
  const double error = std::abs(std::log(predicted / measured));
  return std::min(error, 0.5) + 0.1 * error;
}

}  // namespace trainfront::costmodel
