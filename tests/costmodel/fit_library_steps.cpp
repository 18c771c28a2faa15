#include "costmodel/fit_library_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "costmodel/fit_collective.hpp"
#include "costmodel/library_protocol.hpp"

namespace trainfront::costmodel {
namespace {

constexpr double kKiB = 1024, kMiB = 1 << 20;

Device with_link(double link_bytes_per_s) {
  Device device;
  device.link_bytes_per_s = link_bytes_per_s;
  return device;
}

// By the library's choice: protocols with constants of their own, a factor of two and more apart at the
// steps.
double by_protocol(const Device& device, Collective collective, double bytes, int ranks) {
  const RegimeConstants of_protocol[] = {{8e-6, 1.2e-6, 2.2, 1.5, 0},
                                         {15e-6, 2.5e-6, 1.6, 0.8, 0},
                                         {25e-6, 4e-6, 1.2, 0.4, 0},
                                         {20e-6, 0, 1, 2, 0}};
  const LibraryProtocol taken = library_protocol(device, collective, bytes, ranks);
  return regime_seconds(of_protocol[static_cast<std::size_t>(taken)],
                        regime_terms(collective, device.link_bytes_per_s, bytes, ranks));
}

std::vector<CollectiveSample> measured(const Device& device, Collective collective, double factor,
                                       const std::vector<double>& sizes) {
  std::vector<CollectiveSample> samples;
  for (const int ranks : {2, 4, 8}) {
    for (const double bytes : sizes) {
      samples.push_back({collective,
                         {ranks, 1, ranks},
                         bytes,
                         0,
                         factor * by_protocol(device, collective, bytes, ranks),
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
    double link_bytes_per_s;
    Collective collective;
    int ranks;
    double mib;
    LibraryProtocol taken;
  };
  for (const Side& side : {Side{300e9, Collective::kAllGather, 2, 1, kLowLatency},
                           Side{300e9, Collective::kAllGather, 2, 2, kSimple},
                           Side{300e9, Collective::kAllGather, 4, 1, kLowLatency},
                           Side{300e9, Collective::kAllGather, 4, 4, kSimple},
                           Side{300e9, Collective::kAllGather, 8, 2, kLowLatency},
                           Side{300e9, Collective::kAllGather, 8, 8, kLowLatency128},
                           Side{300e9, Collective::kAllGather, 8, 16, kSimple},
                           Side{450e9, Collective::kAllReduce, 2, 1, kLowLatency},
                           Side{450e9, Collective::kAllReduce, 2, 2, kSimple},
                           Side{900e9, Collective::kReduceScatter, 4, 4, kLowLatency},
                           Side{900e9, Collective::kReduceScatter, 4, 8, kSimple}}) {
    CAPTURE(side.link_bytes_per_s);
    CAPTURE(side.ranks);
    CAPTURE(side.mib);
    CHECK(library_protocol(with_link(side.link_bytes_per_s), side.collective, side.mib * kMiB, side.ranks) ==
          side.taken);
  }
}

TEST_CASE("the switch reduces large messages where the fabric can, and of no more ranks than ask for it") {
  Device device = with_link(450e9);
  CHECK(library_protocol(device, Collective::kAllReduce, 64 * kMiB, 8) == LibraryProtocol::kSimple);
  device.profile.switch_reduce.min_ranks = 4;
  CHECK(library_protocol(device, Collective::kAllReduce, 64 * kMiB, 8) == LibraryProtocol::kInSwitch);
  CHECK(library_protocol(device, Collective::kAllReduce, 64 * kMiB, 2) == LibraryProtocol::kSimple);
  CHECK(library_protocol(device, Collective::kAllReduce, 64 * kKiB, 8) == LibraryProtocol::kLowLatency);
  CHECK(library_protocol(device, Collective::kAllGather, 64 * kMiB, 8) == LibraryProtocol::kSimple);
}

TEST_CASE("a step is where the library puts it, though the sizes beside it were not measured") {
  const Device device = with_link(300e9);
  std::vector<double> sizes = octaves(64 * kKiB, 512 * kKiB);
  for (const double bytes : octaves(4 * kMiB, 512 * kMiB)) sizes.push_back(bytes);
  const LibrarySteps steps = LibrarySteps::fitted(device, Collective::kAllGather,
                                                  measured(device, Collective::kAllGather, 1, sizes));
  for (const int ranks : {2, 4, 8}) {
    for (const double bytes : octaves(64 * kKiB, 512 * kMiB)) {
      CAPTURE(ranks);
      CAPTURE(bytes / kMiB);
      const double truth = by_protocol(device, Collective::kAllGather, bytes, ranks);
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
    CHECK(regime_seconds(fitted.constants, point.terms) == doctest::Approx(point.seconds).epsilon(0.01));
  CHECK(fit_regime({}, kRegimeTerms, {.constants = truth, .weight = 0.01}).constants == truth);
}

TEST_CASE("what few samples leave open follows the companion's protocols") {
  const Device device = with_link(300e9);
  const LibrarySteps companion =
      LibrarySteps::fitted(device, Collective::kAllGather,
                           measured(device, Collective::kAllGather, 1, octaves(64 * kKiB, 512 * kMiB)));
  // No size of the protocol between the two others.
  const std::vector<CollectiveSample> few =
      measured(device, Collective::kReduceScatter, 0.9, {128 * kKiB, 512 * kKiB, 64 * kMiB, 256 * kMiB});
  const LibrarySteps alone = LibrarySteps::fitted(device, Collective::kReduceScatter, few);
  const LibrarySteps beside = LibrarySteps::fitted(device, Collective::kReduceScatter, few, &companion);
  double alone_off = 0, beside_off = 0;
  for (const int ranks : {2, 4, 8}) {
    for (const double bytes : octaves(64 * kKiB, 512 * kMiB)) {
      const double truth = 0.9 * by_protocol(device, Collective::kReduceScatter, bytes, ranks);
      alone_off = std::max(alone_off, std::abs(alone.seconds(bytes, ranks) / truth - 1));
      beside_off = std::max(beside_off, std::abs(beside.seconds(bytes, ranks) / truth - 1));
    }
  }
  CHECK(beside_off < 0.15);
  CHECK(beside_off < 0.5 * alone_off);
}

TEST_CASE("a log of fifteen times gets a table by the library's protocols") {
  Device device = with_link(300e9);
  const LinkMeasurements log{.samples = measured(device, Collective::kAllGather, 1,
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
    const double truth = by_protocol(with_link(300e9), Collective::kAllGather, bytes, 4);
    CHECK(std::abs(collective_time(hardware, Collective::kAllGather, bytes, {4, 1, 4}).seconds / truth - 1) <
          0.12);
  }
}

}  // namespace trainfront::costmodel
