#include "costmodel/fit_gemm_steps.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <vector>

namespace trainfront::costmodel {
namespace {

// Chosen by cross-validation on the tables of A100 and B200 (aiconfigurator, 095f58a): half as many trees
// miss held-out sizes by 0.1 points more, trees of five questions by 0.1.
constexpr int kTrees = 200;
constexpr double kShare = 0.4;  // of what is left over that a tree takes
constexpr double kPull = 3;     // samples' worth of zero in each leaf
constexpr double kOutlier = 0.08;
constexpr std::size_t kBins = 64;  // of a trait's values, as many samples in each
constexpr std::size_t kLeaves = std::size_t{1} << kStepDepth;

struct Trait {
  std::vector<double> bounds;     // between bins
  std::vector<std::uint8_t> bin;  // of each sample
};

double in_seven_digits(double value) {
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 7);
  double rounded = value;
  if (error == std::errc{}) std::from_chars(text.data(), end, rounded);
  return rounded;
}

// Halfway, on the scale that sizes are on; short to write where that tells them apart.
double between(double low, double high) {
  const double middle = low > 0 ? std::sqrt(low * high) : (low + high) / 2;
  const double rounded = in_seven_digits(middle);
  return low <= rounded && rounded < high ? rounded : middle;
}

Trait binned(std::span<const StepSample> samples, std::size_t index) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const StepSample& sample : samples) values.push_back(sample.traits[index]);
  std::sort(values.begin(), values.end());
  std::vector<double> distinct = values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());

  Trait trait;
  const auto add_bound_above = [&](double value) {
    const auto next = std::upper_bound(distinct.begin(), distinct.end(), value);
    if (next == distinct.end()) return;
    const double bound = between(value, *next);
    if (trait.bounds.empty() || bound > trait.bounds.back()) trait.bounds.push_back(bound);
  };
  if (distinct.size() <= kBins) {
    for (const double value : distinct) add_bound_above(value);
  } else {
    for (std::size_t i = 1; i < kBins; ++i) add_bound_above(values[i * values.size() / kBins]);
  }
  for (const StepSample& sample : samples) {
    trait.bin.push_back(static_cast<std::uint8_t>(
        std::lower_bound(trait.bounds.begin(), trait.bounds.end(), sample.traits[index]) -
        trait.bounds.begin()));
  }
  return trait;
}

struct Sum {
  double value = 0, count = 0;

  Sum& operator+=(const Sum& other) {
    value += other.value;
    count += other.count;
    return *this;
  }
  // By how much a leaf of these samples lowers the sum of squares.
  double gain() const { return value * value / (count + kPull); }
};

struct Split {
  double gain = -1;
  std::size_t trait = 0, bin = 0;
};

// The question that lowers the squares most when every leaf so far asks it.
Split best_split(const std::vector<Trait>& traits, const std::vector<Sum>& left_over,
                 const std::vector<std::uint8_t>& leaf, std::size_t leaves) {
  Split best;
  std::vector<Sum> sums;
  std::vector<double> gains;
  for (std::size_t t = 0; t < traits.size(); ++t) {
    const std::size_t bins = traits[t].bounds.size() + 1;
    sums.assign(leaves * bins, {});
    gains.assign(bins - 1, 0);
    for (std::size_t i = 0; i < left_over.size(); ++i)
      sums[leaf[i] * bins + traits[t].bin[i]] += left_over[i];
    for (std::size_t l = 0; l < leaves; ++l) {
      const std::span<const Sum> of_leaf(sums.data() + l * bins, bins);
      Sum all, below;
      for (const Sum& sum : of_leaf) all += sum;
      for (std::size_t bin = 0; bin + 1 < bins; ++bin) {
        below += of_leaf[bin];
        gains[bin] += below.gain() + Sum{all.value - below.value, all.count - below.count}.gain();
      }
    }
    for (std::size_t bin = 0; bin + 1 < bins; ++bin)
      if (gains[bin] > best.gain) best = {gains[bin], t, bin};
  }
  return best;
}

}  // namespace

GemmSteps fit_gemm_steps(std::span<const StepSample> samples) {
  std::vector<Trait> traits;
  for (std::size_t t = 0; t < kGemmTraits; ++t) traits.push_back(binned(samples, t));
  std::vector<double> left_over;
  for (const StepSample& sample : samples) left_over.push_back(sample.log_factor);

  GemmSteps steps;
  std::vector<Sum> clipped(samples.size());
  std::vector<std::uint8_t> leaf(samples.size());
  while (steps.size() < kTrees) {
    for (std::size_t i = 0; i < samples.size(); ++i)
      clipped[i] = {samples[i].weight * std::clamp(left_over[i], -kOutlier, kOutlier), samples[i].weight};
    std::fill(leaf.begin(), leaf.end(), std::uint8_t{0});
    GemmTree tree;
    for (std::size_t level = 0; level < kStepDepth; ++level) {
      const Split split = best_split(traits, clipped, leaf, std::size_t{1} << level);
      if (split.gain < 0) return steps;  // all samples are alike
      const Trait& trait = traits[split.trait];
      tree.questions[level] = {static_cast<GemmTrait>(split.trait), trait.bounds[split.bin]};
      for (std::size_t i = 0; i < samples.size(); ++i)
        leaf[i] = static_cast<std::uint8_t>(2 * leaf[i] + (trait.bin[i] > split.bin ? 1 : 0));
    }
    std::array<Sum, kLeaves> sums{};
    for (std::size_t i = 0; i < samples.size(); ++i) sums[leaf[i]] += clipped[i];
    // Rounded here, so that later trees make up for it.
    for (std::size_t l = 0; l < kLeaves; ++l) {
      tree.log_thousandths[l] =
          static_cast<std::int16_t>(std::lround(1000 * kShare * sums[l].value / (sums[l].count + kPull)));
    }
    for (std::size_t i = 0; i < samples.size(); ++i) left_over[i] -= 1e-3 * tree.log_thousandths[leaf[i]];
    steps.push_back(tree);
  }
  return steps;
}

}  // namespace trainfront::costmodel
