#include "costmodel/layer_time.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/costmodel/reference_models.hpp"
#include "tests/costmodel/test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

FrameworkProfile plain_profile() {
  FrameworkProfile profile;
  profile.memory_bound_scale = 1;
  profile.tensor_parallel_exposed = 1;
  return profile;
}

BlockTime price(const Operations& operations, const FrameworkProfile& framework, const Layout& layout = {}) {
  const Hardware hardware = h100_cluster();
  return price_operations(operations, place_groups(layout, 8), hardware, framework);
}

TEST_CASE("an operation's time goes to its pass and part, as often as it runs") {
  const Hardware hardware = h100_cluster();
  const Operations operations{{"a", Pass::kForward, 1, Gemm{Precision::kBf16, 4096, 4096, 4096}},
                              {"b", Pass::kWeightGradient, 2, MemoryTraffic{MemoryBound::kCopy, 1e9}}};
  const BlockTime time = price(operations, plain_profile());
  CHECK(time[Pass::kForward][Part::kGemm] ==
        gemm_time(hardware.device, Precision::kBf16, 4096, 4096, 4096).seconds);
  CHECK(time[Pass::kWeightGradient][Part::kMemoryBound] ==
        2 * memory_bound_time(hardware.device, MemoryBound::kCopy, 1e9).seconds);
  CHECK(time[Pass::kInputGradient].total() == 0);
}

TEST_CASE("only element-wise kernels take the framework's scale") {
  FrameworkProfile framework = plain_profile();
  const Operations norm{{"norm", Pass::kForward, 1, MemoryTraffic{MemoryBound::kNorm, 1e9}}};
  const Operations loss{{"loss", Pass::kForward, 1, MemoryTraffic{MemoryBound::kCrossEntropy, 1e9}}};
  const double norm_s = price(norm, framework)[Pass::kForward].total();
  const double loss_s = price(loss, framework)[Pass::kForward].total();
  framework.memory_bound_scale = 3;
  CHECK(price(norm, framework)[Pass::kForward].total() == near(3 * norm_s));
  CHECK(price(loss, framework)[Pass::kForward].total() == loss_s);
}

// Equal tokens a rank: cp times the micro-batch. The pieces are smaller, so attention is no faster.
TEST_CASE("context parallelism never speeds attention up at equal tokens per rank") {
  const Hardware hardware = h100_cluster();
  for (const int sequence : {2048, 8192, 65536}) {
    Recipe recipe;
    recipe.sequence_length = sequence;
    const auto attention_s = [&](int cp, const FrameworkProfile& framework, ContextExchange type) {
      Layout layout;
      layout.cp = layout.micro_batch = cp;
      layout.cp_type = type;
      if (type == ContextExchange::kAllToAllRing) layout.cp_heads = cp / 2;
      const BlockTimes times = block_times(reference::llama3_8b(), recipe, layout, hardware, framework);
      return times.dense[Pass::kForward][Part::kAttention] +
             times.dense[Pass::kInputGradient][Part::kAttention];
    };
    for (const Framework framework : {Framework::kMegatron, Framework::kTorchtitan, Framework::kDeepspeed}) {
      const FrameworkProfile& profile = default_profile(framework);
      using enum ContextExchange;
      const double whole = attention_s(1, profile, kRing);
      for (const ContextExchange type : {kRing, kAllGather, kAllToAll, kAllToAllRing})
        for (const int cp : {2, 4, 8}) CHECK(attention_s(cp, profile, type) >= whole);
    }
  }
}

// Each of the later steps adds its outputs to those before, at the least the bytes of one read and write.
TEST_CASE("a ring costs its sums even where attention hides its hops") {
  const Hardware hardware = h100_cluster();
  Recipe recipe;
  recipe.sequence_length = 65536;
  const auto memory_bound_s = [&](int cp, Pass pass) {
    Layout layout;
    layout.cp = layout.micro_batch = cp;
    const BlockTimes times =
        block_times(reference::llama3_8b(), recipe, layout, hardware, default_profile(Framework::kMegatron));
    return times.dense[pass][Part::kMemoryBound];
  };
  const double outputs_s = 2 * 2.0 * 65536 * 4096 / hardware.device.memory_bytes_per_s;
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient}) {
    double before = memory_bound_s(1, pass);
    for (const int cp : {2, 3, 4}) {
      const double now = memory_bound_s(cp, pass);
      CHECK(now - before >= outputs_s);
      before = now;
    }
  }
}

TEST_CASE("a ring exchange costs what attention does not cover") {
  Layout layout;
  layout.cp = 2;
  const AttentionShape shape{
      .batch = 1, .queries = 4096, .keys = 4096, .heads = 8, .kv_heads = 8, .qk_dim = 128, .value_dim = 128};
  const auto ring = [&](double bytes) {
    return price(
        {{"attention", Pass::kForward, 1, Attention{shape, false}},
         {"ring", Pass::kForward, 1, Communication{Collective::kSendRecv, bytes, Group::kContext, true}}},
        plain_profile(), layout)[Pass::kForward];
  };
  CHECK(ring(1e3)[Part::kContextParallel] == 0);
  const PartTimes large = ring(1e9);
  const double sent_s = collective_time(h100_cluster(), Collective::kSendRecv, 1e9, {2, 1, 2}).seconds;
  CHECK(large[Part::kContextParallel] == near(sent_s - large[Part::kAttention] / 2));
}

TEST_CASE("full recomputation runs the forward again, selective what the framework drops") {
  BlockTime time;
  time[Pass::kForward][Part::kGemm] = 4;
  time[Pass::kForward][Part::kAttention] = 2;
  time[Pass::kForward][Part::kTensorParallel] = 1;
  time[Pass::kInputGradient][Part::kGemm] = 4;
  BlockTime full = time;
  add_recomputation(full, Recompute::kFull, plain_profile());
  CHECK(full[Pass::kInputGradient].total() == 11);
  BlockTime selective = time;
  add_recomputation(selective, Recompute::kSelective, plain_profile());
  CHECK(selective[Pass::kInputGradient].total() == 6);
  BlockTime none = time;
  add_recomputation(none, Recompute::kNone, plain_profile());
  CHECK(none[Pass::kInputGradient].total() == 4);
}

TEST_CASE("a block lasts at least as long as the host needs to launch it") {
  FrameworkProfile framework = plain_profile();
  framework.host_forward_s = 3;
  framework.host_backward_s = 1;
  BlockTime time;
  time[Pass::kForward][Part::kGemm] = 1;
  time[Pass::kInputGradient][Part::kGemm] = 1;
  time[Pass::kWeightGradient][Part::kGemm] = 1;
  add_host_floor(time, Block::kDense, {}, {}, framework);
  CHECK(time[Pass::kForward].total() == 3);
  CHECK(time[Pass::kForward][Part::kHost] == 2);
  CHECK(time[Pass::kInputGradient][Part::kHost] == 0);
}

TEST_CASE("host and device of equal length make the cube root of two under a norm of three") {
  FrameworkProfile framework = plain_profile();
  framework.host_moe_layer_s = 3;
  framework.host_moe_norm = 3;
  BlockTime time;
  for (PartTimes& pass : time.pass) pass[Part::kGemm] = 1;
  add_host_floor(time, Block::kMoe, {}, {}, framework);
  double total = 0;
  for (const PartTimes& pass : time.pass) total += pass.total();
  CHECK(total == near(3 * std::cbrt(2.0)));
}

TEST_CASE("a Grace host has its own floor for MoE layers, where the profile knows one") {
  FrameworkProfile framework = plain_profile();
  framework.host_moe_layer_s = 8;
  framework.host_moe_norm = 0;
  const auto seconds = [&](const char* device) {
    Hardware hardware;
    hardware.device.id = device;
    BlockTime time;
    for (PartTimes& pass : time.pass) pass[Part::kGemm] = 1;
    add_host_floor(time, Block::kMoe, {}, hardware, framework);
    return time[Pass::kForward].total() + time[Pass::kInputGradient].total() +
           time[Pass::kWeightGradient].total();
  };
  CHECK(seconds("b200") == near(8));
  CHECK(seconds("gb200") == near(8));
  framework.host_moe_layer_grace_s = 4;
  CHECK(seconds("b200") == near(8));
  CHECK(seconds("gb200") == near(4));
  CHECK(seconds("gh200") == near(4));
}

TEST_CASE("the more CUDA graphs hold, the less the host has to do, and on a Grace host as well") {
  const auto floor_s = [](const char* profile, const char* device) {
    Hardware hardware;
    hardware.device.id = device;
    BlockTime time;
    add_host_floor(time, Block::kMoe, {}, hardware, *find_profile(profile));
    return time[Pass::kForward].total() + time[Pass::kInputGradient].total() +
           time[Pass::kWeightGradient].total();
  };
  for (const char* device : {"b200", "gb200"}) {
    CAPTURE(device);
    const double router_s = floor_s("megatron-bridge-2025-router-graphs", device);
    const double attention_s = floor_s("megatron-bridge-2025-cuda-graphs", device);
    CHECK(router_s > attention_s);
    CHECK(attention_s > 0);
    CHECK(floor_s("megatron-bridge-2025-ep-overlap-full-graphs", device) == 0);
  }
}

TEST_CASE("block times are finite, positive and fall with tensor parallelism") {
  const Hardware hardware = h100_cluster();
  Recipe recipe;
  recipe.sequence_length = 4096;
  for (const Model& model : {reference::llama31_70b(), reference::qwen3_235b(), reference::deepseek_v3()}) {
    double before = INFINITY;
    for (const int tp : {1, 2, 4}) {
      Layout layout;
      layout.tp = tp;
      layout.sp = true;
      const BlockTimes times =
          block_times(model, recipe, layout, hardware, default_profile(Framework::kMegatron));
      double work = 0;
      for (const BlockTime* block : {&times.dense, &times.moe, &times.embedding, &times.head, &times.mtp}) {
        for (const PartTimes& pass : block->pass) {
          for (const double part : pass.seconds) {
            CHECK(std::isfinite(part));
            CHECK(part >= 0);
          }
          work += pass[Part::kGemm] + pass[Part::kAttention];
        }
      }
      CHECK(work > 0);
      CHECK(work < before);
      before = work;
    }
  }
}

}  // namespace
}  // namespace trainfront::costmodel
