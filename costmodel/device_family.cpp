#include "costmodel/device_family.hpp"

#include <array>
#include <string_view>

namespace trainfront::costmodel {
namespace {

struct Prefix {
  std::string_view text;
  DeviceFamily family;
};
constexpr std::array kPrefixes{Prefix{"v100", DeviceFamily::kVolta},   Prefix{"a100", DeviceFamily::kAmpere},
                               Prefix{"a800", DeviceFamily::kAmpere},  Prefix{"l40", DeviceFamily::kAda},
                               Prefix{"h100", DeviceFamily::kHopper},  Prefix{"h200", DeviceFamily::kHopper},
                               Prefix{"h800", DeviceFamily::kHopper},  Prefix{"h20-", DeviceFamily::kHopper},
                               Prefix{"gh200", DeviceFamily::kHopper}, Prefix{"b", DeviceFamily::kBlackwell},
                               Prefix{"gb", DeviceFamily::kBlackwell}, Prefix{"mi", DeviceFamily::kCdna}};

}  // namespace

DeviceFamily family_of(const Device& device) {
  for (const Prefix& prefix : kPrefixes) {
    // A number follows: an id as "mine" is none of AMD's.
    const std::string_view id = device.id;
    if (!id.starts_with(prefix.text)) continue;
    const std::string_view rest = id.substr(prefix.text.size());
    const bool is_number = prefix.text.find_first_of("0123456789") != std::string_view::npos ||
                           (!rest.empty() && rest.front() >= '0' && rest.front() <= '9');
    if (is_number) return prefix.family;
  }
  return DeviceFamily::kOther;
}

bool same_family(const Device& device, const Device& other) {
  const DeviceFamily family = family_of(device);
  return family != DeviceFamily::kOther && family == family_of(other);
}

}  // namespace trainfront::costmodel
