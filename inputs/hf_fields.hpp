#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "costmodel/model.hpp"
#include "inputs/model_shape.hpp"
#include "inputs/section.hpp"

namespace trainfront::inputs {

// The fields of one config.json while a family reads them. A field that is null counts as absent.
class HfFields {
 public:
  HfFields(Section& section, std::vector<std::string>& notes) : section_(&section), notes_(&notes) {}

  bool has(std::string_view key) {
    const Value* value = section_->find(key);
    return value != nullptr && value->kind != Value::Kind::kNull;
  }
  // A count of at least 1 that must be there; 0 after a fault.
  int required(std::string_view key, int max = kMaxWidth) {
    if (!has(key)) {
      section_->fault(key, "is missing; the model's shape cannot be told without it");
      return 0;
    }
    return optional(key, 0, max, 1);
  }
  int optional(std::string_view key, int fallback, int max = kMaxWidth, int min = 0) {
    return has(key) ? static_cast<int>(section_->integer(key, min, max).value_or(fallback)) : fallback;
  }
  bool flag(std::string_view key, bool fallback) {
    return has(key) ? section_->boolean(key).value_or(fallback) : fallback;
  }
  std::string text(std::string_view key) { return has(key) ? section_->text(key).value_or("") : ""; }

  void refuse(std::string_view key, std::string problem) { section_->fault(key, std::move(problem)); }
  void note(std::string text) { notes_->push_back(std::move(text)); }
  Section& section() { return *section_; }

 private:
  Section* section_;
  std::vector<std::string>* notes_;
};

// Fills a model from the fields; one a family. model.name is set before.
using HfFamilyReader = void (*)(HfFields&, costmodel::Model&);

struct HfFamily {
  std::string_view model_type;
  HfFamilyReader read;
};

// Dense families and those with experts, each sorted by model_type.
const std::vector<HfFamily>& hf_dense_families();
const std::vector<HfFamily>& hf_moe_families();

// layers, hidden, heads, KV heads, head size and vocabulary under Llama's field names, which most families
// share.
void read_hf_backbone(HfFields& fields, costmodel::Model& model, bool tied_by_default);

// A window over attention in some layers: from layer_types where the config lists them, else in all but one
// layer of `period` (0: in all). `by_default` is the window of a config without the field; 0: none, below 0:
// it must be there.
void read_hf_window(HfFields& fields, costmodel::Model& model, int period, int by_default);

}  // namespace trainfront::inputs
