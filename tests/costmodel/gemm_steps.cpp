#include "costmodel/gemm_steps.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "costmodel/fit_gemm.hpp"
#include "costmodel/fit_gemm_steps.hpp"
#include "costmodel/gemm_form.hpp"
#include "test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

double trait(const GemmTraits& traits, GemmTrait which, std::size_t beyond = 0) {
  return traits[static_cast<std::size_t>(which) + beyond];
}

GemmTree random_tree(std::mt19937& random, const Device& device, int most) {
  GemmTree tree;
  std::uniform_real_distribution<double> log_size(0, 14);
  const auto size = [&] { return std::exp2(log_size(random)); };
  for (GemmQuestion& question : tree.questions) {
    const GemmTraits traits = gemm_traits(Precision::kBf16, device.compute_units, size(), size(), size());
    question.trait = static_cast<GemmTrait>(std::uniform_int_distribution<int>(0, kGemmTraits - 1)(random));
    question.above = trait(traits, question.trait);
  }
  for (std::int16_t& leaf : tree.log_thousandths)
    leaf = static_cast<std::int16_t>(std::uniform_int_distribution<int>(-most, most)(random));
  return tree;
}

// Times of a library that has one kernel up to 16 rows, and another that it takes where tiles of 128 x 256
// fill the device; with noise.
std::vector<GemmSample> times_of_a_library(const Device& device, std::size_t count, double noise,
                                           std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> log_m(0, 13), log_nk(8, 13);
  std::normal_distribution<double> error(0, noise);
  std::vector<GemmSample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    GemmSample sample{.m = std::ceil(std::exp2(log_m(random))),
                      .n = 256 * std::ceil(std::exp2(log_nk(random) - 8)),
                      .k = 256 * std::ceil(std::exp2(log_nk(random) - 8))};
    const double blocks = std::ceil(sample.m / 128) * std::ceil(sample.n / 256);
    const double factor = sample.m <= 16 ? 0.85 : blocks > device.compute_units ? 1 : 1.2;
    sample.seconds =
        factor * std::exp(error(random)) *
        gemm_form(device.profile.bf16, Precision::kBf16, device.compute_units, sample.m, sample.n, sample.k);
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace

TEST_CASE("traits of a product count whole tiles, whole waves and the rows that lack to a multiple") {
  const GemmTraits traits = gemm_traits(Precision::kFp8, 108, 129, 512, 64);
  CHECK(trait(traits, GemmTrait::kOutputs) == 129 * 512);
  CHECK(trait(traits, GemmTrait::kIntensity) == near(129.0 * 512 * 64 / (64 * (129 + 512) + 2 * 129 * 512)));
  CHECK(trait(traits, GemmTrait::kTiles) == 4);  // 128 x 256
  CHECK(trait(traits, GemmTrait::kTiles, 1) == near(108.0 * 128 * 256 / (129 * 512)));
  CHECK(trait(traits, GemmTrait::kTiles, 6) == 24);     // 64 x 64
  CHECK(trait(traits, GemmTrait::kShortOf) == 7);       // to 136
  CHECK(trait(traits, GemmTrait::kShortOf, 4) == 127);  // to 256
}

TEST_CASE("answers choose a tree's leaf, leaves add up, and their sum is bounded") {
  GemmTree tree;
  for (GemmQuestion& question : tree.questions) question = {GemmTrait::kM, 16};
  tree.questions.back() = {GemmTrait::kK, 100};
  tree.log_thousandths[0b000001] = 50;   // few rows, long k
  tree.log_thousandths[0b111110] = -30;  // many rows, short k
  const auto factor = [](const GemmSteps& steps, double m, double k) {
    return step_factor(steps, gemm_traits(Precision::kBf16, 132, m, 1024, k));
  };
  CHECK(factor({}, 8, 128) == 1);
  CHECK(factor({tree}, 8, 128) == near(std::exp(0.05)));
  CHECK(factor({tree}, 16, 100) == 1);
  CHECK(factor({tree, tree}, 17, 100) == near(std::exp(-0.06)));
  CHECK(factor(GemmSteps(50, tree), 8, 128) == kMostStep);
  CHECK(factor(GemmSteps(50, tree), 17, 64) == 1 / kMostStep);
}

TEST_CASE("steps scale a table's time; beyond the table time grows by as much as without them") {
  std::mt19937 random(6);
  Device device = h100_device();
  GemmFit plain = device.profile.bf16;
  plain.table = {.axes = {std::vector<double>{3, 12}, {6, 12}, {6, 12}},
                 .log_values = {-12, -11, -11, -10, -11, -10, -10, -9}};
  std::uniform_real_distribution<double> log_size(2, 15);
  for (int trial = 0; trial < 2000; ++trial) {
    GemmFit stepped = plain;
    for (int tree = 0; tree < 3; ++tree) stepped.steps.push_back(random_tree(random, device, 300));
    std::array<double, 3> size{}, inside{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      size[axis] = std::ceil(std::exp2(log_size(random)));
      inside[axis] = plain.table.clamped(axis, size[axis]);
    }
    const auto seconds = [&](const GemmFit& fit, const std::array<double, 3>& at) {
      return gemm_burst(fit, Precision::kBf16, device.compute_units, at[0], at[1], at[2]);
    };
    const double factor = step_factor(
        stepped.steps, gemm_traits(Precision::kBf16, device.compute_units, inside[0], inside[1], inside[2]));
    REQUIRE(factor >= 1 / kMostStep);
    REQUIRE(factor <= kMostStep);
    CHECK(seconds(stepped, inside) == near(factor * seconds(plain, inside)));
    CHECK(seconds(stepped, size) - seconds(stepped, inside) ==
          near(seconds(plain, size) - seconds(plain, inside)).epsilon(1e-6));
    std::array<double, 3> larger = size;
    const auto axis = static_cast<std::size_t>(trial % 3);
    larger[axis] = std::ceil(std::max(size[axis], plain.table.most(axis)) * 1.5);
    std::array<double, 3> at_edge = size;
    at_edge[axis] = std::max(size[axis], plain.table.most(axis));
    CHECK(seconds(stepped, larger) >= seconds(stepped, at_edge));
  }
}

TEST_CASE("where a library changes its kernel is found, and told of products that were not measured") {
  const Device device = h100_device();
  const GemmFit fit = fit_gemm(device, Precision::kBf16, device.profile.bf16,
                               {.samples = times_of_a_library(device, 1000, 0.02, 8)});
  REQUIRE_FALSE(fit.steps.empty());
  GemmFit table_alone = fit;
  table_alone.steps = {};
  double with_steps = 0, without = 0;
  const std::vector<GemmSample> unseen = times_of_a_library(device, 500, 0, 9);
  for (const GemmSample& sample : unseen) {
    const auto error = [&](const GemmFit& of) {
      return std::abs(gemm_burst(of, Precision::kBf16, device.compute_units, sample.m, sample.n, sample.k) /
                          sample.seconds -
                      1);
    };
    with_steps += error(fit) / 500;
    without += error(table_alone) / 500;
  }
  CHECK(with_steps < 0.025);
  CHECK(without > 1.5 * with_steps);
}

TEST_CASE("samples that are all alike ask no questions") {
  const std::vector<StepSample> same(50, {gemm_traits(Precision::kBf16, 132, 64, 64, 64), 0.1});
  CHECK(fit_gemm_steps(same).empty());
}

}  // namespace trainfront::costmodel
