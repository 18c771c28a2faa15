#include "costmodel/monotone_table.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "costmodel/collective_time.hpp"
#include "costmodel/kernel_time.hpp"
#include "test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

// Node values that rise along every axis by random steps.
MonotoneTable random_table(std::mt19937& random, std::array<std::vector<double>, 3> axes) {
  MonotoneTable table{.axes = std::move(axes), .log_values = {}};
  const std::size_t columns = table.axes[2].size(), rows = table.axes[1].size();
  for (std::size_t i = 0; i < table.axes[0].size() * rows * columns; ++i) {
    double floor = -12;
    if (i % columns > 0) floor = std::max(floor, table.log_values[i - 1]);
    if (i / columns % rows > 0) floor = std::max(floor, table.log_values[i - columns]);
    if (i / columns / rows > 0) floor = std::max(floor, table.log_values[i - columns * rows]);
    table.log_values.push_back(floor + std::uniform_real_distribution(0.0, 0.4)(random));
  }
  return table;
}

}  // namespace

TEST_CASE("a table gives its nodes exactly, geometric means between them, and its edge beyond") {
  const MonotoneTable table{.axes = {std::vector<double>{10, 12}, {0}, {0}},
                            .log_values = {std::log(2.0), std::log(8.0)}};
  CHECK(table.at(1024) == near(2));
  CHECK(table.at(4096) == near(8));
  CHECK(table.at(2048) == near(4));
  CHECK(table.at(1) == near(2));
  CHECK(table.at(1e9) == near(8));
  CHECK(table.covers(1024));
  CHECK(!table.covers(4097));
}

TEST_CASE("what was measured at one size alone covers that size alone") {
  const MonotoneTable eight_ranks{.axes = {std::vector<double>{3}, {10, 12}, {0}}, .log_values = {-9, -8}};
  CHECK(eight_ranks.covers(8, 2048));
  CHECK(!eight_ranks.covers(4, 2048));
  CHECK(!eight_ranks.covers(16, 2048));
  CHECK(eight_ranks.clamped(0, 4) == 8);
  CHECK(eight_ranks.clamped(2, 4) == 4);
}

TEST_CASE("a table of eight ranks tells of two and of thirty-two what the form makes of it") {
  Hardware cluster = h100_cluster();
  cluster.domain_gpus = 72;
  const auto seconds = [&](double bytes, int ranks) {
    return collective_time(cluster, Collective::kAllGather, bytes, {ranks, 1, ranks}).seconds;
  };
  // All that was measured takes 1.3 times as long as the form has it.
  MonotoneTable table{.axes = {std::vector<double>{3}, {10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32}, {0}},
                      .log_values = {}};
  for (const double log_bytes : table.axes[1])
    table.log_values.push_back(std::log(1.3 * seconds(std::exp2(log_bytes), 8)));
  std::vector<std::array<double, 3>> expected;
  for (double bytes = 1024; bytes < 1e10; bytes *= 16)
    expected.push_back({1.3 * seconds(bytes, 2), 1.3 * seconds(bytes, 8), 1.3 * seconds(bytes, 32)});
  LinkFit& fit = cluster.device.profile.link[static_cast<std::size_t>(Collective::kAllGather)];
  fit.table = table;
  fit.evidence = Evidence::kCalibrated;
  double bytes = 1024;
  for (const auto& [two, eight, many] : expected) {
    CHECK(seconds(bytes, 2) == near(two).epsilon(0.04));
    CHECK(seconds(bytes, 8) == near(eight).epsilon(0.03));
    CHECK(seconds(bytes, 32) == near(many).epsilon(0.04));
    bytes *= 16;
  }
  CHECK(collective_time(cluster, Collective::kAllGather, 1e8, {2, 1, 2}).evidence == Evidence::kExtrapolated);
}

TEST_CASE(
    "attention that was measured with heads of one size takes less with smaller, more with larger ones") {
  Device device = h100_device();
  const auto seconds = [&](double head_dim) {
    return attention_forward_time(device, {.batch = 8,
                                           .queries = 4096,
                                           .keys = 4096,
                                           .heads = 32,
                                           .kv_heads = 8,
                                           .qk_dim = head_dim,
                                           .value_dim = head_dim});
  };
  device.profile.attention.evidence = Evidence::kCalibrated;
  const double form_128 = seconds(128).seconds, form_64 = seconds(64).seconds,
               form_256 = seconds(256).seconds;
  device.profile.attention.table = {
      .axes = {std::vector<double>{4, 16}, {0, 14}, {7}},
      .log_values = {std::log(form_128), std::log(form_128), std::log(form_128), std::log(form_128)}};
  CHECK(seconds(128).seconds == near(form_128));
  CHECK(seconds(64).seconds == near(form_64).epsilon(0.03));
  CHECK(seconds(256).seconds == near(form_256).epsilon(0.07));
  CHECK(seconds(64).evidence == Evidence::kExtrapolated);
}

TEST_CASE("a GEMM table keeps time rising with every size, within the table and beyond it") {
  std::mt19937 random(3);
  Device device = h100_device();
  for (const double share : {0.0, 0.5}) {
    device.profile.bf16.table =
        random_table(random, {std::vector<double>{3, 6, 9, 12}, {6, 8, 12}, {5, 9, 13}});
    device.profile.bf16.form_share = share;
    std::uniform_real_distribution<double> log_size(0, 17);
    for (int trial = 0; trial < 20000; ++trial) {
      double size[3] = {std::ceil(std::exp2(log_size(random))), std::ceil(std::exp2(log_size(random))),
                        std::ceil(std::exp2(log_size(random)))};
      const Timed before = gemm_time(device, Precision::kBf16, size[0], size[1], size[2]);
      size[trial % 3] += std::ceil(std::exp2(log_size(random)));
      const Timed after = gemm_time(device, Precision::kBf16, size[0], size[1], size[2]);
      REQUIRE(std::isfinite(after.seconds));
      CHECK(after.seconds >= before.seconds * (1 - 1e-12));
    }
  }
}

TEST_CASE("a time outside its table is extrapolated, and says so") {
  std::mt19937 random(4);
  Device device = h100_device();
  device.profile.bf16.table = random_table(random, {std::vector<double>{3, 12}, {6, 12}, {6, 12}});
  device.profile.bf16.evidence = Evidence::kCalibrated;
  CHECK(gemm_time(device, Precision::kBf16, 4096, 4096, 4096).evidence == Evidence::kCalibrated);
  CHECK(gemm_time(device, Precision::kBf16, 8192, 4096, 4096).evidence == Evidence::kExtrapolated);
}

TEST_CASE("attention and collectives with tables rise with their sizes") {
  std::mt19937 random(5);
  Device device = h100_device();
  device.profile.attention.table =
      random_table(random, {std::vector<double>{4, 8, 12}, {2, 6, 10}, {6, 7, 8}});
  std::uniform_real_distribution<double> log_size(0, 16);
  for (int trial = 0; trial < 10000; ++trial) {
    const double sequence = std::exp2(log_size(random));
    AttentionShape shape{.batch = std::exp2(log_size(random) / 2),
                         .queries = sequence,
                         .keys = sequence,
                         .heads = 8,
                         .kv_heads = 8,
                         .qk_dim = 128,
                         .value_dim = 128};
    const double before = attention_forward_time(device, shape).seconds;
    if (trial % 3 == 0) shape.batch *= 1.7;
    if (trial % 3 == 1) shape.queries = shape.keys = sequence + std::exp2(log_size(random));
    if (trial % 3 == 2) shape.qk_dim += 40;
    CHECK(attention_forward_time(device, shape).seconds >= before * (1 - 1e-12));
  }
  Hardware cluster = h100_cluster();
  cluster.device.profile.link[static_cast<std::size_t>(Collective::kAllGather)].table =
      random_table(random, {std::vector<double>{2, 3}, {10, 15, 20, 25}, {0}});
  for (const int ranks : {2, 4, 6, 8, 64}) {
    double before = 0;
    for (double bytes = 1; bytes < 1e11; bytes *= 1.1) {
      const double seconds =
          collective_time(cluster, Collective::kAllGather, bytes, {ranks, 1, ranks}).seconds;
      CHECK(seconds >= before * (1 - 1e-12));
      before = seconds;
    }
  }
}

}  // namespace trainfront::costmodel
