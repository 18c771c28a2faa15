#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "costmodel/fit_gemm.hpp"
#include "costmodel/gemm_form.hpp"
#include "test_device.hpp"
#include "tests/near.hpp"
#include "tests/sanitized.hpp"

namespace trainfront::costmodel {
namespace {

// With memory of its own, and the same compute units.
Device sibling() {
  Device device = h100_device();
  device.id = "h200-sibling";
  device.memory_bytes_per_s *= 1.4;
  device.profile = data_sheet_profile(device);
  return device;
}

// What a library's kernels take over the form, on both devices: no form knows of these.
double kernels(double m, double n, double k) {
  return (m <= 32 ? 0.8 : m <= 256 && n <= 1024 ? 1.3 : 1) * (k > 700 && m > 256 ? 1.15 : 1);
}

using Factor = std::function<double(double m, double n, double k)>;

// Up to most_m x 2048 x 2048; the least and the largest are measured.
std::vector<GemmSample> measured_on(const Device& device, const Factor& over_form, std::size_t count,
                                    double most_m, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> log_m(0, std::log2(most_m)), log_nk(8, 11);
  std::normal_distribution<double> noise(0, 0.02);
  std::vector<GemmSample> samples{{.m = 1, .n = 256, .k = 256}, {.m = most_m, .n = 2048, .k = 2048}};
  while (samples.size() < count) {
    samples.push_back({.m = std::ceil(std::exp2(log_m(random))),
                       .n = 256 * std::ceil(std::exp2(log_nk(random) - 8)),
                       .k = 256 * std::ceil(std::exp2(log_nk(random) - 8))});
  }
  for (GemmSample& sample : samples) {
    sample.seconds =
        over_form(sample.m, sample.n, sample.k) * std::exp(noise(random)) *
        gemm_form(device.profile.bf16, Precision::kBf16, device.compute_units, sample.m, sample.n, sample.k);
  }
  return samples;
}

GemmFit fit(const GemmMeasurements& measured) {
  const Device device = h100_device();
  return fit_gemm(device, Precision::kBf16, device.profile.bf16, measured);
}

double mean_error(const GemmFit& fit) {
  const Device device = h100_device();
  double sum = 0;
  for (const GemmSample& sample : measured_on(device, kernels, 300, 8192, 3)) {
    sum += std::abs(gemm_burst(fit, Precision::kBf16, device.compute_units, sample.m, sample.n, sample.k) /
                        sample.seconds -
                    1);
  }
  return sum / 300;
}

}  // namespace

TEST_CASE("devices of one family with as many compute units of the same peak run the same kernels") {
  Device b200 = h100_device(), gb200 = b200;
  b200.id = "b200";
  b200.compute_units = 148;
  b200.bf16_flops_per_s = 2250e12;
  gb200.id = "gb200";
  gb200.compute_units = 152;
  gb200.bf16_flops_per_s = 2500e12;
  CHECK(runs_same_kernels(b200, gb200));
  CHECK(runs_same_kernels(gb200, b200));
  CHECK(runs_same_kernels(h100_device(), sibling()));
  CHECK_FALSE(runs_same_kernels(h100_device(), a100_device()));
  CHECK_FALSE(runs_same_kernels(h100_device(), b200));
}

TEST_CASE("devices of two families run other kernels, however alike their data sheets are") {
  Device h20 = h100_device(), v100 = h20;
  h20.id = "h20-sxm";
  h20.compute_units = 78;
  h20.bf16_flops_per_s = 148e12;
  v100.id = "v100-sxm2";
  v100.compute_units = 80;
  v100.bf16_flops_per_s = 125e12;
  CHECK_FALSE(runs_same_kernels(h20, v100));
  v100.id = "h20-other";
  CHECK(runs_same_kernels(h20, v100));
  v100.id = h20.id = "own";  // of which nothing is known
  CHECK_FALSE(runs_same_kernels(h20, v100));
}

TEST_CASE("devices run the same fp8 kernels where both have fp8 units of about the same peak") {
  const Device device = h100_device();
  Device other = sibling();
  CHECK(runs_same_kernels(device, other, Precision::kFp8));
  other.fp8_flops_per_s *= 1.3;
  CHECK(runs_same_kernels(device, other));
  CHECK_FALSE(runs_same_kernels(device, other, Precision::kFp8));
  other.fp8_flops_per_s = 0;
  CHECK_FALSE(runs_same_kernels(device, other, Precision::kFp8));
  CHECK_FALSE(runs_same_kernels(other, other, Precision::kFp8));
}

TEST_CASE("a relative's products tell where kernels change on a device of which few were measured") {
  const Device device = h100_device();
  GemmMeasurements measured{.samples = measured_on(device, kernels, 120, 8192, 1)};
  const GemmFit alone = fit(measured);
  measured.relatives = {{sibling(), measured_on(sibling(), kernels, 900, 8192, 2)}};
  FitScore score;
  const GemmFit together =
      kSanitized ? fit(measured) : fit_gemm(device, Precision::kBf16, device.profile.bf16, measured, score);
  if (!kSanitized) {
    CHECK(score.form.ends_with("steps, relatives'"));
    CHECK(score.samples == 120);
    CHECK(score.by_own_size.mean < score.by_size.mean);
    CHECK(score.by_shape.mean < 5);
  }
  CHECK_FALSE(together.steps.empty());
  CHECK(mean_error(together) < 0.7 * mean_error(alone));
  CHECK(together.evidence == Evidence::kCalibrated);
  CHECK(together.flops_per_s == alone.flops_per_s);  // the form is the device's own
}

TEST_CASE("a table that reaches only as far as the relative's products is interpolated") {
  const GemmFit together = fit({.samples = measured_on(h100_device(), kernels, 100, 1024, 1),
                                .relatives = {{sibling(), measured_on(sibling(), kernels, 400, 8192, 2)}}});
  CHECK(together.evidence == Evidence::kInterpolated);
  REQUIRE_FALSE(together.table.empty());
  CHECK(together.table.most(0) == near(8192));
}

TEST_CASE("a table that a few of the device's own products only span is interpolated") {
  const GemmFit together =
      fit({.samples = measured_on(h100_device(), kernels, kLeastRelativeSamples - 8, 8192, 1),
           .relatives = {{sibling(), measured_on(sibling(), kernels, 200, 8192, 2)}}});
  REQUIRE_FALSE(together.table.empty());
  CHECK(together.evidence == Evidence::kInterpolated);
}

TEST_CASE("relatives that tell of held-out shapes and mislead at sizes that they lack too are not taken") {
  // Each quarter octave of m has an oddity, which is larger on the relative.
  const auto oddities = [](double swing) {
    return [=](double m, double, double) {
      const double folded = std::sin(12.9898 * std::round(4 * std::log2(m))) * 43758.5453;
      return 1 + swing * (folded - std::floor(folded) - 0.5);
    };
  };
  GemmMeasurements measured{.samples = measured_on(h100_device(), oddities(0.2), 120, 8192, 1)};
  measured.relatives = {{sibling(), measured_on(sibling(), oddities(0.35), 900, 8192, 2)}};
  CHECK(fit(measured).steps.empty());
}

TEST_CASE("no choice is taken of which the held-out error is no number") {
  GemmMeasurements measured{.samples = measured_on(h100_device(), kernels, 100, 8192, 1)};
  for (GemmSample& sample : measured.samples) sample.seconds = NAN;
  CHECK(fit(measured).table.empty());
}

TEST_CASE("a relative whose library takes other kernels is not believed, nor one of which little is known") {
  GemmMeasurements measured{.samples = measured_on(h100_device(), kernels, 200, 8192, 1)};
  const GemmFit alone = fit(measured);
  const Factor others = [](double m, double n, double k) {
    return std::fmod(m + n / 256 + k / 512, 3) < 1 ? 1.6 : 0.8;
  };
  for (const auto& relative : {measured_on(sibling(), others, 300, 8192, 2),
                               measured_on(sibling(), kernels, kLeastRelativeSamples - 1, 8192, 2)}) {
    measured.relatives = {{sibling(), relative}};
    const GemmFit beside = fit(measured);
    CHECK(beside.table == alone.table);
    CHECK(beside.steps.empty());
  }
}

}  // namespace trainfront::costmodel
