#pragma once

#include "costmodel/model.hpp"
#include "costmodel/recipe.hpp"

// Shapes of public models, as their configurations state them, for the tests of this folder.
namespace trainfront::costmodel::reference {

inline Model dense(int layers, int hidden, int heads, int kv_heads, int ffn, int vocab) {
  Model model;
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.kv_heads = kv_heads;
  model.head_dim = hidden / heads;
  model.ffn = ffn;
  model.vocab = vocab;
  return model;
}

inline Model llama2_7b() {
  return dense(32, 4096, 32, 32, 11008, 32000);
}
inline Model llama2_70b() {
  return dense(80, 8192, 64, 8, 28672, 32000);
}
inline Model llama3_8b() {
  return dense(32, 4096, 32, 8, 14336, 128256);
}
inline Model llama31_70b() {
  return dense(80, 8192, 64, 8, 28672, 128256);
}
inline Model llama31_405b() {
  return dense(126, 16384, 128, 8, 53248, 128256);
}

inline Model qwen25_72b() {
  Model model = dense(80, 8192, 64, 8, 29568, 152064);
  model.qkv_bias = true;
  return model;
}

inline Model qwen3_4b() {
  Model model = dense(36, 2560, 32, 8, 9728, 151936);
  model.head_dim = 128;
  model.tied_embeddings = true;
  model.qk_norm = true;
  return model;
}

inline Model llama32_1b() {
  Model model = dense(16, 2048, 32, 8, 8192, 128256);
  model.tied_embeddings = true;
  return model;
}

// GPT as Megatron trains it: biases, LayerNorm, learned positions, four-fold MLP without a gate.
inline Model gpt(int layers, int hidden, int heads, int vocab, int positions) {
  Model model = dense(layers, hidden, heads, heads, 4 * hidden, vocab);
  model.gated = false;
  model.tied_embeddings = true;
  model.learned_positions = positions;
  model.qkv_bias = model.attention_out_bias = model.mlp_bias = true;
  model.norm = Norm::kLayer;
  return model;
}

inline Model gemma_2b() {
  Model model = dense(18, 2048, 8, 1, 16384, 256000);
  model.tied_embeddings = true;
  return model;
}

inline Model phi_1_5() {
  Model model = gpt(24, 2048, 32, 51200, 0);
  model.tied_embeddings = false;
  model.lm_head_bias = true;
  model.norms_per_layer = 1;
  return model;
}

inline Model mixture(Model model, int experts, int per_token, int expert_ffn) {
  model.experts = experts;
  model.experts_per_token = per_token;
  model.expert_ffn = expert_ffn;
  return model;
}

inline Model mixtral_8x7b() {
  return mixture(dense(32, 4096, 32, 8, 14336, 32000), 8, 2, 14336);
}
inline Model mixtral_8x22b() {
  return mixture(dense(56, 6144, 48, 8, 16384, 32000), 8, 2, 16384);
}

inline Model qwen3_235b() {
  Model model = mixture(dense(94, 4096, 64, 4, 12288, 151936), 128, 8, 1536);
  model.head_dim = 128;
  model.qk_norm = true;
  return model;
}

inline Model qwen3_30b() {
  Model model = mixture(dense(48, 2048, 32, 4, 6144, 151936), 128, 8, 768);
  model.head_dim = 128;
  model.qk_norm = true;
  return model;
}

inline Model deepseek_v3() {
  Model model = mixture(dense(61, 7168, 128, 128, 18432, 129280), 256, 8, 2048);
  model.latent =
      LatentAttention{.q_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .value_dim = 128};
  model.shared_expert_ffn = 2048;
  model.dense_layers = 3;
  model.router_bias = true;
  model.mtp_blocks = 1;
  return model;
}

inline Model gpt_oss_20b() {
  Model model = mixture(dense(24, 2880, 64, 8, 2880, 201088), 32, 4, 2880);
  model.head_dim = 64;
  model.qkv_bias = model.attention_out_bias = true;
  model.attention_sinks = true;
  model.router_bias = model.expert_bias = model.expert_clamp = true;
  model.sliding_window = 128;
  model.full_attention_every = 2;
  return model;
}

inline Recipe sequences_of(int length) {
  Recipe recipe;
  recipe.sequence_length = length;
  return recipe;
}

}  // namespace trainfront::costmodel::reference
