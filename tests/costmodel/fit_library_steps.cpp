#include "costmodel/fit_library_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "costmodel/fit_collective.hpp"
#include "costmodel/library_protocol.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

constexpr double kKiB = 1024, kMiB = 1 << 20;

using enum DeviceFamily;

constexpr LibraryFabric kA100{kAmpere, 300e9, 0}, kH100{kHopper, 450e9, 0}, kB200{kBlackwell, 900e9, 0};

// By the library's choice: protocols with constants of their own, a factor of two and more apart at the
// steps.
double by_protocol(const LibraryFabric& fabric, Collective collective, double bytes, int ranks) {
  const RegimeConstants of_protocol[] = {{8e-6, 1.2e-6, 2.2, 1.5, 0},
                                         {15e-6, 2.5e-6, 1.6, 0.8, 0},
                                         {25e-6, 4e-6, 1.2, 0.4, 0},
                                         {20e-6, 0, 1, 2, 0}};
  const LibraryProtocol taken = library_protocol(fabric, collective, bytes, ranks);
  return regime_seconds(of_protocol[static_cast<std::size_t>(taken)],
                        regime_terms(collective, fabric.link_bytes_per_s, bytes, ranks));
}

std::vector<CollectiveSample> measured(const LibraryFabric& fabric, Collective collective, double factor,
                                       const std::vector<double>& sizes) {
  std::vector<CollectiveSample> samples;
  for (const int ranks : {2, 4, 8}) {
    for (const double bytes : sizes) {
      samples.push_back({collective,
                         {ranks, 1, ranks},
                         bytes,
                         0,
                         factor * by_protocol(fabric, collective, bytes, ranks),
                         0,
                         0});
    }
  }
  return samples;
}

std::vector<double> octaves(double first, double last) {
  std::vector<double> sizes;
  for (double bytes = first; bytes <= last; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

}  // namespace

// The jumps of NVIDIA's nccl-tests tables (aiconfigurator, 095f58a), in microseconds: A100 all_gather 20 and
// 38 at 1 and 2 MiB over 2 ranks, 23 and 61 at 1 and 4 over 4, 74 and 135 at 8 and 16 over 8; H100 all_reduce
// 15 and 28 at 1 and 2 MiB over 2 ranks; B200 reduce_scatter 25 and 49 at 4 and 8 MiB over 4.
TEST_CASE("the library changes its protocol where measured times jump") {
  using enum LibraryProtocol;
  struct Side {
    LibraryFabric fabric;
    Collective collective;
    int ranks;
    double mib;
    LibraryProtocol taken;
  };
  for (const Side& side : {Side{kA100, Collective::kAllGather, 2, 1, kLowLatency},
                           Side{kA100, Collective::kAllGather, 2, 2, kSimple},
                           Side{kA100, Collective::kAllGather, 4, 1, kLowLatency},
                           Side{kA100, Collective::kAllGather, 4, 4, kSimple},
                           Side{kA100, Collective::kAllGather, 8, 2, kLowLatency},
                           Side{kA100, Collective::kAllGather, 8, 8, kLowLatency128},
                           Side{kA100, Collective::kAllGather, 8, 16, kSimple},
                           Side{kH100, Collective::kAllReduce, 2, 1, kLowLatency},
                           Side{kH100, Collective::kAllReduce, 2, 2, kSimple},
                           Side{kB200, Collective::kReduceScatter, 4, 4, kLowLatency},
                           Side{kB200, Collective::kReduceScatter, 4, 8, kSimple}}) {
    CAPTURE(side.fabric.link_bytes_per_s);
    CAPTURE(side.ranks);
    CAPTURE(side.mib);
    CHECK(library_protocol(side.fabric, side.collective, side.mib * kMiB, side.ranks) == side.taken);
  }
}

TEST_CASE("the switch reduces large messages where the fabric can, and of no more ranks than ask for it") {
  LibraryFabric fabric = kH100;
  CHECK(library_protocol(fabric, Collective::kAllReduce, 64 * kMiB, 8) == LibraryProtocol::kSimple);
  fabric.switch_ranks = 4;
  CHECK(library_protocol(fabric, Collective::kAllReduce, 64 * kMiB, 8) == LibraryProtocol::kInSwitch);
  CHECK(library_protocol(fabric, Collective::kAllReduce, 64 * kMiB, 2) == LibraryProtocol::kSimple);
  CHECK(library_protocol(fabric, Collective::kAllReduce, 64 * kKiB, 8) == LibraryProtocol::kLowLatency);
  CHECK(library_protocol(fabric, Collective::kAllGather, 64 * kMiB, 8) == LibraryProtocol::kSimple);
}

// Its low-latency rate is the least of half the channels' and of a generation's own (NCCL 2.27): Hopper's 141
// GB/s, of which H800's channels of 160 GB/s allow 80.
TEST_CASE("what the low-latency protocol reaches is a generation's, however many links a part has") {
  struct Part {
    LibraryFabric fabric;
    double bytes_per_s;
  };
  for (const Part& part :
       {Part{{kVolta, 150e9, 0}, 39e9}, Part{kA100, 87.7e9}, Part{{kAmpere, 200e9, 0}, 80e9},
        Part{kH100, 141e9}, Part{{kHopper, 200e9, 0}, 80e9}, Part{{kHopper, 300e9, 0}, 120e9},
        Part{kB200, 282e9}}) {
    CAPTURE(part.fabric.link_bytes_per_s);
    const RegimeConstants constants =
        library_constants(part.fabric, Collective::kAllGather, LibraryProtocol::kLowLatency);
    CHECK(part.fabric.link_bytes_per_s / constants[2] == near(part.bytes_per_s));
  }
}

TEST_CASE("the library's choice is known of NVLink between the generations that it names") {
  const auto chooses = [](const char* id, double link_bytes_per_s) {
    Device device;
    device.id = id;
    device.link_bytes_per_s = link_bytes_per_s;
    return library_chooses(library_fabric(device), Collective::kAllReduce);
  };
  CHECK(chooses("v100-sxm2", 150e9));
  CHECK(chooses("h800-sxm", 200e9));
  CHECK(chooses("gb300", 900e9));
  CHECK_FALSE(chooses("l40s", 32e9));
  CHECK_FALSE(chooses("h100-pcie", 64e9));  // one without a bridge
  CHECK_FALSE(chooses("mi300x", 448e9));
  CHECK_FALSE(chooses("tpu-v5p", 600e9));
  CHECK_FALSE(chooses("trainium2", 512e9));
  CHECK_FALSE(library_chooses(kH100, Collective::kAllToAll));
}

TEST_CASE("a step is where the library puts it, though the sizes beside it were not measured") {
  std::vector<double> sizes = octaves(64 * kKiB, 512 * kKiB);
  for (const double bytes : octaves(4 * kMiB, 512 * kMiB)) sizes.push_back(bytes);
  const LibrarySteps steps =
      LibrarySteps::fitted(kA100, Collective::kAllGather, measured(kA100, Collective::kAllGather, 1, sizes));
  for (const int ranks : {2, 4, 8}) {
    for (const double bytes : octaves(64 * kKiB, 512 * kMiB)) {
      CAPTURE(ranks);
      CAPTURE(bytes / kMiB);
      const double truth = by_protocol(kA100, Collective::kAllGather, bytes, ranks);
      CHECK(std::abs(steps.seconds(bytes, ranks) / truth - 1) < 0.1);
    }
  }
}

TEST_CASE("constants that are next to nothing hold no others") {
  const RegimeConstants truth{10e-6, 2e-6, 1.5, 0, 0};
  std::vector<RegimePoint> points;
  for (const double bytes : octaves(64 * kKiB, 512 * kMiB)) {
    for (const int ranks : {2, 4, 8}) {
      const RegimeConstants terms = regime_terms(Collective::kAllGather, 300e9, bytes, ranks);
      points.push_back({terms, regime_seconds(truth, terms), bytes, static_cast<double>(ranks)});
    }
  }
  const Regime fitted =
      fit_regime(points, kRegimeTerms, {.constants = {1e-40, 2e-6, 1.5, 1e-40, 1e-60}, .weight = 0.01});
  for (const RegimePoint& point : points)
    CHECK(regime_seconds(fitted.constants, point.terms) / point.seconds == near(1).epsilon(0.01));
  CHECK(fit_regime({}, kRegimeTerms, {.constants = truth, .weight = 0.01}).constants == truth);
}

TEST_CASE("what few samples leave open follows the companion's protocols") {
  const LibrarySteps companion =
      LibrarySteps::fitted(kA100, Collective::kAllGather,
                           measured(kA100, Collective::kAllGather, 1, octaves(64 * kKiB, 512 * kMiB)));
  // No size of the protocol between the two others.
  const std::vector<CollectiveSample> few =
      measured(kA100, Collective::kReduceScatter, 0.9, {128 * kKiB, 512 * kKiB, 64 * kMiB, 256 * kMiB});
  const LibrarySteps alone = LibrarySteps::fitted(kA100, Collective::kReduceScatter, few);
  const LibrarySteps beside = LibrarySteps::fitted(kA100, Collective::kReduceScatter, few, &companion);
  double alone_off = 0, beside_off = 0;
  for (const int ranks : {2, 4, 8}) {
    for (const double bytes : octaves(64 * kKiB, 512 * kMiB)) {
      const double truth = 0.9 * by_protocol(kA100, Collective::kReduceScatter, bytes, ranks);
      alone_off = std::max(alone_off, std::abs(alone.seconds(bytes, ranks) / truth - 1));
      beside_off = std::max(beside_off, std::abs(beside.seconds(bytes, ranks) / truth - 1));
    }
  }
  CHECK(beside_off < 0.15);
  CHECK(beside_off < 0.5 * alone_off);
}

// All_gather of one protocol, at the model's own constants; the ring's own part as long as its wire.
TEST_CASE("a protocol without samples is the model's after the factor of those with some") {
  for (const int ranks : {2, 8}) {
    const auto truth = [&](LibraryProtocol protocol, double bytes) {
      RegimeConstants constants = library_constants(kA100, Collective::kAllGather, protocol);
      constants[3] = constants[2];
      return 1.3 * regime_seconds(constants,
                                  regime_terms(Collective::kAllGather, kA100.link_bytes_per_s, bytes, ranks));
    };
    std::vector<CollectiveSample> small;
    for (const double bytes : {64 * kKiB, 128 * kKiB, 256 * kKiB, 512 * kKiB}) {
      small.push_back({Collective::kAllGather,
                       {ranks, 1, ranks},
                       bytes,
                       0,
                       truth(LibraryProtocol::kLowLatency, bytes),
                       0,
                       0});
    }
    const LibrarySteps steps = LibrarySteps::fitted(kA100, Collective::kAllGather, small);
    CAPTURE(ranks);
    CHECK(steps.seconds(256 * kMiB, ranks) / truth(LibraryProtocol::kSimple, 256 * kMiB) ==
          near(1).epsilon(0.005));
  }
}

TEST_CASE("an all_reduce goes around twice as often as its companion") {
  const auto of_hops = [](Collective collective, double bytes, int ranks) {
    const RegimeConstants terms = regime_terms(collective, kA100.link_bytes_per_s, bytes, ranks);
    return regime_seconds({8e-6, ring_rounds(collective) * 2e-6, 2, 2, 0}, terms);
  };
  std::vector<CollectiveSample> halves, whole;
  for (const double bytes : octaves(64 * kKiB, 512 * kMiB)) {
    for (const int ranks : {2, 4, 8})
      halves.push_back({Collective::kReduceScatter,
                        {ranks, 1, ranks},
                        bytes,
                        0,
                        of_hops(Collective::kReduceScatter, bytes, ranks),
                        0,
                        0});
  }
  // Large messages of two ranks say nothing of hops.
  for (const double bytes : octaves(256 * kMiB, 512 * kMiB))
    whole.push_back(
        {Collective::kAllReduce, {2, 1, 2}, bytes, 0, of_hops(Collective::kAllReduce, bytes, 2), 0, 0});
  const LibrarySteps companion = LibrarySteps::fitted(kA100, Collective::kReduceScatter, halves);
  const LibrarySteps steps = LibrarySteps::fitted(kA100, Collective::kAllReduce, whole, &companion);
  CHECK(steps.seconds(64 * kKiB, 8) / of_hops(Collective::kAllReduce, 64 * kKiB, 8) == near(1).epsilon(0.03));
}

TEST_CASE("what the switch takes is the model's where the companion never asks it") {
  const LibraryFabric fabric{kHopper, 450e9, 4};
  const auto truth = [&](Collective collective, double factor, double bytes, int ranks) {
    const LibraryProtocol taken = library_protocol(fabric, collective, bytes, ranks);
    RegimeConstants constants = library_constants(fabric, collective, taken);
    if (taken != LibraryProtocol::kInSwitch) constants[3] = constants[2];
    return factor *
           regime_seconds(constants, regime_terms(collective, fabric.link_bytes_per_s, bytes, ranks));
  };
  const auto samples_of = [&](Collective collective, double factor, const std::vector<double>& sizes) {
    std::vector<CollectiveSample> samples;
    for (const double bytes : sizes)
      samples.push_back({collective, {8, 1, 8}, bytes, 0, truth(collective, factor, bytes, 8), 0, 0});
    return samples;
  };
  // The companion is twice as slow as the model, and all_reduce no slower.
  const LibrarySteps companion =
      LibrarySteps::fitted(fabric, Collective::kReduceScatter,
                           samples_of(Collective::kReduceScatter, 2, octaves(64 * kKiB, 512 * kMiB)));
  const LibrarySteps steps =
      LibrarySteps::fitted(fabric, Collective::kAllReduce,
                           samples_of(Collective::kAllReduce, 1, octaves(64 * kKiB, 512 * kKiB)), &companion);
  CHECK(steps.seconds(512 * kMiB, 8) / truth(Collective::kAllReduce, 1, 512 * kMiB, 8) ==
        near(1).epsilon(0.005));
}

TEST_CASE("a log of fifteen times gets a table by the library's protocols") {
  Device device;
  device.id = "a100-80gb-sxm";
  device.link_bytes_per_s = kA100.link_bytes_per_s;
  const LinkMeasurements log{.samples = measured(kA100, Collective::kAllGather, 1,
                                                 {128 * kKiB, 512 * kKiB, 4 * kMiB, 32 * kMiB, 256 * kMiB}),
                             .sources = {"log"},
                             .preferred = {false}};
  FitScore score;
  std::vector<std::string> left_out;
  fit_link(device, Collective::kAllGather, log, score, left_out);
  CHECK(score.samples == 15);
  CHECK(score.form == "table, library's protocols");
  Hardware hardware;
  hardware.device = device;
  for (const double bytes : octaves(128 * kKiB, 256 * kMiB)) {
    CAPTURE(bytes / kMiB);
    const double truth = by_protocol(kA100, Collective::kAllGather, bytes, 4);
    CHECK(std::abs(collective_time(hardware, Collective::kAllGather, bytes, {4, 1, 4}).seconds / truth - 1) <
          0.12);
  }
}

}  // namespace trainfront::costmodel
