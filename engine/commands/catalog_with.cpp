#include "engine/commands/catalog_with.hpp"

#include "engine/terminal.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::engine {

inputs::Catalog catalog_with(const std::vector<std::string>& files) {
  inputs::Catalog catalog = inputs::builtin_catalog();
  std::vector<std::string> notes;
  inputs::Diagnostics faults;
  for (const std::string& file : files) inputs::add_catalog_file(catalog, file, faults, notes);
  faults.throw_if_any();
  say_notes(notes);
  return catalog;
}

}  // namespace trainfront::engine
