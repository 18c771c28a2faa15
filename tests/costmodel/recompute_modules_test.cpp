#include "costmodel/recompute_modules.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "costmodel/activation_memory.hpp"
#include "costmodel/layer_time.hpp"
#include "costmodel/legality.hpp"
#include "tests/costmodel/reference_models.hpp"
#include "tests/costmodel/test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

RecomputeModules modules_of(std::string_view text) {
  RecomputeModules modules;
  REQUIRE(read_modules(text, modules));
  return modules;
}

Layout dropping(RecomputeModules modules) {
  Layout layout;
  layout.recompute = Recompute::kSelective;
  layout.modules = modules;
  return layout;
}

// Per token of one micro-batch.
LayerActivations kept(const Model& model, const Layout& layout, Precision precision = Precision::kBf16) {
  Recipe recipe = reference::sequences_of(4096);
  recipe.precision = precision;
  LayerActivations bytes =
      layer_activations(model, recipe, layout, default_memory_profile(Framework::kMegatron));
  for (double* part : {&bytes.dense_layer, &bytes.moe_layer, &bytes.dense_working, &bytes.moe_working})
    *part /= 4096;
  return bytes;
}

BlockTimes times(const Model& model, const Layout& layout) {
  static const Hardware hardware = h100_cluster();
  FrameworkProfile framework = without_host_floor(default_profile(Framework::kMegatron));
  return block_times(model, reference::sequences_of(4096), layout, hardware, framework);
}

TEST_CASE("sets of modules are read and written by Megatron's names; core attention alone is its default") {
  CHECK(modules_of("core_attn").empty());
  CHECK(modules_name({}) == "core_attn");
  CHECK(modules_name(modules_of("mlp+mla_up_proj")) == "mla_up_proj+mlp");
  CHECK(modules_of("core_attn+mlp").has(RecomputeModule::kCoreAttention));
  RecomputeModules modules;
  for (const char* text : {"", "mlp+", "+mlp", "mlp,moe", "attention", "mlp+mpl"})
    CHECK_FALSE(read_modules(text, modules));
  for (int bits = 2; bits < 1 << kRecomputeModules; ++bits) {
    const RecomputeModules set{static_cast<std::uint8_t>(bits)};
    CHECK(modules_of(modules_name(set)) == set);
  }
}

TEST_CASE("auto is every set that says each thing once and saves something") {
  const auto names = [](const Model& model) {
    std::string all;
    for (const RecomputeModules set : plain_sets(model)) all += modules_name(set) + " ";
    return all;
  };
  CHECK(names(reference::llama3_8b()) == "core_attn mlp ");
  CHECK(names(reference::mixtral_8x7b()) ==
        "core_attn moe_act layernorm moe_act+layernorm moe layernorm+moe ");
  // {layernorm} x {mla_up_proj} x {mlp} x {none, moe_act, shared_experts, both, moe}.
  CHECK(plain_sets(reference::deepseek_v3()).size() == 2 * 2 * 2 * 5);
}

TEST_CASE("what each module saves of DeepSeek-V3, per token") {
  const Model model = reference::deepseek_v3();
  const LayerActivations all = kept(model, Layout{});
  const auto saved = [&](const char* text) {
    const LayerActivations some = kept(model, dropping(modules_of(text)));
    CHECK(some.dense_working == near(all.dense_layer - some.dense_layer));
    CHECK(some.moe_working == near(all.moe_layer - some.moe_layer));
    return std::array{all.dense_layer - some.dense_layer, all.moe_layer - some.moe_layer};
  };
  const auto is = [](const std::array<double, 2>& bytes, double dense, double moe) {
    CHECK(bytes[0] == near(dense));
    CHECK(bytes[1] == near(moe));
  };
  // 128 heads: queries and keys of 192, values of 128, two bytes each.
  const double up = 128 * (2 * 192 + 2 * 192 + 2 * 128);
  is(saved("mla_up_proj"), up, up);
  // The norm before attention; before experts another one.
  is(saved("layernorm"), 2 * 7168, 4 * 7168);
  // Gate, up and product of 18,432, and the norm that is fused into them.
  is(saved("mlp"), 6 * 18432 + 2 * 7168, 0);
  // Eight experts a token of width 2,048.
  is(saved("moe_act"), 0, 8 * 2 * 2048);
  is(saved("shared_experts"), 0, 6 * 2048);
  // Router (two fp32 of 256), shared expert, and eight times: input, hidden widths, sent copy.
  is(saved("moe"), 0, 8 * 256 + 6 * 2048 + 8 * (2 * 7168 + 6 * 2048 + 2 * 7168));
  is(saved("core_attn+moe_act+shared_experts"), 0, 8 * 2 * 2048 + 6 * 2048);
  is(saved("core_attn"), 0, 0);  // fused
}

TEST_CASE("experts' activations take one byte in fp8, so that dropping them saves one") {
  const Model model = reference::qwen3_235b();
  const double saved = kept(model, Layout{}, Precision::kFp8).moe_layer -
                       kept(model, dropping(modules_of("moe_act")), Precision::kFp8).moe_layer;
  CHECK(saved == near(8 * 1536));
}

TEST_CASE("what is cut off at a limit is kept twice, unless it is cut off again") {
  Model model = reference::gpt_oss_20b();
  const double clamped = kept(model, Layout{}).moe_layer;
  const double again = kept(model, dropping(modules_of("moe_act"))).moe_layer;
  model.expert_clamp = false;
  // Four experts a token, gate and up of 2,880.
  CHECK(clamped - kept(model, Layout{}).moe_layer == near(4 * 2 * 2 * 2880));
  CHECK(again == near(kept(model, dropping(modules_of("moe_act"))).moe_layer));
}

TEST_CASE("a module's forward runs once more, before the input gradients, and nothing else changes") {
  const Model model = reference::llama3_8b();
  const BlockTime plain = times(model, Layout{}).dense;
  const BlockTime mlp = times(model, dropping(modules_of("mlp"))).dense;
  const Device device = h100_device();
  const auto gemm_s = [&](double n, double k) {
    return gemm_time(device, Precision::kBf16, 4096, n, k).seconds;
  };
  CHECK(mlp[Pass::kInputGradient][Part::kGemm] - plain[Pass::kInputGradient][Part::kGemm] ==
        near(gemm_s(2 * 14336, 4096) + gemm_s(4096, 14336)));
  CHECK(mlp[Pass::kForward].total() == plain[Pass::kForward].total());
  CHECK(mlp[Pass::kWeightGradient].total() == plain[Pass::kWeightGradient].total());
  // Norm and activation, at the framework's pace of element-wise kernels.
  CHECK(mlp[Pass::kInputGradient][Part::kMemoryBound] > plain[Pass::kInputGradient][Part::kMemoryBound]);
}

TEST_CASE("experts that run again send their tokens again") {
  Layout layout = dropping(modules_of("moe"));
  layout.ep = 8;
  const BlockTime again = times(reference::qwen3_30b(), layout).moe;
  layout.recompute = Recompute::kNone;
  layout.modules = {};
  const BlockTime plain = times(reference::qwen3_30b(), layout).moe;
  CHECK(again[Pass::kInputGradient][Part::kExpertParallel] ==
        near(plain[Pass::kInputGradient][Part::kExpertParallel] +
             plain[Pass::kForward][Part::kExpertParallel]));
}

// Whatever the model and the layout: more modules take more time and keep less, and none does so more than
// full recomputation.
TEST_CASE("another module never saves time and never costs memory") {
  int compared = 0;
  for (const Model& model : {reference::llama3_8b(), reference::qwen3_30b(), reference::deepseek_v3()}) {
    for (const int tp : {1, 4}) {
      Layout full;
      full.tp = tp;
      full.sp = tp > 1;
      full.ep = model.is_moe() ? 8 : 1;
      full.recompute = Recompute::kFull;
      const auto seconds = [&](const Layout& layout) {
        const BlockTimes of = times(model, layout);
        return of.dense[Pass::kInputGradient].total() + of.moe[Pass::kInputGradient].total();
      };
      const auto bytes = [&](const Layout& layout) {
        const LayerActivations of = kept(model, layout);
        return of.dense_layer + of.moe_layer;
      };
      for (const RecomputeModules fewer : plain_sets(model)) {
        if (fewer.empty()) continue;
        Layout layout = full;
        layout.recompute = Recompute::kSelective;
        layout.modules = fewer;
        REQUIRE(seconds(layout) <= seconds(full) * (1 + 1e-12));
        REQUIRE(bytes(layout) >= bytes(full));
        for (const RecomputeModules more : plain_sets(model)) {
          if ((fewer.bits & ~more.bits) != 0 || more == fewer) continue;
          Layout other = layout;
          other.modules = more;
          REQUIRE(seconds(other) > seconds(layout));
          REQUIRE(bytes(other) < bytes(layout));
          ++compared;
        }
      }
    }
  }
  CHECK(compared > 200);
}

TEST_CASE("modules go with Megatron, selective recomputation, and a model that has them") {
  const auto rule = [](const Model& model, const Layout& layout) {
    return check_layout(model, reference::sequences_of(4096), layout, h100_cluster());
  };
  const Layout mlp = dropping(modules_of("mlp"));
  CHECK(rule(reference::llama3_8b(), mlp) == Rule::kNone);
  CHECK(rule(reference::qwen3_30b(), mlp) == Rule::kModules);  // every layer has experts
  CHECK(rule(reference::deepseek_v3(), dropping(modules_of("mla_up_proj+mlp"))) == Rule::kNone);
  CHECK(rule(reference::llama3_8b(), dropping(modules_of("layernorm"))) == Rule::kModules);
  CHECK(rule(reference::qwen3_30b(), dropping(modules_of("moe+moe_act"))) == Rule::kModules);
  Layout other = mlp;
  other.recompute = Recompute::kFull;
  CHECK(rule(reference::llama3_8b(), other) == Rule::kModules);
  other = mlp;
  other.framework = Framework::kTorchtitan;
  other.zero = 3;
  CHECK(rule(reference::llama3_8b(), other) == Rule::kModules);
  const std::string words = explain_rule(Rule::kModules, reference::qwen3_30b(),
                                         reference::sequences_of(4096), mlp, h100_cluster(), 1);
  CHECK(words.find("recompute_modules mlp: this model has core_attn, moe_act, layernorm, moe") !=
        std::string::npos);
}

}  // namespace
}  // namespace trainfront::costmodel
