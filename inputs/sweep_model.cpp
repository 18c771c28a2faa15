#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "inputs/hf_config.hpp"
#include "inputs/model_shape.hpp"
#include "inputs/suggest.hpp"
#include "inputs/sweep_lists.hpp"
#include "inputs/sweep_sections.hpp"

namespace trainfront::inputs {
namespace {

// Paths are bytes: a name in any language works under any locale.
std::filesystem::path in_folder(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path path(name);
  return path.is_absolute() || folder.empty() ? path : folder / path;
}

constexpr std::string_view kModelWays =
    "config = \"FILE\" (a Hugging Face config.json), name = \"...\" (of the "
    "catalogue), or the shape itself: layers, hidden, heads, ffn, vocab, ...";

}  // namespace

HfConfig read_model_section(Section& section, const Catalog& catalog, const std::filesystem::path& folder,
                            std::vector<std::string>& notes) {
  const Value* config = section.find("config");
  const Value* name = section.find("name");
  Diagnostics aside;
  Section shape(section.document(), section.table(), "model", aside);
  read_model_shape(shape, "");
  section.learn(shape);
  const Value::Member* of_shape = nullptr;
  for (const Value::Member& member : section.table().members)
    if (of_shape == nullptr && shape.knows(member.key)) of_shape = &member;

  if (config == nullptr && name == nullptr && of_shape == nullptr) {
    section.fault("", "says nothing of the model", std::string(kModelWays));
    return {};
  }
  if (config != nullptr && (name != nullptr || of_shape != nullptr)) {
    const std::string key = name != nullptr ? "name" : of_shape->key;
    section.fault(name != nullptr ? *name : of_shape->value, section.path(key),
                  "stands beside config, which gives the whole shape", std::string(kModelWays));
    return {};
  }
  const auto wanted = section.text("name");
  if (of_shape != nullptr) {
    // A name of one's own beside the shape is a label; one of the catalogue would be a second shape.
    if (wanted && catalog.find_model(*wanted) != nullptr)
      section.fault(of_shape->value, section.path(of_shape->key),
                    fmt::format("stands beside name = {}, which gives the whole shape", in_quotes(*wanted)),
                    std::string(kModelWays));
    return {read_model_shape(section, wanted.value_or("custom"))};
  }
  if (config != nullptr) {
    const auto file = section.text("config");
    if (!file) return {};
    return read_hf_config(in_folder(folder, *file), section.faults(), notes,
                          Fault{section.document().file, config->at, section.path("config"), "", "", "", ""});
  }
  if (!wanted) return {};
  if (const ModelEntry* entry = catalog.find_model(*wanted)) return {entry->model};
  const std::vector<std::string> known = catalog.model_names();
  section.fault(*name, section.path("name"), "no model of the catalogue has this name", join(known),
                nearest(*wanted, known));
  return {};
}

RecipeSection read_recipe_section(Section& section, std::vector<std::string>& notes) {
  static const std::vector<std::string> kPrecisions{"bf16", "fp8"};
  static const std::vector<std::string> kOptimizers{"adam", "sgd"};
  constexpr double kMaxTokens = 1e18;
  constexpr double kMaxImbalance = 1e3;
  RecipeSection read;
  section.require("tokens");
  section.require("sequence_length");
  section.require("global_batch");
  read.recipe.tokens = section.number("tokens", {0, kMaxTokens, true}).value_or(0);
  read.recipe.sequence_length = static_cast<int>(section.integer("sequence_length", 1, 1 << 26).value_or(0));
  read.global_batches =
      read_integers(section, "global_batch", {.min = 1, .max = 100'000'000, .limit = 1000}, notes);
  read.recipe.precision =
      static_cast<costmodel::Precision>(section.choice("precision", kPrecisions).value_or(0));
  read.recipe.optimizer =
      static_cast<costmodel::Optimizer>(section.choice("optimizer", kOptimizers).value_or(0));
  read.recipe.critical_batch_tokens =
      section.number("critical_batch_tokens", {0, kMaxTokens, false}).value_or(0);
  read.recipe.expert_imbalance = section.number("expert_imbalance", {1, kMaxImbalance, false}).value_or(1);

  if (!read.global_batches.empty() && read.recipe.sequence_length > 0 && read.recipe.tokens > 0) {
    const double batch = static_cast<double>(read.global_batches.back()) * read.recipe.sequence_length;
    if (batch > read.recipe.tokens)
      section.fault("tokens", fmt::format("is less than one batch: {} sequences of {} tokens",
                                          read.global_batches.back(), read.recipe.sequence_length));
  }
  return read;
}

}  // namespace trainfront::inputs
