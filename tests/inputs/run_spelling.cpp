#include "inputs/run_spelling.hpp"

#include <doctest/doctest.h>

#include "tests/near.hpp"

namespace trainfront::inputs {

using costmodel::Precision;
using costmodel::Recompute;
using costmodel::Schedule;

TEST_CASE("precisions as tables spell them") {
  CHECK(read_precision("bf16") == Precision::kBf16);
  CHECK(read_precision("amp_bf16") == Precision::kBf16);
  CHECK(read_precision("fp16 (inferred)") == Precision::kBf16);
  CHECK(read_precision("") == Precision::kBf16);
  for (const char* text : {"FP8", "amp_fp8", "FP8-CS", "MXFP8", "fp8-rowwise", "FP8-blockwise"}) {
    CHECK(read_precision(text) == Precision::kFp8);
  }
  CHECK_FALSE(read_precision("NVFP4"));
  CHECK_FALSE(read_precision("int3"));
}

TEST_CASE("recomputation as tables spell it") {
  CHECK(read_recompute("none") == Recompute::kNone);
  CHECK(read_recompute("full (validation configs say use_checkpoint)") == Recompute::kFull);
  CHECK(read_recompute("selective") == Recompute::kSelective);
  CHECK(read_recompute("selective (core_attn)") == Recompute::kSelective);
  CHECK(read_recompute("selective (moe_act+layernorm)") == Recompute::kSelective);
  CHECK_FALSE(read_recompute("sometimes"));

  const auto modules = [](const char* text) { return costmodel::modules_name(read_named_modules(text)); };
  CHECK(modules("selective (moe_act+layernorm)") == "moe_act+layernorm");
  CHECK(modules("selective [\"mla_up_proj\", \"mlp\"]") == "mla_up_proj+mlp");
  CHECK(modules("selective: core_attn, moe") == "core_attn+moe");
  CHECK(modules("selective (core_attn)") == "core_attn");
  CHECK(read_named_modules("selective").empty());
  CHECK(read_named_modules("selective (op)").empty());
}

TEST_CASE("kinds of context parallelism as Megatron and sweep files spell them") {
  using enum costmodel::ContextExchange;
  CHECK(read_exchange("p2p") == kRing);
  CHECK(read_exchange("all_gather") == kAllGather);
  CHECK(read_exchange("allgather") == kAllGather);
  CHECK(read_exchange("a2a") == kAllToAll);
  CHECK(read_exchange("a2a+p2p") == kAllToAllRing);
  CHECK(read_exchange("all_to_all_ring") == kAllToAllRing);
  CHECK_FALSE(read_exchange("zigzag"));
}

TEST_CASE("schedules as tables spell them") {
  CHECK(read_schedule("") == Schedule::k1f1b);
  CHECK(read_schedule("none") == Schedule::k1f1b);
  CHECK(read_schedule("1F1B") == Schedule::k1f1b);
  CHECK(read_schedule("interleaved 1F1B") == Schedule::kInterleaved);
  CHECK(read_schedule("Interleaved1F1B") == Schedule::kInterleaved);
  CHECK(read_schedule("1F1B-I") == Schedule::kInterleaved);
  CHECK(read_schedule("gpipe") == Schedule::kGpipe);
  CHECK(read_schedule("ZB-1p") == Schedule::kZeroBubble);
  CHECK_FALSE(read_schedule("chimera"));
}

TEST_CASE("sharding as tables spell it") {
  CHECK(read_sharding("3", 8) == Sharding{.zero = 3});
  CHECK(read_sharding("ZeRO-1", 8) == Sharding{.zero = 1});
  CHECK(read_sharding("0 (inferred)", 8) == Sharding{.zero = 0});
  CHECK(read_sharding("none (dp=1)", 8) == Sharding{.zero = 0});
  CHECK(read_sharding("no FSDP (DDP + distributed optimizer: default in recipes)", 8) == Sharding{.zero = 1});
  CHECK(read_sharding("FSDP (ZeRO-3)", 8) == Sharding{.zero = 3});
  CHECK(read_sharding("FSDP=128 x DP=4", 8) == Sharding{.zero = 3, .shard_group = 128});
  CHECK(read_sharding("3 within node", 4) == Sharding{.zero = 3, .shard_group = 4});
  CHECK_FALSE(read_sharding("4", 8));
  CHECK_FALSE(read_sharding("somehow", 8));
}

TEST_CASE("what a printed TFLOP/s or MFU counts") {
  const FlopConvention hardware = read_flop_convention("hardware FLOPs incl. full recompute; peak 312");
  CHECK(hardware.count == FlopCount::kHardware);
  CHECK(hardware.peak_flops_per_s == doctest::Approx(312e12));
  const FlopConvention full =
      read_flop_convention("model FLOPs, full (non-causal-halved) attention, see README notes; peak 989");
  CHECK(full.count == FlopCount::kFull);
  CHECK(full.peak_flops_per_s == doctest::Approx(989e12));
  CHECK(read_flop_convention("model FLOPs (no recompute); Megatron-Bridge flop formula").count ==
        FlopCount::kCausal);
  for (const char* text : {"model FLOPs; causal", "causal half of the scores", "causal mask",
                           "model FLOPs, causal, full recompute not counted"}) {
    CHECK(read_flop_convention(text).count == FlopCount::kCausal);
  }
  CHECK(read_flop_convention("model FLOPs, not causal").count == FlopCount::kFull);
  CHECK_FALSE(read_flop_convention("model FLOPs without full recompute").stated);
  const FlopConvention open = read_flop_convention("model TFLOPS; peak 989.5; causal convention not stated");
  CHECK_FALSE(open.stated);
  CHECK(open.peak_flops_per_s == doctest::Approx(989.5e12));
  CHECK(read_flop_convention("").peak_flops_per_s == 0);
}

TEST_CASE("the network's rate per GPU and its kind") {
  const auto rate = [](std::string_view text, int per_node) {
    return read_interconnect(text, per_node).nic_bytes_per_s;
  };
  CHECK(rate("NVLink3; 800 Gb/s InfiniBand per node", 8) == doctest::Approx(12.5e9));
  CHECK(rate("Selene: NVLink/NVSwitch + 8x200Gb/s HDR IB per node", 8) == doctest::Approx(25e9));
  CHECK(rate("Eos: NVLink 450GB/s uni + 400Gb/s IB per GPU", 8) == doctest::Approx(50e9));
  CHECK(rate("RoCE 1600 Gbps node-node (section title)", 8) == doctest::Approx(25e9));
  CHECK(rate("Grand Teton; 8x NVLink/node; 400 Gb/s RDMA per GPU", 8) == doctest::Approx(50e9));
  CHECK(rate("not stated (reference cluster)", 8) == 0);
  CHECK(read_interconnect("NVLink intra-node; EFA inter-node (AWS)", 8).kind == "efa");
  CHECK(read_interconnect("8x200Gb/s HDR IB", 8).kind == "infiniband");
  CHECK(read_interconnect("RoCE 1600 Gbps", 8).kind == "roce-v2");
  CHECK(read_interconnect("", 8).kind.empty());
  CHECK(read_interconnect("8x AWS p3.16xlarge; AWS spec 25 Gb/s", 8).kind == "tcp");
  CHECK(rate("8x AWS p3.16xlarge; AWS spec 25 Gb/s", 8) == doctest::Approx(25e9 / 8 / 8));
}

TEST_CASE("delays of a slow network, one way") {
  CHECK(read_delay_s("50ms 1Gbps") == doctest::Approx(0.05));
  CHECK(read_delay_s("0.1ms; up to 10 Gbps") == near(1e-4));
  CHECK(read_delay_s("delay 50 ms, 1 Gb/s between instances") == doctest::Approx(0.05));
  CHECK(read_delay_s("64x AWS p3.2xlarge, 1 GPU/node, up to 10 Gbps") == 0);
  CHECK(read_delay_s("") == 0);
}

TEST_CASE("names agree whatever their punctuation") {
  CHECK(plain_name("Llama 3.1 405B") == plain_name("LLAMA3.1_405B"));
  CHECK(plain_name("DeepSeekV3 (dropless)") == "deepseekv3");
}

}  // namespace trainfront::inputs
