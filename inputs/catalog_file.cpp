#include <algorithm>

#include "inputs/catalog.hpp"
#include "inputs/catalog_offers.hpp"
#include "inputs/csv.hpp"
#include "inputs/document.hpp"
#include "inputs/profile_file.hpp"
#include "inputs/skypilot.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

bool is_skypilot(const std::string& text, const std::string& name) {
  try {
    return is_skypilot_header(CsvFile(name, text, {.comment = '#'}).header());
  } catch (const CsvError&) {
    return false;  // whoever reads it for good will say what is wrong
  }
}

void add_skypilot(Catalog& catalog, std::string text, const std::string& name, Diagnostics& faults,
                  std::vector<std::string>& notes) {
  const auto cloud = guess_cloud(catalog, name);
  if (!cloud) {
    faults.add({name,
                {},
                "",
                "is a SkyPilot price list, but its name does not say of which cloud",
                "",
                "a name like aws_vms.csv or aws/vms.csv, or a table made by trainfront catalog import",
                ""});
    return;
  }
  merge_offers(catalog, read_skypilot(catalog, std::move(text), name, {*cloud, ""}, faults, notes), faults,
               notes);
}

// A device profile that `trainfront calibrate` wrote: it takes the place of the device's own.
void add_profile(Catalog& catalog, std::string_view text, const std::string& name, const std::string& device,
                 Diagnostics& faults) {
  const auto entry = std::find_if(catalog.devices.begin(), catalog.devices.end(),
                                  [&](const DeviceEntry& known) { return known.device.id == device; });
  if (entry == catalog.devices.end()) {
    const std::vector<std::string> known = catalog.device_ids();
    faults.add({name, {}, "device", "not in the catalogue", device, "", nearest(device, known)});
    return;
  }
  costmodel::DeviceProfile profile = parse_profile(text, name, entry->device.profile, faults);
  const std::string& kind = profile.network.kind;
  if (!kind.empty() && catalog.find_network(kind) == nullptr) {
    std::vector<std::string> kinds;
    for (const NetworkEntry& network : catalog.networks) kinds.push_back(network.network.kind);
    faults.add({name,
                {},
                "network.kind",
                "not in the catalogue, nor in a file that is named before this one",
                in_quotes(kind),
                "one of " + join(kinds),
                nearest(kind, kinds)});
  }
  entry->device.profile = std::move(profile);
  entry->measured = true;
}

}  // namespace

void add_catalog_file(Catalog& catalog, const std::filesystem::path& file, Diagnostics& faults,
                      std::vector<std::string>& notes) {
  auto text = read_text(file, faults);
  if (!text) return;
  const std::string name = file.string();
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (const std::string device = ending == ".toml" ? profile_device(*text) : ""; !device.empty()) {
    add_profile(catalog, *text, name, device, faults);
  } else if (ending == ".toml") {
    add_catalog_toml(catalog, *text, name, faults, notes);
  } else if (ending == ".csv" && is_skypilot(*text, name)) {
    add_skypilot(catalog, std::move(*text), name, faults, notes);
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
