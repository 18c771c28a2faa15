#include <algorithm>

#include "inputs/catalog.hpp"
#include "inputs/document.hpp"

namespace trainfront::inputs {

void add_catalog_file(Catalog& catalog, const std::filesystem::path& file, Diagnostics& faults,
                      std::vector<std::string>& notes) {
  auto text = read_text(file, faults);
  if (!text) return;
  const std::string name = file.string();
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (ending == ".toml") {
    add_catalog_toml(catalog, *text, name, faults, notes);
  } else if (ending == ".csv") {
    add_offers_csv(catalog, std::move(*text), name, faults, notes);
  } else {
    faults.add({name,
                {},
                "",
                "a catalogue file must end in .toml or .csv",
                in_quotes(file.filename().string()),
                "",
                ""});
  }
}

}  // namespace trainfront::inputs
