#include <fmt/core.h>

#include <algorithm>

#include "inputs/hf_fields.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Model;
using costmodel::Norm;

void read_llama(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, false);
  model.ffn = fields.required("intermediate_size");
  model.qkv_bias = model.attention_out_bias = fields.flag("attention_bias", false);
  model.mlp_bias = fields.flag("mlp_bias", false);
}

void read_mistral(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, false);
  model.ffn = fields.required("intermediate_size");
  read_hf_window(fields, model, 0, 4096);
}

// The class has biases on queries, keys and values, and none on the output, whatever the config says.
void read_qwen2(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, false);
  model.ffn = fields.required("intermediate_size");
  model.qkv_bias = true;
  model.mtp_blocks = fields.optional("num_nextn_predict_layers", 0, 64);
  if (fields.flag("use_sliding_window", false)) read_hf_window(fields, model, 0, 0);
}

void read_qwen3(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, false);
  model.ffn = fields.required("intermediate_size");
  model.qk_norm = true;
  model.qkv_bias = model.attention_out_bias = fields.flag("attention_bias", false);
  if (fields.flag("use_sliding_window", false)) read_hf_window(fields, model, 0, 0);
}

void read_gemma(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, true);
  model.ffn = fields.required("intermediate_size");
  model.qkv_bias = model.attention_out_bias = fields.flag("attention_bias", false);
}

// Norms before and behind attention and MLP; every other layer attends to a window (arXiv 2408.00118, section
// 2).
void read_gemma2(HfFields& fields, Model& model) {
  read_gemma(fields, model);
  model.norms_per_layer = 4;
  read_hf_window(fields, model, 2, -1);
}

// As Gemma 2, with norms on queries and keys and five windowed layers to a full one (arXiv 2503.19786,
// section 2).
void read_gemma3(HfFields& fields, Model& model) {
  read_gemma(fields, model);
  model.norms_per_layer = 4;
  model.qk_norm = true;
  read_hf_window(fields, model, fields.optional("sliding_window_pattern", 6, kMaxLayers, 1), -1);
}

// Attention and MLP side by side behind one LayerNorm, biases everywhere (arXiv 2309.05463; PhiForCausalLM).
void read_phi(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, false);
  model.ffn = fields.required("intermediate_size");
  model.gated = false;
  model.norm = Norm::kLayer;
  model.norms_per_layer = 1;
  model.qkv_bias = model.attention_out_bias = model.mlp_bias = model.lm_head_bias = true;
  if (fields.flag("qk_layernorm", false)) model.qk_norm = true;
}

// Llama's shape; queries, keys and values in one matrix, gate and up too.
void read_phi3(HfFields& fields, Model& model) {
  read_hf_backbone(fields, model, false);
  model.ffn = fields.required("intermediate_size");
  read_hf_window(fields, model, 0, 0);
}

// GPT-2 (and GPT-3 in its fields): learned positions, LayerNorm, biases, four times as wide MLP unless told.
void read_gpt2(HfFields& fields, Model& model) {
  model.layers = fields.required("n_layer", kMaxLayers);
  model.hidden = fields.required("n_embd");
  model.heads = model.kv_heads = fields.required("n_head");
  model.vocab = fields.required("vocab_size");
  model.learned_positions = fields.required("n_positions");
  model.ffn = fields.optional("n_inner", std::min(kMaxWidth, 4 * model.hidden), kMaxWidth, 1);
  model.tied_embeddings = fields.flag("tie_word_embeddings", true);
  model.gated = false;
  model.norm = Norm::kLayer;
  model.qkv_bias = model.attention_out_bias = model.mlp_bias = true;
  if (model.heads > 0 && model.hidden % model.heads != 0)
    fields.refuse("n_head", fmt::format("does not divide n_embd {}", model.hidden));
  if (model.heads > 0) model.head_dim = model.hidden / model.heads;
}

}  // namespace

void read_hf_backbone(HfFields& fields, Model& model, bool tied_by_default) {
  model.layers = fields.required("num_hidden_layers", kMaxLayers);
  model.hidden = fields.required("hidden_size");
  model.heads = fields.required("num_attention_heads");
  model.kv_heads = fields.optional("num_key_value_heads", model.heads, kMaxWidth, 1);
  model.vocab = fields.required("vocab_size");
  model.tied_embeddings = fields.flag("tie_word_embeddings", tied_by_default);
  if (fields.has("head_dim")) {
    model.head_dim = fields.optional("head_dim", 0, kMaxWidth, 1);
  } else if (model.heads > 0 && model.hidden > 0) {
    if (model.hidden % model.heads != 0)
      fields.refuse("head_dim",
                    fmt::format("is missing, and hidden_size {} is no multiple of num_attention_heads {}",
                                model.hidden, model.heads));
    model.head_dim = model.hidden / model.heads;
  }
}

void read_hf_window(HfFields& fields, Model& model, int period, int by_default) {
  constexpr int kMaxWindow = 1 << 30;
  const bool absent = fields.section().find("sliding_window") == nullptr;
  const int window = absent && by_default < 0
                         ? fields.required("sliding_window", kMaxWindow)
                         : fields.optional("sliding_window", absent ? by_default : 0, kMaxWindow);
  if (window == 0) return;
  const Value* types = fields.has("layer_types") ? fields.section().find("layer_types") : nullptr;
  if (types == nullptr) {
    model.sliding_window = window;
    model.full_attention_every = period;
    return;
  }
  // One full layer in so many is what the cost model knows; the places of the full layers do not matter to
  // it.
  const auto full = std::count_if(types->items.begin(), types->items.end(),
                                  [](const Value& type) { return type.text == "full_attention"; });
  const auto listed = static_cast<std::ptrdiff_t>(types->items.size());
  if (types->kind != Value::Kind::kList || listed != model.layers) {
    fields.refuse("layer_types", fmt::format("must list the kind of each of the {} layers", model.layers));
  } else if (full == 0) {
    model.sliding_window = window;
    model.full_attention_every = 0;
  } else if (full < listed) {
    model.sliding_window = window;
    model.full_attention_every = static_cast<int>((listed + full / 2) / full);
    if (listed / model.full_attention_every != full)
      fields.note(fmt::format("{}: {} of {} layers attend to all of the past; modelled as one in {}",
                              model.name, full, listed, model.full_attention_every));
  }
}

const std::vector<HfFamily>& hf_dense_families() {
  static const std::vector<HfFamily> families = {
      {"gemma", read_gemma}, {"gemma2", read_gemma2}, {"gemma3", read_gemma3}, {"gemma3_text", read_gemma3},
      {"gpt2", read_gpt2},   {"llama", read_llama},   {"mimo", read_qwen2},    {"mistral", read_mistral},
      {"phi", read_phi},     {"phi3", read_phi3},     {"qwen2", read_qwen2},   {"qwen3", read_qwen3},
  };
  return families;
}

}  // namespace trainfront::inputs
