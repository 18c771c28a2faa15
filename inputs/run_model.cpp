#include "inputs/run_model.hpp"

#include <algorithm>
#include <cmath>

#include "inputs/run_spelling.hpp"

namespace trainfront::inputs {

namespace {

using costmodel::Model;

// GPT-2's vocabulary, the default of the GPT scripts of Megatron and its kin.
constexpr int kGptVocabulary = 50257;
// For tables that call it tiny: embedding and head then cost next to nothing.
constexpr int kTinyVocabulary = 256;

std::optional<int> whole(const std::optional<double>& value) {
  if (!value || *value != std::floor(*value) || *value < 0 || *value > 1e9) return std::nullopt;
  return static_cast<int>(*value);
}

bool agrees(const std::optional<double>& stated, int known) {
  return !stated || *stated == known;
}

// The longest catalogue name that the row's name begins with, both plain, if the shapes agree. "proxy" models
// have fewer layers, so the number of layers need not agree.
const Model* find_base(const RunRow& row, const Catalog& catalog) {
  const std::string name = plain_name(row.model_name);
  const ModelEntry* best = nullptr;
  for (const ModelEntry& entry : catalog.models) {
    const std::string plain = plain_name(entry.name);
    if (plain.empty() || !name.starts_with(plain)) continue;
    const Model& model = entry.model;
    const bool same_shape = agrees(row.hidden, model.hidden) && agrees(row.heads, model.heads) &&
                            agrees(row.experts, model.experts) && agrees(row.expert_ffn, model.expert_ffn);
    if (same_shape && (best == nullptr || plain.size() > plain_name(best->name).size())) best = &entry;
  }
  return best != nullptr ? &best->model : nullptr;
}

void take(const std::optional<double>& stated, int& into) {
  if (const std::optional<int> value = whole(stated)) into = *value;
}

void override_by_row(const RunRow& row, Model& model) {
  take(row.layers, model.layers);
  take(row.hidden, model.hidden);
  take(row.heads, model.heads);
  take(row.kv_heads, model.kv_heads);
  take(row.head_dim, model.head_dim);
  take(row.vocab, model.vocab);
  take(row.experts, model.experts);
  take(row.experts_per_token, model.experts_per_token);
  take(row.expert_ffn, model.expert_ffn);
  // A table gives an MoE model's dense width even where no layer has it.
  if (row.ffn && (model.ffn > 0 || model.experts == 0 || !row.expert_ffn)) take(row.ffn, model.ffn);
  if (row.gated) model.gated = *row.gated != 0;
  if (row.tied_embeddings) model.tied_embeddings = *row.tied_embeddings != 0;
  if (row.notes.find("tied_emb=1") != std::string::npos) model.tied_embeddings = true;
}

// GPT, MPT and BLOOM tie their tables; what the name means where the catalogue does not know it.
void apply_family(const RunRow& row, Model& model) {
  const std::string name = plain_name(row.model_name);
  if (name.starts_with("gpt") || name.starts_with("mpt") || name.starts_with("bloom")) {
    model.tied_embeddings = true;
    model.norm = costmodel::Norm::kLayer;
    if (!row.gated) model.gated = false;
  }
}

void fill_defaults(const RunRow& row, Model& model, std::vector<std::string>& assumed) {
  if (model.heads == 0) {
    model.heads = std::max(1, model.hidden / 128);
    assumed.push_back("heads of 128");
  }
  if (model.kv_heads == 0) model.kv_heads = model.heads;
  if (model.head_dim == 0 && !model.latent) model.head_dim = model.hidden / model.heads;
  if (model.ffn == 0 && model.experts == 0) {
    model.ffn = 4 * model.hidden;
    assumed.push_back("MLP width 4 x hidden");
  }
  if (model.vocab == 0 && row.notes.find("tiny vocab") != std::string::npos) {
    model.vocab = kTinyVocabulary;
    assumed.push_back("a tiny vocabulary");
  }
  if (model.vocab == 0) {
    model.vocab = kGptVocabulary;
    assumed.push_back("vocabulary of GPT-2");
  }
  if (model.experts == 0) return;
  if (model.experts_per_token == 0) {
    model.experts_per_token = 2;  // Megatron-LM, moe_router_topk
    assumed.push_back("2 experts per token");
  }
  if (model.expert_ffn == 0) {
    model.expert_ffn = model.ffn;  // Megatron-LM, moe_ffn_hidden_size
    if (!row.expert_ffn) assumed.push_back("expert width as the MLP's");
  }
}

}  // namespace

std::optional<Model> read_run_model(const RunRow& row, const Catalog& catalog, std::string& reason,
                                    std::vector<std::string>& assumed) {
  Model model;
  if (const Model* base = find_base(row, catalog)) {
    model = *base;
  } else {
    apply_family(row, model);
  }
  override_by_row(row, model);
  model.name = row.model_name;
  if (model.layers <= 0 || model.hidden <= 0) {
    reason = "the model's shape is not stated";
    return std::nullopt;
  }
  fill_defaults(row, model, assumed);
  if (model.head_dim <= 0 && !model.latent) {
    reason = "more heads than hidden widths";
    return std::nullopt;
  }
  if (model.experts > 0 && (model.expert_ffn <= 0 || model.experts_per_token > model.experts)) {
    reason = "the experts' shape is not stated";
    return std::nullopt;
  }
  return model;
}

}  // namespace trainfront::inputs
