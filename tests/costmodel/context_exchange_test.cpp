#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "costmodel/layer_time.hpp"
#include "costmodel/legality.hpp"
#include "costmodel/memory.hpp"
#include "tests/costmodel/reference_models.hpp"
#include "tests/costmodel/test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

using enum ContextExchange;

Layout exchanging(ContextExchange type, int cp, int cp_heads = 0) {
  Layout layout;
  layout.cp = cp;
  layout.cp_type = type;
  layout.cp_heads = cp_heads;
  return layout;
}

double sent_bytes(const Operations& operations, std::string_view name, Pass pass) {
  double bytes = 0;
  for (const Operation& operation : operations) {
    const auto* sent = std::get_if<Communication>(&operation.work);
    if (sent != nullptr && operation.name == name && operation.pass == pass)
      bytes += operation.count * sent->bytes;
  }
  return bytes;
}

AttentionShape attention_of(const Operations& operations) {
  for (const Operation& operation : operations)
    if (const auto* attention = std::get_if<Attention>(&operation.work)) return attention->shape;
  return {};
}

Rule checked(const Model& model, const Layout& layout) {
  return check_layout(model, reference::sequences_of(8192), layout, h100_cluster());
}

// Llama 3 8B: 32 heads, 8 key-value heads of 128; 8,192 tokens over 4 ranks are 2,048 each, whose keys and
// values in two bytes are 8 MiB, whose queries and outputs are 16 MiB each.
constexpr double kMebibyte = 1 << 20;

Operations llama_layer(const Layout& layout, Framework framework = Framework::kMegatron) {
  return layer_operations(reference::llama3_8b(), reference::sequences_of(8192), layout,
                          default_profile(framework), Block::kDense);
}

TEST_CASE("gathered keys and values come from all ranks, and go back as gradients") {
  const Operations megatron = llama_layer(exchanging(kAllGather, 4));
  CHECK(sent_bytes(megatron, "kv gather", Pass::kForward) == 4 * 8 * kMebibyte);
  CHECK(sent_bytes(megatron, "kv gather", Pass::kInputGradient) == 4 * 8 * kMebibyte);
  CHECK(sent_bytes(megatron, "kv gradient scatter", Pass::kInputGradient) == 4 * 8 * kMebibyte);
  CHECK(attention_of(megatron).queries == 2048);
  CHECK(attention_of(megatron).keys == 5120);
  // FlexAttention keeps what was gathered.
  const Operations torchtitan = llama_layer(exchanging(kAllGather, 4), Framework::kTorchtitan);
  CHECK(sent_bytes(torchtitan, "kv gather", Pass::kInputGradient) == 0);
  CHECK(sent_bytes(torchtitan, "kv gradient scatter", Pass::kInputGradient) == 4 * 8 * kMebibyte);
}

TEST_CASE("exchanged heads leave every rank whole sequences of its share of them") {
  const Operations layer = llama_layer(exchanging(kAllToAll, 4));
  const AttentionShape shape = attention_of(layer);
  CHECK(shape.queries == 8192);
  CHECK(shape.keys == 8192);
  CHECK(shape.heads == 8);
  CHECK(shape.kv_heads == 2);
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient})
    CHECK(sent_bytes(layer, "head exchange", pass) == (16 + 16 + 8) * kMebibyte);
  CHECK(sent_bytes(layer, "kv ring", Pass::kForward) == 0);
}

TEST_CASE("heads exchanged within a part of the group leave a ring of such parts") {
  // 16 ranks, 8 of them exchange heads: two parts, one hop; 512 tokens a rank, 4,096 a part.
  const Operations layer = llama_layer(exchanging(kAllToAllRing, 16, 8));
  const AttentionShape shape = attention_of(layer);
  CHECK(shape.queries == 4096);
  CHECK(shape.keys == 6144);
  CHECK(shape.heads == 4);
  CHECK(shape.kv_heads == 1);
  CHECK(sent_bytes(layer, "head exchange", Pass::kForward) == 10 * kMebibyte);
  CHECK(sent_bytes(layer, "kv ring", Pass::kForward) == 2 * kMebibyte);
  CHECK(sent_bytes(layer, "kv ring", Pass::kInputGradient) == 4 * kMebibyte);
  const GroupPlacements placed = place_groups(exchanging(kAllToAllRing, 16, 8), 8);
  CHECK(placed[Group::kContextHeads].domains == 1);
  CHECK(placed[Group::kContext].domains == 2);
}

TEST_CASE("no kind computes less attention than another, and none is free") {
  const Hardware hardware = h100_cluster();
  const FrameworkProfile& framework = default_profile(Framework::kMegatron);
  const auto layer = [&](const Layout& layout) {
    return block_times(reference::llama3_8b(), reference::sequences_of(8192), layout, hardware, framework)
        .dense;
  };
  const BlockTime ring = layer(exchanging(kRing, 8));
  for (const Layout& layout :
       {exchanging(kAllGather, 8), exchanging(kAllToAll, 8), exchanging(kAllToAllRing, 8, 4)}) {
    const BlockTime other = layer(layout);
    for (const Pass pass : {Pass::kForward, Pass::kInputGradient}) {
      CHECK(other[pass][Part::kGemm] == ring[pass][Part::kGemm]);
      CHECK(other[pass][Part::kAttention] == near(ring[pass][Part::kAttention]).epsilon(0.15));
      CHECK(other[pass][Part::kContextParallel] > 0);
    }
  }
}

TEST_CASE("each framework has its kinds, and one where nothing is said") {
  const Model llama = reference::llama3_8b();
  const auto usual = [&](Framework framework, const Model& model) {
    return default_exchange(default_profile(framework), model);
  };
  CHECK(usual(Framework::kMegatron, llama) == kRing);
  CHECK(usual(Framework::kTorchtitan, llama) == kAllGather);
  CHECK(usual(Framework::kDeepspeed, llama) == kAllToAll);
  CHECK(usual(Framework::kMegatron, reference::gpt_oss_20b()) == kAllGather);
  for (const Framework framework : {Framework::kMegatron, Framework::kTorchtitan, Framework::kDeepspeed}) {
    for (const ContextExchange type : {kRing, kAllGather, kAllToAll, kAllToAllRing}) {
      Layout layout = exchanging(type, 8, type == kAllToAllRing ? 4 : 0);
      layout.framework = framework;
      layout.zero = framework == Framework::kTorchtitan ? 3 : 1;
      CHECK((checked(llama, layout) == Rule::kNone) == offers_exchange(framework, type));
    }
  }
}

TEST_CASE("Megatron exchanges heads that divide, rings no windows, gathers no latent attention") {
  // 8 key-value heads.
  CHECK(checked(reference::llama3_8b(), exchanging(kAllToAll, 8)) == Rule::kNone);
  CHECK(checked(reference::llama3_8b(), exchanging(kAllToAll, 4)) == Rule::kNone);
  CHECK(checked(reference::llama31_70b(), exchanging(kAllToAll, 16)) == Rule::kHeadsByCp);
  Layout split = exchanging(kAllToAll, 2);
  split.tp = 8;
  CHECK(checked(reference::llama31_70b(), split) == Rule::kHeadsByCp);

  CHECK(checked(reference::gpt_oss_20b(), exchanging(kRing, 2)) == Rule::kContextType);
  CHECK(checked(reference::gpt_oss_20b(), exchanging(kAllGather, 2)) == Rule::kNone);
  CHECK(checked(reference::gpt_oss_20b(), exchanging(kAllToAll, 2)) == Rule::kNone);
  CHECK(checked(reference::deepseek_v3(), exchanging(kRing, 2)) == Rule::kNone);
  CHECK(checked(reference::deepseek_v3(), exchanging(kAllGather, 2)) == Rule::kContextType);
  CHECK(checked(reference::deepseek_v3(), exchanging(kAllToAll, 2)) == Rule::kContextType);
}

TEST_CASE("as many ranks exchange heads as heads and a scale-up domain allow, never all of them") {
  const Hardware hardware = h100_cluster();
  const auto widest = [&](const Model& model, int tp, int cp) {
    Layout layout = exchanging(kAllToAllRing, cp);
    layout.tp = tp;
    return widest_head_exchange(model, layout, hardware);
  };
  CHECK(widest(reference::llama31_70b(), 1, 16) == 8);
  CHECK(widest(reference::llama31_70b(), 1, 8) == 4);
  CHECK(widest(reference::llama31_70b(), 2, 16) == 4);
  CHECK(widest(reference::llama31_70b(), 8, 16) == 0);
  CHECK(widest(reference::llama2_7b(), 4, 16) == 2);  // 32 key-value heads; the node has 8 GPUs
  CHECK(widest(reference::llama31_70b(), 1, 2) == 0);
}

TEST_CASE("a kind that is refused is told with the kinds that are legal") {
  const Recipe recipe = reference::sequences_of(8192);
  const auto words = [&](const Model& model, const Layout& layout) {
    return explain_rule(checked(model, layout), model, recipe, layout, h100_cluster(), 1);
  };
  Layout titan = exchanging(kAllToAll, 2);
  titan.framework = Framework::kTorchtitan;
  titan.zero = 3;
  CHECK(words(reference::llama3_8b(), titan) ==
        "cp_type: torchtitan does not offer cp_type all_to_all; legal cp_type: ring, all_gather");
  CHECK(words(reference::gpt_oss_20b(), exchanging(kRing, 4)) ==
        "cp_type: cp_type ring does not go with sliding windows; legal cp_type: all_gather, all_to_all");
  CHECK(words(reference::llama31_70b(), exchanging(kAllToAll, 16))
            .find("legal cp_type: ring, all_gather, "
                  "all_to_all_ring") != std::string::npos);
}

TEST_CASE("torchtitan keeps what it gathered, unless that is done again") {
  const auto activations = [](ContextExchange type, Recompute recompute) {
    Layout layout = exchanging(type, 4);
    layout.framework = Framework::kTorchtitan;
    layout.zero = 3;
    layout.recompute = recompute;
    return memory_use(reference::llama3_8b(), reference::sequences_of(8192), layout, 1).parts.activations;
  };
  // Three other ranks' 8 MiB in each of 32 layers.
  CHECK(activations(kAllGather, Recompute::kNone) - activations(kRing, Recompute::kNone) ==
        near(32 * 3 * 8 * kMebibyte));
  CHECK(activations(kAllGather, Recompute::kFull) == activations(kRing, Recompute::kFull));
}

}  // namespace
}  // namespace trainfront::costmodel
