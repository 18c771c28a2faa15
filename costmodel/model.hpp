#pragma once

#include <compare>
#include <optional>
#include <string>

namespace trainfront::costmodel {

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1). Widths in elements; q_rank 0:
// queries are projected directly.
struct LatentAttention {
  int q_rank = 0;
  int kv_rank = 0;
  int nope_dim = 0;   // query/key part without rotary embedding, per head
  int rope_dim = 0;   // query/key part with it; the key's is shared by all heads
  int value_dim = 0;  // per head

  auto operator<=>(const LatentAttention&) const = default;
};

enum class Norm { kRms, kLayer };

// A transformer's shape: all that parameters, FLOPs, memory and time are counted from. Widths are per layer
// and unsharded. A member that is 0 or false is absent from the model.
struct Model {
  std::string name;

  int layers = 0;  // transformer blocks, without multi-token-prediction blocks
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;   // heads * head_dim need not equal hidden (Qwen3)
  int ffn = 0;        // width of a dense MLP
  bool gated = true;  // SwiGLU, GeGLU: three matrices; otherwise two
  int vocab = 0;
  bool tied_embeddings = false;
  int learned_positions = 0;  // rows of a learned position table; 0: rotary or ALiBi

  std::optional<LatentAttention> latent;  // set: MLA, and head_dim, kv_heads do not count
  bool qkv_bias = false;
  bool attention_out_bias = false;
  bool mlp_bias = false;
  bool lm_head_bias = false;
  bool qk_norm = false;          // a norm over each head's query and key
  bool attention_sinks = false;  // one learned logit per head (GPT-OSS)
  Norm norm = Norm::kRms;
  int norms_per_layer = 2;  // Gemma 2 and 3: 4; parallel attention and MLP (Phi): 1
  int sliding_window = 0;   // tokens; 0: every layer attends to all of the past
  int full_attention_every =
      1;  // with a window: one layer in so many attends to all (1: none is windowed, 0: all are)

  int experts = 0;  // routed experts per MoE layer; 0: a dense model
  int experts_per_token = 0;
  int expert_groups = 0;  // routing is limited: a token's experts lie in groups_per_token of so many
                          // groups (DeepSeek-V3, arXiv 2412.19437, section 2.1.2); 0: anywhere
  int groups_per_token = 0;
  int expert_ffn = 0;         // width of one routed expert
  int shared_expert_ffn = 0;  // summed width of the experts every token visits
  int dense_layers = 0;       // leading layers with a dense MLP
  int moe_every = 1;          // of the rest, one layer in so many is MoE
  bool router_bias = false;   // a learned bias per expert in the router (DeepSeek-V3, GPT-OSS)
  bool expert_bias = false;
  bool expert_clamp = false;  // gate and up of routed experts are cut off at a limit (GPT-OSS, swiglu_limit)

  int mtp_blocks = 0;  // multi-token-prediction blocks (DeepSeek-V3, arXiv 2412.19437, section 2.2)

  bool is_moe() const { return experts > 0; }
  bool operator==(const Model&) const = default;
};

}  // namespace trainfront::costmodel
