#pragma once

#include <string>
#include <vector>

#include "inputs/catalog.hpp"

namespace trainfront::engine {

// The shipped catalogue with the user's files over it, in their order. Throws InputError; says notes.
inputs::Catalog catalog_with(const std::vector<std::string>& files);

}  // namespace trainfront::engine
