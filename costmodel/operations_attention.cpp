#include <algorithm>

#include "costmodel/flops.hpp"
#include "costmodel/operation_builder.hpp"

namespace trainfront::costmodel {
namespace {

// What the attention kernel of one GPU sees, per head and token.
struct HeadShape {
  double heads, kv_heads, qk_dim, value_dim;
};

HeadShape own_heads(const Model& model, double tp) {
  if (model.latent) {
    const LatentAttention& latent = *model.latent;
    const double heads = model.heads / tp;  // decompressed: every head has its own key and value
    return {heads, heads, static_cast<double>(latent.nope_dim + latent.rope_dim),
            static_cast<double>(latent.value_dim)};
  }
  // Fewer KV heads than tp: each rank needs one all the same.
  return {model.heads / tp, std::max(1.0, model.kv_heads / tp), static_cast<double>(model.head_dim),
          static_cast<double>(model.head_dim)};
}

void add_kv_up(OperationBuilder& builder, const Model& model, const Recipe& recipe, const HeadShape& own) {
  const LatentAttention& latent = *model.latent;
  builder.add_linear("kv up", recipe.precision, builder.tokens(),
                     own.heads * (latent.nope_dim + latent.value_dim), latent.kv_rank);
}

void add_latent_norms(OperationBuilder& builder, const LatentAttention& latent) {
  builder.add_traffic("latent norms", MemoryBound::kNorm,
                      2 * builder.own_tokens() * (latent.q_rank + latent.kv_rank) * kActivationBytes);
}

void add_projections(OperationBuilder& builder, const Model& model, const Recipe& recipe,
                     const FrameworkProfile& framework, const HeadShape& own) {
  const double tokens = builder.tokens();
  const double hidden = model.hidden;
  if (!model.latent) {
    builder.add_gather_before("attention gather", hidden, gathered_precision(recipe, framework));
    const double key_width = own.kv_heads * own.qk_dim;
    builder.add_linears("qkv", recipe.precision, tokens, {own.heads * own.qk_dim, key_width, key_width},
                        hidden, framework.fused_projections);
    return;
  }
  // Every rank compresses its own tokens with the whole down-projections; what travels is the compressed
  // width.
  const LatentAttention& latent = *model.latent;
  const double compressed = latent.kv_rank + latent.rope_dim;
  const double query_width = own.heads * own.qk_dim;
  if (latent.q_rank > 0) {
    builder.add_linear("q down", recipe.precision, builder.own_tokens(), latent.q_rank, hidden);
    builder.add_gather_before("attention gather", latent.q_rank + compressed);
    builder.add_linear("q up", recipe.precision, tokens, query_width, latent.q_rank);
  } else {
    builder.add_gather_before("attention gather", hidden + compressed);
    builder.add_linear("q", recipe.precision, tokens, query_width, hidden);
  }
  builder.add_linear("kv down", recipe.precision, builder.own_tokens(), compressed, hidden);
  add_kv_up(builder, model, recipe, own);
  add_latent_norms(builder, latent);
}

// Attention of one context-parallel rank: its queries against all keys. Balanced ranks meet the mean number
// of keys; otherwise the last rank, which meets the most, sets the pace.
AttentionShape attention_shape(const Recipe& recipe, const Layout& layout, const FrameworkProfile& framework,
                               const HeadShape& own, double window) {
  const double sequence = recipe.sequence_length;
  const int rings = layout.cp / layout.head_ranks();  // ranks that share a sequence's queries
  AttentionShape shape{.batch = static_cast<double>(layout.micro_batch),
                       .queries = sequence / rings,
                       .keys = sequence,
                       .heads = own.heads,
                       .kv_heads = own.kv_heads,
                       .qk_dim = own.qk_dim,
                       .value_dim = own.value_dim,
                       .causal = true,
                       .window = window};
  shape.heads /= layout.head_ranks();
  shape.kv_heads = std::max(1.0, shape.kv_heads / layout.head_ranks());
  if (framework.causal_balanced) {
    shape.keys = (sequence + shape.queries) / 2;  // causal masks lie against the last key
  }
  return shape;
}

// The same share of the work as whole sequences of fewer heads.
AttentionShape undivided_shape(const Recipe& recipe, const Layout& layout, AttentionShape shape,
                               const HeadShape& own) {
  shape.batch = layout.cp > 1 ? static_cast<double>(layout.micro_batch) / layout.cp : 0;
  shape.queries = shape.keys = recipe.sequence_length;
  shape.heads = own.heads;
  shape.kv_heads = own.kv_heads;
  return shape;
}

void add_fused(OperationBuilder& builder, const AttentionShape& shape, const AttentionShape& undivided,
               double count) {
  builder.add({"attention", Pass::kForward, count, Attention{shape, false, undivided}});
  builder.add({"attention", Pass::kInputGradient, count, Attention{shape, true, undivided}});
}

// All scores, masked ones too, are computed by batched products and go through memory (Korthikanti et al.,
// section 4.1).
void add_unfused(OperationBuilder& builder, const AttentionShape& shape, double count, double score_bytes) {
  const double rows = shape.batch * shape.heads * shape.queries;
  const auto product = [&](const char* name, Pass pass, double n, double k) {
    builder.add({name, pass, count, Gemm{Precision::kBf16, rows, n, k}, true});
  };
  const auto traffic = [&](Pass pass, double bytes) {
    builder.add(
        {"softmax", pass, count, MemoryTraffic{MemoryBound::kSoftmax, bytes * rows * shape.keys}, true});
  };
  product("scores", Pass::kForward, shape.keys, shape.qk_dim);
  traffic(Pass::kForward, score_bytes);
  product("context", Pass::kForward, shape.value_dim, shape.keys);
  product("score gradient", Pass::kInputGradient, shape.keys, shape.value_dim);
  product("value gradient", Pass::kInputGradient, shape.value_dim, shape.keys);
  traffic(Pass::kInputGradient, 1.5 * score_bytes);
  product("query gradient", Pass::kInputGradient, shape.qk_dim, shape.keys);
  product("key gradient", Pass::kInputGradient, shape.qk_dim, shape.keys);
}

void add_attention(OperationBuilder& builder, const Recipe& recipe, const Layout& layout,
                   const FrameworkProfile& framework, const HeadShape& own, double window, double count) {
  if (count <= 0) return;
  const AttentionShape shape = attention_shape(recipe, layout, framework, own, window);
  if (framework.fused_attention) {
    add_fused(builder, shape, undivided_shape(recipe, layout, shape, own), count);
  } else {
    add_unfused(builder, shape, count, framework.score_bytes);
  }
}

// A ring's later steps each add what they found to the outputs so far, and backward to the gradients of
// queries, keys and values: two reads and a write an element. Of the two chunks that a balanced rank holds,
// a step from a rank behind it in the sequence touches one only.
void add_ring_sums(OperationBuilder& builder, const FrameworkProfile& framework, const HeadShape& own,
                   double hops) {
  constexpr double kTouched = 3 * kActivationBytes;
  const double share = framework.causal_balanced ? 0.75 : 1;
  const double tokens = builder.tokens() * kTouched;
  const double key_value_bytes = tokens * own.kv_heads * (own.qk_dim + own.value_dim);
  builder.add({"ring sums", Pass::kForward, hops,
               MemoryTraffic{MemoryBound::kAdd, share * tokens * own.heads * own.value_dim}});
  builder.add(
      {"ring sums", Pass::kInputGradient, hops,
       MemoryTraffic{MemoryBound::kAdd, share * (tokens * own.heads * own.qk_dim + key_value_bytes)}});
}

// cp_heads ranks exchange heads: queries, keys, values and outputs change owner, and back.
void add_head_exchange(OperationBuilder& builder, double query_bytes, double key_value_bytes) {
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient}) {
    for (const double bytes : {query_bytes, key_value_bytes}) {
      builder.add_communication("head exchange", pass,
                                {Collective::kAllToAll, bytes / 2, Group::kContextHeads}, 2);
    }
  }
}

// Hops of one rank's keys and values; backward their gradients travel as well.
void add_ring(OperationBuilder& builder, const FrameworkProfile& framework, const HeadShape& own,
              double key_value_bytes, double hops) {
  builder.add_communication("kv ring", Pass::kForward,
                            {Collective::kSendRecv, key_value_bytes, Group::kContext, true}, hops);
  builder.add_communication("kv ring", Pass::kInputGradient,
                            {Collective::kSendRecv, 2 * key_value_bytes, Group::kContext, true}, hops);
  add_ring_sums(builder, framework, own, hops);
}

// The same bytes before attention, scattered sums after.
void add_gather(OperationBuilder& builder, const FrameworkProfile& framework, double all_bytes) {
  builder.add_communication("kv gather", Pass::kForward,
                            {Collective::kAllGather, all_bytes, Group::kContext});
  if (!framework.keeps_gathered_keys) {
    builder.add_communication("kv gather", Pass::kInputGradient,
                              {Collective::kAllGather, all_bytes, Group::kContext});
  }
  builder.add_communication("kv gradient scatter", Pass::kInputGradient,
                            {Collective::kReduceScatter, all_bytes, Group::kContext});
}

void add_context_exchange(OperationBuilder& builder, const Layout& layout, const FrameworkProfile& framework,
                          const HeadShape& own) {
  if (layout.cp <= 1) return;
  const double elements = builder.tokens() * (own.qk_dim + own.value_dim) * kActivationBytes;
  const double kv_bytes = elements * own.kv_heads;
  if (layout.cp_type == ContextExchange::kAllGather) {
    add_gather(builder, framework, kv_bytes * layout.cp);
    return;
  }
  const int rings = layout.cp / layout.head_ranks();
  if (layout.head_ranks() > 1) add_head_exchange(builder, elements * own.heads, kv_bytes);
  if (rings > 1) add_ring(builder, framework, own, kv_bytes, rings - 1);
}

// Scores to context, full and windowed layers in the model's mixture, and what other ranks must see.
void add_core_attention(OperationBuilder& builder, const Model& model, const Recipe& recipe,
                        const Layout& layout, const FrameworkProfile& framework, const HeadShape& own) {
  const double full = static_cast<double>(full_attention_layers(model)) / model.layers;
  add_attention(builder, recipe, layout, framework, own, 0, full);
  add_attention(builder, recipe, layout, framework, own, model.sliding_window, 1 - full);
  add_context_exchange(builder, layout, framework, own);
}

void add_rotary(OperationBuilder& builder, const Model& model, const HeadShape& own) {
  if (model.learned_positions > 0) return;
  const double qk_width = (own.heads + own.kv_heads) * own.qk_dim;
  const double rotated = model.latent ? qk_width * model.latent->rope_dim / own.qk_dim : qk_width;
  builder.add_traffic("rotary", MemoryBound::kRotary, 2 * builder.tokens() * rotated * kActivationBytes, 1);
}

}  // namespace

void add_attention_block(OperationBuilder& builder, const Model& model, const Recipe& recipe,
                         const Layout& layout, const FrameworkProfile& framework) {
  const HeadShape own = own_heads(model, builder.tp());
  const double tokens = builder.tokens();
  add_projections(builder, model, recipe, framework, own);
  if (model.qk_norm) {
    const double qk_width = (own.heads + own.kv_heads) * own.qk_dim;
    builder.add_traffic("qk norm", MemoryBound::kNorm, 2 * tokens * qk_width * kActivationBytes);
  }
  add_rotary(builder, model, own);
  add_core_attention(builder, model, recipe, layout, framework, own);
  builder.add_linear("attention out", recipe.precision, tokens, model.hidden, own.heads * own.value_dim);
  builder.add_reduce_after("attention reduce", model.hidden, gathered_precision(recipe, framework));
}

void add_core_attention(OperationBuilder& builder, const Model& model, const Recipe& recipe,
                        const Layout& layout, const FrameworkProfile& framework) {
  add_core_attention(builder, model, recipe, layout, framework, own_heads(model, builder.tp()));
}

void add_latent_up_projections(OperationBuilder& builder, const Model& model, const Recipe& recipe) {
  if (!model.latent) return;
  const LatentAttention& latent = *model.latent;
  const HeadShape own = own_heads(model, builder.tp());
  const double query_inputs = latent.q_rank > 0 ? latent.q_rank : model.hidden;
  builder.add_gather_before("attention gather", query_inputs + latent.kv_rank + latent.rope_dim);
  builder.add_linear("q up", recipe.precision, builder.tokens(), own.heads * own.qk_dim, query_inputs);
  add_kv_up(builder, model, recipe, own);
  add_latent_norms(builder, latent);
  add_rotary(builder, model, own);
}

}  // namespace trainfront::costmodel
