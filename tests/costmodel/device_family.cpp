#include "costmodel/device_family.hpp"

#include <doctest/doctest.h>

namespace trainfront::costmodel {
namespace {

Device named(const char* id) {
  Device device;
  device.id = id;
  return device;
}

}  // namespace

TEST_CASE("devices of one architecture are one family, whatever their links and memory") {
  for (const char* hopper :
       {"h100-sxm", "h100-96gb-500w", "h100-pcie", "h100-nvl", "h200-sxm", "h800-sxm", "h20-sxm", "gh200"}) {
    CAPTURE(hopper);
    CHECK(family_of(named(hopper)) == DeviceFamily::kHopper);
  }
  CHECK(same_family(named("a100-80gb-sxm"), named("a100-pcie")));
  CHECK(same_family(named("gb200"), named("b300")));
  CHECK_FALSE(same_family(named("h20-sxm"), named("v100-sxm2")));
  CHECK_FALSE(same_family(named("h800-sxm"), named("mi250x")));
  CHECK_FALSE(same_family(named("h100-pcie"), named("a100-pcie")));
}

TEST_CASE("devices that are not known have no family, not even with themselves") {
  for (const char* other : {"tpu-v5p", "trainium2", "mine", ""}) {
    CAPTURE(other);
    CHECK(family_of(named(other)) == DeviceFamily::kOther);
    CHECK_FALSE(same_family(named(other), named(other)));
  }
}

}  // namespace trainfront::costmodel
