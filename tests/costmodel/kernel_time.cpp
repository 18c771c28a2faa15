#include "costmodel/kernel_time.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

bool is_time(double seconds) {
  return std::isfinite(seconds) && seconds >= 0;
}

// A size between 1 and `most`, on a logarithmic scale, often just beside a multiple of a tile.
double random_size(std::mt19937& random, double most) {
  const double size = std::exp(std::uniform_real_distribution(0.0, std::log(most))(random));
  const double edge = std::uniform_int_distribution(0, 2)(random) - 1;
  return std::bernoulli_distribution(0.5)(random) ? std::max(1.0, std::ceil(size / 64) * 64 + edge)
                                                  : std::ceil(size);
}

}  // namespace

TEST_CASE("Blackwell Ultra has half the softmax of Blackwell, and keeps its clock by its greater power") {
  const auto device = [](const char* id, double power_w) {
    Device result{.id = id,
                  .bf16_flops_per_s = 2500e12,
                  .fp8_flops_per_s = 5000e12,
                  .memory_bytes = 192e9,
                  .memory_bytes_per_s = 8e12,
                  .link_bytes_per_s = 900e9,
                  .compute_units = 152,
                  .power_w = power_w,
                  .profile = {}};
    result.profile = data_sheet_profile(result);
    return result;
  };
  const AttentionShape shape{.batch = 64,
                             .queries = 65536,
                             .keys = 65536,
                             .heads = 32,
                             .kv_heads = 32,
                             .qk_dim = 128,
                             .value_dim = 128};
  const double plain_s = attention_forward_time(device("gb200", 1200), shape).seconds;
  // At a head size of 128 (128 + 87.4) / (128 + 43.7) times as fast.
  CHECK(plain_s / attention_forward_time(device("gb300", 1400), shape).seconds ==
        near(1.2545).epsilon(0.004));
  const auto slowdown = [&](const char* id, double power_w) {
    return device(id, power_w).profile.fp8.sustained_slowdown;
  };
  CHECK(slowdown("b200", 1000) == near(1.08));
  CHECK(slowdown("gb200", 1200) == near(1.08));
  CHECK(slowdown("b300", 1100) == near(1.08 / std::sqrt(1.1)));
  CHECK(slowdown("gb300", 1400) == 1);
  CHECK(slowdown("gb300", 1200) == near(1.08));
}

TEST_CASE("a large GEMM runs at the profile's rate, slowed to the sustained clock") {
  const Device device = h100_device();
  const double seconds = gemm_time(device, Precision::kBf16, 8192, 8192, 8192).seconds;
  const double rate = 2 * std::pow(8192.0, 3) / seconds;
  CHECK(rate < device.profile.bf16.flops_per_s / device.profile.bf16.sustained_slowdown);
  CHECK(rate > 0.9 * device.profile.bf16.flops_per_s / device.profile.bf16.sustained_slowdown);
  CHECK(gemm_time(device, Precision::kFp8, 8192, 8192, 8192).seconds < seconds / 1.6);
}

TEST_CASE("a matrix-vector product is bound by reading the matrix") {
  const Device device = h100_device();
  const double read_s = 2.0 * 16384 * 16384 / device.profile.bf16.bytes_per_s;
  const double seconds = gemm_time(device, Precision::kBf16, 1, 16384, 16384).seconds;
  CHECK(seconds > read_s);
  CHECK(seconds < 1.2 * read_s);
}

TEST_CASE("GEMM time never falls when a size grows") {
  std::mt19937 random(7);
  for (const Device& device : {h100_device(), a100_device()}) {
    for (int trial = 0; trial < 20000; ++trial) {
      double size[3] = {random_size(random, 1e5), random_size(random, 1e5), random_size(random, 1e5)};
      const double before = gemm_time(device, Precision::kBf16, size[0], size[1], size[2]).seconds;
      size[trial % 3] += random_size(random, 1e4);
      const double after = gemm_time(device, Precision::kBf16, size[0], size[1], size[2]).seconds;
      REQUIRE(is_time(before));
      CHECK(after >= before * (1 - 1e-12));
    }
  }
}

TEST_CASE("grouped GEMM time never falls when a size or the number of experts grows") {
  std::mt19937 random(8);
  const Device device = h100_device();
  for (int trial = 0; trial < 20000; ++trial) {
    double size[3] = {random_size(random, 1e5), random_size(random, 1e5), random_size(random, 1e5)};
    int experts = 1 + trial % 256;
    const double before =
        grouped_gemm_time(device, Precision::kBf16, experts, size[0], size[1], size[2]).seconds;
    trial % 4 == 3 ? static_cast<void>(++experts)
                   : static_cast<void>(size[trial % 4] += random_size(random, 1e4));
    const double after =
        grouped_gemm_time(device, Precision::kBf16, experts, size[0], size[1], size[2]).seconds;
    REQUIRE(is_time(before));
    CHECK(after >= before * (1 - 1e-12));
  }
}

TEST_CASE("a product of a few large groups is hardly faster than a plain one of as many tokens") {
  Device device = h100_device();
  device.profile.grouped_bf16.flops_per_s = 4 * device.profile.bf16.flops_per_s;
  const double grouped = grouped_gemm_time(device, Precision::kBf16, 2, 32768, 5760, 2880).seconds;
  const double plain = gemm_time(device, Precision::kBf16, 65536, 5760, 2880).seconds;
  CHECK(grouped > plain / 1.25);
  CHECK(grouped < plain);
}

TEST_CASE("a causal mask halves long attention, and a window makes it linear in the sequence") {
  const Device device = h100_device();
  AttentionShape shape{.batch = 1,
                       .queries = 65536,
                       .keys = 65536,
                       .heads = 32,
                       .kv_heads = 8,
                       .qk_dim = 128,
                       .value_dim = 128,
                       .causal = true,
                       .window = 0};
  const double causal = attention_forward_time(device, shape).seconds;
  AttentionShape full = shape;
  full.causal = false;
  CHECK(attention_forward_time(device, full).seconds == near(2 * causal).epsilon(0.02));
  shape.window = 4096;
  const double windowed = attention_forward_time(device, shape).seconds;
  shape.queries = shape.keys = 131072;
  CHECK(attention_forward_time(device, shape).seconds == near(2 * windowed).epsilon(0.05));
  CHECK(attention_backward_time(device, shape).seconds > 2 * attention_forward_time(device, shape).seconds);
}

TEST_CASE("attention over a prefix costs the prefix's columns too") {
  // 1024 queries over 4096 keys score 1024 * 3072 + 1024^2/2 pairs; their own part alone 1024^2/2: ratio 7.
  Device device = h100_device();
  device.profile.attention = {.flops_per_s = 1e12,
                              .half_sequence = 0,
                              .softmax_dims = 0,
                              .bytes_per_s = 1e30,
                              .launch_s = 0,
                              .backward_factor = 3,
                              .evidence = Evidence::kCalibrated};
  AttentionShape shape{.batch = 1,
                       .queries = 1024,
                       .keys = 4096,
                       .heads = 1,
                       .kv_heads = 1,
                       .qk_dim = 64,
                       .value_dim = 64,
                       .causal = true,
                       .window = 0};
  const double prefix = attention_forward_time(device, shape).seconds;
  shape.keys = 1024;
  CHECK(prefix == near(7 * attention_forward_time(device, shape).seconds));
}

TEST_CASE("attention time never falls when a size grows") {
  std::mt19937 random(9);
  const Device device = a100_device();
  for (int trial = 0; trial < 40000; ++trial) {
    AttentionShape shape{.batch = random_size(random, 64),
                         .queries = random_size(random, 1e5),
                         .keys = random_size(random, 1e5),
                         .heads = random_size(random, 128),
                         .kv_heads = 8,
                         .qk_dim = random_size(random, 256),
                         .value_dim = random_size(random, 256),
                         .causal = trial % 2 == 0,
                         .window = trial % 3 == 0 ? random_size(random, 1e5) : 0};
    const double before = attention_forward_time(device, shape).seconds;
    REQUIRE(is_time(before));
    double* const grown[] = {&shape.batch,    &shape.queries, &shape.keys,      &shape.heads,
                             &shape.kv_heads, &shape.qk_dim,  &shape.value_dim, &shape.window};
    double& size = *grown[static_cast<std::size_t>(trial % 8)];
    if (&size == &shape.window && shape.window == 0) continue;  // no window is the widest
    size += random_size(random, 1e4);
    CHECK(attention_forward_time(device, shape).seconds >= before * (1 - 1e-12));
  }
}

TEST_CASE("nothing to do takes no time") {
  const Device device = h100_device();
  CHECK(gemm_time(device, Precision::kBf16, 0, 4096, 4096).seconds == 0);
  CHECK(grouped_gemm_time(device, Precision::kBf16, 8, 0, 4096, 4096).seconds == 0);
  CHECK(attention_forward_time(device, {}).seconds == 0);
  CHECK(memory_bound_time(device, MemoryBound::kNorm, 0).seconds == 0);
}

TEST_CASE("a memory-bound kernel pays its launch and its bytes") {
  Device device = h100_device();
  device.profile.memory_bound[static_cast<std::size_t>(MemoryBound::kAdd)] = {3e-6, 2e12,
                                                                              Evidence::kCalibrated};
  const Timed time = memory_bound_time(device, MemoryBound::kAdd, 2e9);
  CHECK(time.seconds == near(1e-3 + 3e-6));
  CHECK(time.evidence == Evidence::kCalibrated);
}

TEST_CASE("idle units share a long product of few outputs, down to k_split each") {
  Device device = h100_device();
  GemmFit& fit = device.profile.bf16;
  fit.k_half = 0;
  fit.launch_s = 0;
  fit.k_split = 0;
  const double alone = gemm_time(device, Precision::kBf16, 32, 32, 65536).seconds;
  const double alone_short = gemm_time(device, Precision::kBf16, 32, 32, 4096).seconds;
  fit.k_split = 4096;
  // One tile, 132 units, 16 pieces of 4096.
  CHECK(gemm_time(device, Precision::kBf16, 32, 32, 65536).seconds < alone / 4);
  CHECK(gemm_time(device, Precision::kBf16, 32, 32, 4096).seconds == alone_short);
  for (const double rows : {1.0, 64.0, 300.0, 4096.0}) {
    double before = 0;
    for (double k = 16; k < 200000; k *= 1.1) {
      const double seconds = gemm_time(device, Precision::kBf16, rows, 256, k).seconds;
      CHECK(seconds >= before * (1 - 1e-12));
      before = seconds;
    }
    before = 0;
    for (double n = 16; n < 20000; n *= 1.1) {
      const double seconds = gemm_time(device, Precision::kBf16, rows, n, 30000).seconds;
      CHECK(seconds >= before * (1 - 1e-12));
      before = seconds;
    }
  }
}

}  // namespace trainfront::costmodel
