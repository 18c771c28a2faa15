#include "engine/commands/profile_fit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "costmodel/data_sheet_profile.hpp"
#include "costmodel/gemm_form.hpp"

namespace trainfront::engine {
namespace {

using costmodel::Device;
using costmodel::Precision;
using costmodel::Samples;

Device hopper(const char* id, double memory_bytes_per_s) {
  Device device{.id = id,
                .bf16_flops_per_s = 989.4e12,
                .memory_bytes_per_s = memory_bytes_per_s,
                .link_bytes_per_s = 450e9,
                .compute_units = 132,
                .profile = {}};
  device.profile = costmodel::data_sheet_profile(device);
  return device;
}

// Of `step` to 12288 rows; thin slices of a long k take a third longer than any form says.
Samples products(const Device& device, double step, const std::string& library) {
  Samples samples;
  samples.sources = {library};
  for (double m = step; m <= 12288; m *= step) {
    for (double n = 512; n <= 8192; n *= 2) {
      for (double k = 512; k <= 8192; k *= 4) {
        const double kernel = (m * n < 1e6 && k > 1000 ? 1.35 : 1) * (n > 3000 && m > 200 ? 0.8 : 1);
        samples.gemm.push_back(
            {.m = std::round(m),
             .n = n,
             .k = k,
             .seconds = kernel * costmodel::gemm_form(device.profile.bf16, Precision::kBf16,
                                                      device.compute_units, m, n, k)});
      }
    }
  }
  return samples;
}

std::vector<std::string> notes_beside(const std::string& library) {
  const Device device = hopper("h100-sxm", 3.35e12), relative = hopper("h200-sxm", 4.8e12);
  const Samples own = products(device, 8, "ours"), lent = products(relative, 2, library);
  const ProfileFit fit =
      fit_profile(device, own, {}, {.references = {}, .kernel_relatives = {{&relative, &lent}}});
  REQUIRE(fit.scores.size() == 1);
  REQUIRE(fit.scores.front().form.ends_with("relatives'"));
  return fit.notes;
}

}  // namespace

TEST_CASE("a note says where a relative lends products of another library") {
  CHECK(notes_beside("ours").empty());
  const std::vector<std::string> notes = notes_beside("theirs");
  REQUIRE(notes.size() == 1);
  CHECK(notes.front() == "gemm bf16: h200-sxm lends what theirs measured, for want of ours");
}

}  // namespace trainfront::engine
