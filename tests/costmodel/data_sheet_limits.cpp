#include "costmodel/data_sheet_limits.hpp"

#include <doctest/doctest.h>

#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

// Round numbers: 1000 TFLOP/s, 2000 in fp8, 4 TB/s, 500 GB/s a link.
Device round_device() {
  Device device;
  device.bf16_flops_per_s = 1e15;
  device.fp8_flops_per_s = 2e15;
  device.memory_bytes_per_s = 4e12;
  device.link_bytes_per_s = 500e9;
  return device;
}

CollectiveSample sample(Collective collective, Placement placement, double bytes) {
  return {.collective = collective, .placement = placement, .bytes = bytes};
}

}  // namespace

TEST_CASE("kernels take no less than the dense peak and the cache allow") {
  Device device = round_device();
  CHECK(least_seconds(device, GemmSample{.m = 1000, .n = 5000, .k = 1e5}) == near(1e-3));
  CHECK(least_seconds(device, GemmSample{.precision = Precision::kFp8, .m = 1000, .n = 5000, .k = 1e5}) ==
        near(0.5e-3));
  AttentionSample attention{.shape = {.batch = 2,
                                      .queries = 1000,
                                      .keys = 1000,
                                      .heads = 10,
                                      .kv_heads = 10,
                                      .qk_dim = 100,
                                      .value_dim = 100,
                                      .causal = false}};
  // 2 products of 2 x 10 x 1000 x 1000 x 100 multiply-adds
  CHECK(least_seconds(device, attention) == near(8e-6));
  attention.shape.causal = true;
  CHECK(least_seconds(device, attention) == near(4e-6));
  CHECK(least_seconds(device, MemoryBoundSample{.bytes = 4e6}) == near(1e-7));
  CHECK(least_seconds(device, MemoryBoundSample{.bytes = 40e9}) > 9e-3);
  device = {};
  CHECK(least_seconds(device, GemmSample{.m = 1000, .n = 5000, .k = 1e5}) == 0);
  CHECK(least_seconds(device, MemoryBoundSample{.bytes = 40e9}) == 0);
}

TEST_CASE("collectives take no less than a rank's link, or a domain's cards, allow") {
  const Device device = round_device();
  using enum Collective;
  CHECK(least_seconds(device, sample(kAllReduce, {8, 1, 8}, 1e9), 0) == near(2e-3));
  CHECK(least_seconds(device, sample(kAllGather, {8, 1, 8}, 1e9), 0) == near(1.75e-3));
  CHECK(least_seconds(device, sample(kSendRecv, {2, 1, 2}, 1e9), 0) == near(2e-3));
  // 4 domains of 8 ranks with 400 GB/s each
  CHECK(least_seconds(device, sample(kAllReduce, {32, 4, 8}, 8e9), 400e9) == near(20e-3));
  CHECK(least_seconds(device, sample(kReduceScatter, {32, 4, 8}, 8e9), 400e9) == near(15e-3));
  // 8 ranks send 24 of 32 parts of 1 GB out
  CHECK(least_seconds(device, sample(kAllToAll, {32, 4, 8}, 1e9), 400e9) == near(15e-3));
}

}  // namespace trainfront::costmodel
