#pragma once

#include <string>
#include <string_view>

#include "costmodel/evidence.hpp"
#include "costmodel/layout.hpp"
#include "costmodel/recipe.hpp"
#include "faults/protection.hpp"

namespace trainfront::engine {

// As they stand in sweep files and in the output.
std::string_view name(costmodel::Framework framework);
std::string_view name(costmodel::Recompute recompute);
std::string_view name(costmodel::Schedule schedule);
std::string_view name(costmodel::ContextExchange type);
std::string_view name(costmodel::Precision precision);
std::string_view name(costmodel::Optimizer optimizer);
std::string_view name(costmodel::Evidence evidence);
std::string_view name(faults::Scheme scheme);
std::string_view name(faults::CheckpointTier tier);

// Of a layout: "none" without context parallelism, and without modules to choose.
std::string_view cp_type_name(const costmodel::Layout& layout);
std::string modules_name(const costmodel::Layout& layout);

}  // namespace trainfront::engine
