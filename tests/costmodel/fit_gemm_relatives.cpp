#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "costmodel/fit_gemm.hpp"
#include "costmodel/gemm_form.hpp"
#include "test_device.hpp"

namespace trainfront::costmodel {
namespace {

// With memory of its own, and the same compute units.
Device sibling() {
  Device device = h100_device();
  device.id = "sibling";
  device.memory_bytes_per_s *= 1.4;
  device.profile = data_sheet_profile(device);
  return device;
}

// What a library's kernels take over the form, on both devices: no form knows of these.
double kernels(double m, double n, double k) {
  return (m <= 32 ? 0.8 : m <= 256 && n <= 2048 ? 1.3 : 1) * (k > 3000 && m > 256 ? 1.15 : 1);
}

using Factor = std::function<double(double m, double n, double k)>;

std::vector<GemmSample> measured_on(const Device& device, const Factor& over_form, std::size_t count,
                                    double most_m, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> log_m(0, std::log2(most_m)), log_nk(8, 13);
  std::normal_distribution<double> noise(0, 0.02);
  std::vector<GemmSample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    GemmSample sample{.m = std::ceil(std::exp2(log_m(random))),
                      .n = 256 * std::ceil(std::exp2(log_nk(random) - 8)),
                      .k = 256 * std::ceil(std::exp2(log_nk(random) - 8))};
    sample.seconds =
        over_form(sample.m, sample.n, sample.k) * std::exp(noise(random)) *
        gemm_form(device.profile.bf16, Precision::kBf16, device.compute_units, sample.m, sample.n, sample.k);
    samples.push_back(sample);
  }
  return samples;
}

GemmFit fit(const GemmMeasurements& measured, FitScore& score) {
  const Device device = h100_device();
  return fit_gemm(device, Precision::kBf16, device.profile.bf16, measured, score);
}

}  // namespace

TEST_CASE("devices with as many compute units of the same peak run the same kernels") {
  Device b200 = h100_device(), gb200 = b200;
  b200.compute_units = 148;
  b200.bf16_flops_per_s = 2250e12;
  gb200.compute_units = 152;
  gb200.bf16_flops_per_s = 2500e12;
  CHECK(runs_same_kernels(b200, gb200));
  CHECK(runs_same_kernels(gb200, b200));
  CHECK(runs_same_kernels(h100_device(), sibling()));
  CHECK_FALSE(runs_same_kernels(h100_device(), a100_device()));
  CHECK_FALSE(runs_same_kernels(h100_device(), b200));
}

TEST_CASE("a relative's products tell where kernels change on a device of which few were measured") {
  const Device device = h100_device();
  GemmMeasurements measured{.samples = measured_on(device, kernels, 150, 8192, 1)};
  FitScore alone, together;
  const GemmFit own = fit(measured, alone);
  measured.relatives = {{sibling(), measured_on(sibling(), kernels, 900, 8192, 2)}};
  const GemmFit pooled = fit(measured, together);
  CHECK(together.form == "table, steps, relatives'");
  CHECK(together.samples == 150);
  CHECK(together.by_own_size.mean < 0.7 * alone.by_size.mean);
  CHECK(together.by_own_size.mean < together.by_size.mean);
  CHECK(together.by_shape.mean < 0.7 * alone.by_shape.mean);
  CHECK(pooled.evidence == Evidence::kCalibrated);
  CHECK(pooled.flops_per_s == own.flops_per_s);  // the form is the device's own

  const auto error = [&](const GemmFit& of) {
    double sum = 0;
    for (const GemmSample& sample : measured_on(device, kernels, 300, 8192, 3)) {
      sum += std::abs(gemm_burst(of, Precision::kBf16, device.compute_units, sample.m, sample.n, sample.k) /
                          sample.seconds -
                      1);
    }
    return sum / 300;
  };
  CHECK(error(pooled) < 0.7 * error(own));
}

TEST_CASE("a table that reaches only as far as the relative's products is interpolated") {
  FitScore score;
  const GemmFit pooled = fit({.samples = measured_on(h100_device(), kernels, 100, 1024, 1),
                              .relatives = {{sibling(), measured_on(sibling(), kernels, 400, 8192, 2)}}},
                             score);
  REQUIRE(score.form == "table, relatives'");
  CHECK(pooled.evidence == Evidence::kInterpolated);
  CHECK(pooled.table.most(0) > 4096);
}

TEST_CASE("a relative whose library takes other kernels is not believed, nor one of which little is known") {
  GemmMeasurements measured{.samples = measured_on(h100_device(), kernels, 300, 8192, 1)};
  FitScore alone;
  const GemmFit own = fit(measured, alone);
  const Factor others = [](double m, double n, double k) {
    return std::fmod(m + n / 256 + k / 512, 3) < 1 ? 1.6 : 0.8;
  };
  for (const auto& relative : {measured_on(sibling(), others, 400, 8192, 2),
                               measured_on(sibling(), kernels, kLeastRelativeSamples - 1, 8192, 2)}) {
    measured.relatives = {{sibling(), relative}};
    FitScore score;
    const GemmFit beside = fit(measured, score);
    CHECK(score.form == alone.form);
    CHECK(score.by_own_size.count == 0);
    CHECK(score.by_size.mean == alone.by_size.mean);
    CHECK(beside.table == own.table);
  }
}

}  // namespace trainfront::costmodel
