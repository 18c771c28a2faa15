#include "inputs/device_spelling.hpp"

#include <algorithm>
#include <array>

namespace trainfront::inputs {
namespace {

struct Spelling {
  std::string_view text, id;
};
// As drivers, benchmark tables and profilers write them, beyond the catalogue's own names.
constexpr std::array<Spelling, 17> kSpellings{{{"A100-SXM4", "a100-80gb-sxm"},
                                               {"A100 SXM", "a100-80gb-sxm"},
                                               {"A100 PCIe", "a100-pcie"},
                                               {"A100-PG509-200", "a100-40gb-sxm"},
                                               {"H100", "h100-sxm"},
                                               {"H100 SXM", "h100-sxm"},
                                               {"H100-SXM5-80GB", "h100-sxm"},
                                               {"H100 80GB HBM3", "h100-sxm"},
                                               {"H100 PCIe", "h100-pcie"},
                                               {"H200", "h200-sxm"},
                                               {"H200 SXM", "h200-sxm"},
                                               {"B200 SXM", "b200"},
                                               {"B200-SXM", "b200"},
                                               {"B300 SXM", "b300"},
                                               {"B300-SXM", "b300"},
                                               {"GB200 SXM", "gb200"},
                                               {"V100-SXM2", "v100-sxm2"}}};

}  // namespace

std::string device_of_spelling(const Catalog& catalog, std::string_view gpu) {
  for (const std::string_view maker : {"NVIDIA ", "AMD "}) {
    if (gpu.starts_with(maker)) gpu.remove_prefix(maker.size());
  }
  if (const std::size_t note = gpu.find(" ("); note != std::string_view::npos) gpu = gpu.substr(0, note);
  if (const DeviceEntry* entry = catalog.resolve_device(gpu)) return entry->device.id;
  const auto* known = std::find_if(kSpellings.begin(), kSpellings.end(),
                                   [&](const Spelling& spelling) { return spelling.text == gpu; });
  return known == kSpellings.end() || catalog.find_device(known->id) == nullptr ? "" : std::string(known->id);
}

DeviceResolver device_resolver(const Catalog& catalog) {
  return [&catalog](std::string_view gpu) -> MeasuredDevice {
    const DeviceEntry* entry = catalog.find_device(device_of_spelling(catalog, gpu));
    if (entry == nullptr) return {};
    return {&entry->device, entry->domain_gpus};
  };
}

}  // namespace trainfront::inputs
