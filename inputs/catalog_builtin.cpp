#include <fmt/core.h>

#include "costmodel/data_sheet_profile.hpp"
#include "inputs/catalog.hpp"
#include "inputs/embedded.hpp"
#include "inputs/profile_file.hpp"

namespace trainfront::inputs {
namespace {

// "catalog/devices.toml", as it stands in the sources.
std::string shown(std::string_view path) {
  return fmt::format("catalog/{}", path);
}

void add_toml(Catalog& catalog, std::string_view path, Diagnostics& faults, std::vector<std::string>& notes) {
  add_catalog_toml(catalog, embedded_file(path).value(), shown(path), faults, notes);
}

// Profiles of the devices that were measured.
void add_profiles(Catalog& catalog, Diagnostics& faults) {
  for (DeviceEntry& entry : catalog.devices) {
    const std::string path = fmt::format("profiles/{}.toml", entry.device.id);
    if (const auto text = embedded_file(path)) {
      entry.device.profile =
          parse_profile(*text, shown(path), costmodel::data_sheet_profile(entry.device), faults);
      entry.measured = true;
    }
  }
}

}  // namespace

Catalog builtin_catalog(std::vector<std::string>* notes) {
  Catalog catalog;
  Diagnostics faults;
  std::vector<std::string> said;
  add_toml(catalog, "devices.toml", faults, said);
  add_toml(catalog, "nodes.toml", faults, said);
  add_toml(catalog, "models.toml", faults, said);
  add_toml(catalog, "failures.toml", faults, said);
  add_toml(catalog, "egress.toml", faults, said);
  add_offers_csv(catalog, std::string(embedded_file("offers.csv").value()), shown("offers.csv"), faults,
                 said);
  add_profiles(catalog, faults);
  faults.throw_if_any();
  if (notes != nullptr) *notes = std::move(said);
  return catalog;
}

}  // namespace trainfront::inputs
