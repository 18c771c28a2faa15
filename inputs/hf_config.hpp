#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/model.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

struct HfConfig {
  costmodel::Model model;
  int max_positions = 0;  // tokens of the longest sequence that it is made for; 0: not stated
};

// A model's shape from a Hugging Face config.json as it is. Fields that training does not depend on are
// passed over; a field that it needs and the file lacks is a fault that names it, unless the model's own code
// in `transformers` fixes its value (Qwen2's bias on queries, keys and values) or the field says "as usual"
// by its absence (no num_key_value_heads: as many as heads). An architecture that is not known or no plain
// transformer is a fault. What is simplified goes to `notes`. The model is of use only if no fault was added.
HfConfig parse_hf_config(std::string_view text, std::string file, std::string name, Diagnostics& faults,
                         std::vector<std::string>& notes);

// The same from disk. The model is called after the file, or after its folder if the file is called
// config.json. `named_at` as for read_text.
HfConfig read_hf_config(const std::filesystem::path& path, Diagnostics& faults,
                        std::vector<std::string>& notes, const Fault& named_at = {});

// Throws InputError; notes are dropped.
costmodel::Model read_hf_config(const std::filesystem::path& path);

// The model_types that are known, sorted.
std::vector<std::string> hf_model_types();

}  // namespace trainfront::inputs
