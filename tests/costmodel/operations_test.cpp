#include "costmodel/operations.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "costmodel/flops.hpp"
#include "costmodel/parameters.hpp"
#include "tests/costmodel/reference_models.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

double gemm_flops(const Operations& operations, Pass pass) {
  double flops = 0;
  for (const Operation& operation : operations) {
    if (operation.pass != pass) continue;
    if (const auto* gemm = std::get_if<Gemm>(&operation.work)) flops += 2 * gemm->m * gemm->n * gemm->k;
    if (const auto* gemm = std::get_if<GroupedGemm>(&operation.work)) {
      flops += 2 * gemm->experts * gemm->tokens * gemm->n * gemm->k;
    }
  }
  return flops;
}

double bytes_of(const Operations& operations, std::string_view name, Pass pass) {
  double bytes = 0;
  for (const Operation& operation : operations) {
    if (operation.name != name || operation.pass != pass) continue;
    if (const auto* traffic = std::get_if<MemoryTraffic>(&operation.work))
      bytes += operation.count * traffic->bytes;
    if (const auto* sent = std::get_if<Communication>(&operation.work))
      bytes += operation.count * sent->bytes;
  }
  return bytes;
}

int communications(const Operations& operations, Collective collective, Pass pass) {
  int count = 0;
  for (const Operation& operation : operations) {
    const auto* sent = std::get_if<Communication>(&operation.work);
    if (sent && sent->collective == collective && operation.pass == pass) ++count;
  }
  return count;
}

TEST_CASE("a Llama-2-7B layer multiplies 2 T (4 h^2 + 3 h f) in each of the three passes") {
  const Layout layout;
  const Operations operations =
      layer_operations(reference::llama2_7b(), reference::sequences_of(4096), layout,
                       default_profile(Framework::kMegatron), Block::kDense);
  const double forward = 2.0 * 4096 * (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008);
  CHECK(gemm_flops(operations, Pass::kForward) == near(forward));
  CHECK(gemm_flops(operations, Pass::kInputGradient) == near(forward));
  CHECK(gemm_flops(operations, Pass::kWeightGradient) == near(forward));
}

TEST_CASE(
    "projections of their own multiply as much, and sum their input gradients once for each beyond one") {
  FrameworkProfile framework = default_profile(Framework::kMegatron);
  Layout layout;
  layout.tp = 8;
  for (const Model& model : {reference::llama31_70b(), reference::mixtral_8x7b()}) {
    const Block block = model.is_moe() ? Block::kMoe : Block::kDense;
    const auto operations_with = [&](bool fused) {
      framework.fused_projections = fused;
      return layer_operations(model, reference::sequences_of(4096), layout, framework, block);
    };
    const Operations fused = operations_with(true), apart = operations_with(false);
    for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient}) {
      CHECK(gemm_flops(apart, pass) == near(gemm_flops(fused, pass)));
    }
    // Two reads and a write of two bytes over the whole hidden width, which tensor parallelism does not cut:
    // twice for queries, keys and values, once for gate and up.
    const double sum = 3 * 2.0 * 4096 * model.hidden;
    CHECK(bytes_of(apart, "qkv", Pass::kInputGradient) == near(2 * sum));
    CHECK(bytes_of(fused, "qkv", Pass::kInputGradient) == 0);
    if (!model.is_moe()) CHECK(bytes_of(apart, "mlp in", Pass::kInputGradient) == near(sum));
    if (model.is_moe()) CHECK(bytes_of(apart, "experts in", Pass::kInputGradient) > 0);
  }
}

TEST_CASE("all layers and the head together make the model's FLOPs, whatever the tensor and expert grid") {
  for (const Model& model : {reference::llama31_70b(), reference::mixtral_8x7b(), reference::qwen3_235b(),
                             reference::deepseek_v3(), reference::gpt_oss_20b()}) {
    for (const int tp : {1, 2, 4}) {
      for (const int ep : {1, 4}) {
        for (const int etp : {1, 2}) {
          Layout layout;
          layout.tp = tp;
          layout.sp = true;
          layout.ep = model.is_moe() ? ep : 1;
          layout.etp = model.is_moe() ? etp : 1;
          const Recipe recipe = reference::sequences_of(4096);
          const FrameworkProfile& framework = default_profile(Framework::kMegatron);
          const int moe = moe_layers(model);
          double flops = gemm_flops(head_operations(model, recipe, layout, framework), Pass::kForward);
          if (moe > 0) {
            flops += moe * gemm_flops(layer_operations(model, recipe, layout, framework, Block::kMoe),
                                      Pass::kForward);
          }
          if (moe < model.layers) {
            flops +=
                (model.layers - moe) *
                gemm_flops(layer_operations(model, recipe, layout, framework, Block::kDense), Pass::kForward);
          }
          const double expected =
              training_flops_per_token(model, 4096, AttentionCount::kCausal).linear() / 3 * 4096 / tp;
          CHECK(flops == near(expected).epsilon(1e-9));
        }
      }
    }
  }
}

TEST_CASE("tensor parallelism: two all-reduces a pass, or gathers and scatters with sequence parallelism") {
  Layout layout;
  layout.tp = 8;
  const auto& framework = default_profile(Framework::kMegatron);
  const auto dense = [&] {
    return layer_operations(reference::llama31_70b(), reference::sequences_of(8192), layout, framework,
                            Block::kDense);
  };
  CHECK(communications(dense(), Collective::kAllReduce, Pass::kForward) == 2);
  CHECK(communications(dense(), Collective::kAllReduce, Pass::kInputGradient) == 2);
  CHECK(bytes_of(dense(), "mlp reduce", Pass::kForward) == 8192.0 * 8192 * 2);
  // Without sequence parallelism every rank normalises all tokens, with it an eighth.
  CHECK(bytes_of(dense(), "norm", Pass::kForward) == 2 * 2 * 8192.0 * 8192 * 2);
  layout.sp = true;
  CHECK(communications(dense(), Collective::kAllReduce, Pass::kForward) == 0);
  CHECK(communications(dense(), Collective::kAllGather, Pass::kForward) == 2);
  CHECK(communications(dense(), Collective::kReduceScatter, Pass::kForward) == 2);
  CHECK(bytes_of(dense(), "mlp gather", Pass::kForward) == 8192.0 * 8192 * 2);
  CHECK(bytes_of(dense(), "norm", Pass::kForward) == 2 * 2 * 1024.0 * 8192 * 2);
}

TEST_CASE("fp8 gathers travel in fp8 where the framework casts first; partial sums stay in bf16") {
  Layout layout;
  layout.tp = 8;
  layout.sp = true;
  FrameworkProfile framework = default_profile(Framework::kMegatron);
  Recipe recipe = reference::sequences_of(8192);
  recipe.precision = Precision::kFp8;
  const auto bytes = [&](std::string_view name, Pass pass) {
    return bytes_of(layer_operations(reference::llama31_70b(), recipe, layout, framework, Block::kDense),
                    name, pass);
  };
  const double elements = 8192.0 * 8192;
  CHECK(bytes("attention gather", Pass::kForward) == elements);
  CHECK(bytes("attention gather", Pass::kInputGradient) == 2 * elements);
  CHECK(bytes("mlp reduce", Pass::kForward) == 2 * elements);
  CHECK(bytes("mlp reduce", Pass::kInputGradient) == elements);
  framework.gathers_fp8 = false;
  CHECK(bytes("attention gather", Pass::kForward) == 2 * elements);
}

TEST_CASE("sequence parallelism on one tensor rank changes nothing") {
  Layout off, on;
  on.sp = true;
  const auto& framework = default_profile(Framework::kMegatron);
  const Operations a =
      layer_operations(reference::llama3_8b(), reference::sequences_of(8192), off, framework, Block::kDense);
  const Operations b =
      layer_operations(reference::llama3_8b(), reference::sequences_of(8192), on, framework, Block::kDense);
  REQUIRE(a.size() == b.size());
  CHECK(bytes_of(a, "norm", Pass::kForward) == bytes_of(b, "norm", Pass::kForward));
  CHECK(gemm_flops(a, Pass::kForward) == gemm_flops(b, Pass::kForward));
}

TEST_CASE("a token's copies travel to its experts and back, forward and backward") {
  Layout layout;
  layout.ep = 8;
  FrameworkProfile framework = default_profile(Framework::kMegatron);
  framework.dispatcher = Dispatcher::kAllToAll;
  const auto layer = [&] {
    return layer_operations(reference::mixtral_8x7b(), reference::sequences_of(4096), layout, framework,
                            Block::kMoe);
  };
  // 4,096 tokens, 2 experts each, 4,096 elements of 2 bytes, there and back.
  CHECK(bytes_of(layer(), "dispatch and combine", Pass::kForward) == 2.0 * 4096 * 2 * 4096 * 2);
  CHECK(bytes_of(layer(), "dispatch and combine", Pass::kInputGradient) == 2.0 * 4096 * 2 * 4096 * 2);
  framework.dispatcher = Dispatcher::kDeduplicated;
  double tokens = 0;
  for (const Operation& operation : layer()) {
    if (const auto* sent = std::get_if<Dispatch>(&operation.work)) tokens += operation.count * sent->tokens;
  }
  CHECK(tokens == 4 * 4096);
}

// Megatron-Core, TEGroupedMLP: 28 bytes forward and 40 backward for each element of the experts' outputs; 8
// and 10 for each of gate and up, twice as many.
TEST_CASE(
    "Megatron adds the bias of GPT-OSS's experts, and clamps them, as kernels of its own, torchtitan not") {
  Layout layout;
  layout.ep = 8;
  const double outputs = 4096.0 * 4 * 2880;  // four experts a token
  const auto bytes = [&](const Model& model, Framework framework, Pass pass,
                         const char* name = "expert bias") {
    return bytes_of(layer_operations(model, reference::sequences_of(4096), layout, default_profile(framework),
                                     Block::kMoe),
                    name, pass);
  };
  const Model biased = reference::gpt_oss_20b();
  CHECK(bytes(biased, Framework::kMegatron, Pass::kForward) == near(28 * outputs));
  CHECK(bytes(biased, Framework::kMegatron, Pass::kInputGradient) == near(40 * outputs));
  CHECK(bytes(biased, Framework::kTorchtitan, Pass::kForward) == 0);
  CHECK(bytes(biased, Framework::kMegatron, Pass::kForward, "expert clamp") == near(16 * outputs));
  CHECK(bytes(biased, Framework::kMegatron, Pass::kInputGradient, "expert clamp") == near(20 * outputs));
  CHECK(bytes(biased, Framework::kTorchtitan, Pass::kForward, "expert clamp") == 0);
  CHECK(bytes(reference::qwen3_235b(), Framework::kMegatron, Pass::kForward) == 0);
}

// Padding and unpadding 8 bytes an element each way; a cast 2 read, 2 times 1 1/32 written.
TEST_CASE("fp8 experts pad and cast what they multiply by kernels of their own, unless these are fused") {
  Layout layout;
  layout.ep = 8;
  Recipe recipe = reference::sequences_of(4096);
  FrameworkProfile framework = default_profile(Framework::kMegatron);
  const auto bytes = [&](Pass pass) {
    return bytes_of(layer_operations(reference::gpt_oss_20b(), recipe, layout, framework, Block::kMoe),
                    "expert casts", pass);
  };
  CHECK(bytes(Pass::kForward) == 0);
  recipe.precision = Precision::kFp8;
  const double tokens = 4096.0 * 4;  // four experts a token, which are as wide as the model
  CHECK(bytes(Pass::kForward) == near(tokens * 2880 * (8 + 2 * 4.0625)));
  CHECK(bytes(Pass::kInputGradient) == near(tokens * 2880 * (8 + 3 * 4.0625)));
  framework = *find_profile("megatron-bridge-2026-full-graphs");
  CHECK(bytes(Pass::kForward) == 0);
}

TEST_CASE("a ring sends keys and values cp - 1 times; balanced ranks share the causal mask evenly") {
  Layout layout;
  layout.cp = 4;
  FrameworkProfile framework = default_profile(Framework::kMegatron);
  const auto layer = [&] {
    return layer_operations(reference::llama3_8b(), reference::sequences_of(8192), layout, framework,
                            Block::kDense);
  };
  // 2,048 tokens, 8 KV heads, keys and values of 128 elements of 2 bytes.
  CHECK(bytes_of(layer(), "kv ring", Pass::kForward) == 3 * 2048.0 * 8 * 256 * 2);
  const auto keys = [&] {
    for (const Operation& operation : layer()) {
      if (const auto* attention = std::get_if<Attention>(&operation.work)) return attention->shape.keys;
    }
    return 0.0;
  };
  // 2,048 queries against the last of k keys: k - 1,024 keys each in the mean, which is 4,096 when balanced.
  CHECK(keys() == 5120);
  framework.causal_balanced = false;
  CHECK(keys() == 8192);
}

TEST_CASE("local parameters sum to the model's over the ranks that share them") {
  Layout layout;
  layout.tp = 4;
  layout.sp = true;
  layout.ep = 8;
  const Model model = reference::mixtral_8x7b();
  const ParameterCounts counts = count_parameters(model);
  const LocalParameters layer = layer_parameters(model, layout, Block::kMoe);
  CHECK(layer.expert * 8 == near(8.0 * static_cast<double>(counts.expert)));
  const double replicated = static_cast<double>(counts.router + counts.norms);
  CHECK(layer.dense == near(static_cast<double>(counts.attention) / 4 + replicated));
}

TEST_CASE("a tied table is held by both ends of a pipeline and once without one") {
  const Model model = reference::llama32_1b();
  Layout layout;
  CHECK(head_parameters(model, layout) == 2048);
  layout.pp = 4;
  CHECK(head_parameters(model, layout) == 128256.0 * 2048 + 2048);
}

}  // namespace
}  // namespace trainfront::costmodel
