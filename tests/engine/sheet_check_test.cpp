#include "engine/commands/sheet_check.hpp"

#include <doctest/doctest.h>

#include "costmodel/data_sheet_profile.hpp"
#include "engine/commands/profile_fit.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::engine {
namespace {

using costmodel::Collective;
using costmodel::CollectiveSample;
using costmodel::Samples;

costmodel::Device device() {
  costmodel::Device device{.id = "gpu",
                           .bf16_flops_per_s = 1e15,
                           .memory_bytes_per_s = 4e12,
                           .link_bytes_per_s = 450e9,
                           .compute_units = 132,
                           .profile = {}};
  device.profile = costmodel::data_sheet_profile(device);
  return device;
}

// Products of 17 to 1100 GFLOP at 700 TFLOP/s, and small ones that take 5 us.
Samples gemms(double unit) {
  Samples samples;
  samples.sources = {"good.csv", "bad.csv"};
  for (double n = 2048; n <= 8192; n *= 2) {
    samples.gemm.push_back({.m = n, .n = n, .k = n, .seconds = unit * 2 * n * n * n / 7e14, .source = 1});
    samples.gemm.push_back({.m = 16, .n = n / 4, .k = n / 4, .seconds = unit * 5e-6, .source = 1});
    samples.gemm.push_back({.m = n, .n = n, .k = n, .seconds = 2 * n * n * n / 7e14, .source = 0});
  }
  return samples;
}

// all_reduce of four and more nodes as the catalogue's InfiniBand would do it, at twice its latency.
Samples across(const std::vector<std::string>& fabrics) {
  costmodel::Hardware truth;
  truth.device = device();
  truth.network.nic_bytes_per_s = 50e9;
  truth.network.latency_scale = 2;
  Samples samples;
  samples.sources = {"log"};
  samples.fabrics = fabrics;
  for (std::size_t fabric = 0; fabric < fabrics.size(); ++fabric) {
    for (double bytes = 1 << 20; bytes < 9e9; bytes *= 4) {
      CollectiveSample sample{.collective = Collective::kAllReduce,
                              .placement = {32, 4, 8},
                              .bytes = bytes,
                              .nic_bytes_per_s = 50e9,
                              .fabric = static_cast<int>(fabric)};
      sample.seconds = collective_time(truth, sample.collective, sample.bytes, sample.placement).seconds;
      samples.collective.push_back(sample);
    }
  }
  return samples;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("times in nanoseconds are refused, whatever other sources measured") {
  refuse_far_too_slow(device(), gemms(1));
  refuse_far_too_slow(device(), gemms(3));  // slow, but possible
  try {
    refuse_far_too_slow(device(), gemms(1000));
    FAIL_CHECK("not refused");
  } catch (const inputs::InputError& error) {
    CHECK(error.faults().size() == 1);
    CHECK(has(error.what(), "gemm bf16 of bad.csv: even the best of 6 samples takes"));
    CHECK(has(error.what(), "microseconds"));
  }
  Samples small;
  small.sources = {"log"};
  small.fabrics = {"NVLink"};
  small.collective.push_back({.placement = {8, 1, 8}, .bytes = 65536, .seconds = 20e-6});
  refuse_far_too_slow(device(), small);
  small.collective[0].seconds = 20e-3;
  CHECK_THROWS_AS(refuse_far_too_slow(device(), small), inputs::InputError);
}

TEST_CASE("fits far below the data sheet are said") {
  costmodel::Device fitted = device();
  CHECK(far_below_sheet(fitted, gemms(1)).empty());
  fitted.profile.bf16.flops_per_s = 0.25e15;
  fitted.profile.attention.flops_per_s = 0.1e15;  // not measured here
  const std::vector<std::string> notes = far_below_sheet(fitted, gemms(1));
  REQUIRE(notes.size() == 1);
  CHECK(has(notes[0], "gemm bf16: fitted at 0.25 of"));
}

TEST_CASE("the fabric that is stated becomes the profile's network, of its kind and its collectives") {
  const std::string ours = "IB NDR 8x400Gb/s per node";
  const ProfileFit fit = fit_profile(device(), across({ours}), {}, {.references = {}, .fabrics = {ours}});
  const costmodel::NetworkFit& network = fit.device.profile.network;
  CHECK(network.kind == "infiniband");
  CHECK(network.latency_scale == doctest::Approx(2).epsilon(0.1));
  CHECK(network.of_collective == std::array{true, false, false, false, false});
  REQUIRE(fit.device.profile.sources.size() == device().profile.sources.size() + 1);
  CHECK(fit.device.profile.sources.back().starts_with("network: "));
}

TEST_CASE("a fabric that nobody stated, of no known kind, or one of two, stays out of the profile") {
  const auto latency = [](const std::vector<std::string>& measured, const std::set<std::string>& stated,
                          std::string_view said) {
    const ProfileFit fit = fit_profile(device(), across(measured), {}, {.references = {}, .fabrics = stated});
    std::string notes;
    for (const std::string& note : fit.notes) notes += note + "\n";
    CHECK_MESSAGE(has(notes, said), notes);
    return fit.device.profile.network.latency_scale;
  };
  CHECK(latency({"IB NDR 8x400Gb/s"}, {}, "line rate") == 0);
  CHECK(latency({"8x400Gb/s"}, {"8x400Gb/s"}, "names no kind of network") == 0);
  CHECK(latency({"IB 8x400Gb/s", "RoCE 8x400Gb/s"}, {"IB 8x400Gb/s", "RoCE 8x400Gb/s"},
                "none of these went in") == 0);
  CHECK(latency({"IB 8x400Gb/s", "RoCE 8x400Gb/s"}, {"NVLink", "IB 8x400Gb/s"}, "line rate") > 1.8);
}

}  // namespace trainfront::engine
