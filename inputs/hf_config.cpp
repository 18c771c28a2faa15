#include "inputs/hf_config.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "inputs/hf_fields.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Model;

const HfFamily* find_family(std::string_view model_type) {
  for (const auto* families : {&hf_dense_families(), &hf_moe_families()})
    for (const HfFamily& family : *families)
      if (family.model_type == model_type) return &family;
  return nullptr;
}

// Fields that only models with layers other than attention and MLP have.
std::string other_layers(const Value& config) {
  constexpr std::string_view kSigns[] = {"hybrid_override_pattern", "mamba_num_heads",  "mamba_d_state",
                                         "mamba_n_heads",           "ssm_state_size",   "ssm_cfg",
                                         "linear_num_key_heads",    "attn_layer_period"};
  for (const std::string_view sign : kSigns) {
    const Value* value = config.find(sign);
    if (value != nullptr && value->kind != Value::Kind::kNull) return std::string(sign);
  }
  return {};
}

// Multimodal models keep the language model's fields in a table of their own.
std::optional<Section> language_model(Section& root, std::vector<std::string>& notes) {
  const Value* table = root.find("text_config");
  if (table == nullptr || table->kind != Value::Kind::kTable) return std::nullopt;
  notes.push_back(fmt::format("{}: only the language model (text_config) is modelled", root.document().file));
  return root.section("text_config");
}

std::string model_name(const std::filesystem::path& path) {
  std::string name = path.stem().string();
  if (name == "config" && path.has_parent_path()) name = path.parent_path().filename().string();
  if (name.ends_with("_config")) name.erase(name.size() - 7);
  return name.empty() ? "model" : name;
}

}  // namespace

HfConfig parse_hf_config(std::string_view text, std::string file, std::string name, Diagnostics& faults,
                         std::vector<std::string>& notes) {
  HfConfig read;
  Model& model = read.model;
  model.name = std::move(name);
  const Document document = parse_json(text, std::move(file), faults);
  if (document.damaged) return read;
  Section root(document, document.root, "", faults);
  const std::string odd = other_layers(document.root);
  if (!odd.empty()) {
    root.fault(
        odd,
        "the model has layers other than attention and MLP (state space or linear attention); only plain "
        "transformers are modelled");
    return read;
  }

  std::optional<Section> inner = language_model(root, notes);
  Section& section = inner ? *inner : root;
  HfFields fields(section, notes);
  HfFields outer(root, notes);
  std::string type = fields.text("model_type");
  if (type.empty()) type = outer.text("model_type");
  if (type.empty()) {
    root.fault("model_type", "is missing; it names the architecture", join(hf_model_types()));
    return read;
  }
  const HfFamily* family = find_family(type);
  if (family == nullptr) {
    const std::vector<std::string> known = hf_model_types();
    const Value* at = section.table().find("model_type");
    section.fault(
        at != nullptr ? *at : *root.table().find("model_type"), "model_type", "unknown architecture",
        join(known) + "; or give the shape by its own keys (layers, hidden, ...)", nearest(type, known));
    return read;
  }
  const bool before = faults.empty();
  family->read(fields, model);
  constexpr int kMostPositions = 1 << 30;
  read.max_positions = fields.optional("max_position_embeddings", 0, kMostPositions);
  if (!model.is_moe() && faults.empty()) {
    for (const std::string_view key : {"num_local_experts", "num_experts", "n_routed_experts"})
      if (fields.optional(key, 0) > 1)
        section.fault(key, "has experts, and architecture " + in_quotes(type) +
                               " has none: one of the two is not what it says");
  }
  if (inner && !fields.has("tie_word_embeddings") && outer.has("tie_word_embeddings"))
    model.tied_embeddings = outer.flag("tie_word_embeddings", model.tied_embeddings);
  if (before && faults.empty()) {
    const std::string conflict = shape_conflict(model);
    if (!conflict.empty()) section.fault("", conflict);
  }
  return read;
}

HfConfig read_hf_config(const std::filesystem::path& path, Diagnostics& faults,
                        std::vector<std::string>& notes, const Fault& named_at) {
  const auto text = read_text(path, faults, named_at);
  if (!text) return {};
  return parse_hf_config(*text, path.string(), model_name(path), faults, notes);
}

Model read_hf_config(const std::filesystem::path& path) {
  Diagnostics faults;
  std::vector<std::string> notes;
  Model model = read_hf_config(path, faults, notes).model;
  faults.throw_if_any();
  return model;
}

std::vector<std::string> hf_model_types() {
  std::vector<std::string> types;
  for (const auto* families : {&hf_dense_families(), &hf_moe_families()})
    for (const HfFamily& family : *families) types.emplace_back(family.model_type);
  std::sort(types.begin(), types.end());
  return types;
}

}  // namespace trainfront::inputs
