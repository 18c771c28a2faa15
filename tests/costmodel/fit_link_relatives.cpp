#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/collective_time.hpp"
#include "costmodel/fit_collective.hpp"
#include "test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

using Seconds = std::function<double(int ranks, double bytes)>;

// No form knows of these steps, which come every third octave.
double stepped(int ranks, double bytes) {
  const double line_s = bytes * (ranks - 1) / ranks / h100_device().link_bytes_per_s;
  return (8e-6 + 1e-6 * (ranks - 1) + line_s / 0.8) * std::exp(0.25 * std::floor(std::log2(bytes) / 3));
}

double smooth(int ranks, double bytes) {
  return 8e-6 + 1e-6 * (ranks - 1) + bytes / (0.8 * h100_device().link_bytes_per_s);
}

std::vector<CollectiveSample> measured(const Seconds& seconds, const std::vector<int>& some_ranks,
                                       double first, double factor, int source) {
  std::vector<CollectiveSample> samples;
  for (const int ranks : some_ranks) {
    for (double bytes = first; bytes <= 536870912; bytes *= factor) {
      samples.push_back(
          {Collective::kAllGather, {ranks, 1, ranks}, bytes, 0, seconds(ranks, bytes), source, 0});
    }
  }
  return samples;
}

struct Fitted {
  Device device;
  FitScore score;

  double seconds(int ranks, double bytes) const {
    Hardware hardware;
    hardware.device = device;
    return collective_time(hardware, Collective::kAllGather, bytes, {ranks, 1, ranks}).seconds;
  }
  const LinkFit& link() const {
    return device.profile.link[static_cast<std::size_t>(Collective::kAllGather)];
  }
};

Fitted fit(const Device& start, const LinkMeasurements& measurements) {
  Fitted fitted{.device = start, .score = {}};
  std::vector<std::string> left_out;
  fit_link(fitted.device, Collective::kAllGather, measurements, fitted.score, left_out);
  CHECK(left_out.empty());
  return fitted;
}

// A fit of times without steps stays what it is, whatever the relative measured.
void check_shapes_nothing(std::vector<CollectiveSample> relative) {
  LinkMeasurements measurements{.samples = measured(smooth, {2, 8}, 32768, 2, 0),
                                .sources = {"mine", "a relative's"},
                                .preferred = {false, false}};
  const Fitted alone = fit(h100_device(), measurements);
  measurements.relatives.push_back({.samples = std::move(relative), .companions = {}});
  const Fitted beside = fit(h100_device(), measurements);
  CHECK(beside.score.form == alone.score.form);
  CHECK(beside.link().table == alone.link().table);
}

double furthest(const Fitted& fitted, const Seconds& truth, double factor) {
  double most = 0;
  for (const CollectiveSample& sample : measured(truth, {2, 4, 8}, 65536, 2, 0)) {
    const double seconds = fitted.seconds(sample.placement.ranks, sample.bytes);
    most = std::max(most, std::abs(seconds / (factor * sample.seconds) - 1));
  }
  return most;
}

}  // namespace

TEST_CASE("sizes that a relative measured have its steps, and its own level") {
  const Seconds slower = [](int ranks, double bytes) { return 1.1 * stepped(ranks, bytes); };
  LinkMeasurements measurements{
      .samples = measured(slower, {2, 4, 8}, 65536, 4, 0), .sources = {"mine"}, .preferred = {false}};
  const Fitted alone = fit(h100_device(), measurements);
  CHECK(furthest(alone, stepped, 1.1) > 0.1);
  CHECK(alone.score.by_own_size.count == 0);

  measurements.sources.push_back("a relative's");
  measurements.preferred.push_back(false);
  measurements.relatives.push_back({.samples = measured(stepped, {2, 4, 8}, 65536, 2, 1), .companions = {}});
  const Fitted beside = fit(h100_device(), measurements);
  CHECK(beside.score.form == "table, as relatives'");
  CHECK(furthest(beside, stepped, 1.1) < 0.05);
  CHECK(beside.score.by_shape.mean < 0.2 * alone.score.by_shape.mean);
  // A size that nobody measured is harder than one that the relative did.
  CHECK(beside.score.by_own_size.mean < 0.8 * beside.score.by_size.mean);
  CHECK(beside.link().evidence == Evidence::kCalibrated);
}

TEST_CASE("a relative that is unlike shapes nothing") {
  const Seconds unlike = [](int ranks, double bytes) { return stepped(ranks, 2 * bytes); };
  check_shapes_nothing(measured(unlike, {2, 8}, 32768, 2, 1));
}

TEST_CASE("relatives whose errors are no number shape nothing") {
  std::vector<CollectiveSample> relative = measured(smooth, {2, 8}, 32768, 2, 1);
  for (CollectiveSample& sample : relative) {
    if (sample.bytes == 1048576) sample.seconds = NAN;
  }
  check_shapes_nothing(relative);
}

TEST_CASE("an earlier table fills in what a sparse log leaves out") {
  LinkMeasurements measurements{
      .samples = measured(stepped, {2, 4, 8}, 65536, 2, 0), .sources = {"shipped"}, .preferred = {false}};
  const Fitted shipped = fit(h100_device(), measurements);

  // Five sizes of eight ranks, on a cluster a fifth slower.
  const Seconds slower = [](int ranks, double bytes) { return 1.2 * stepped(ranks, bytes); };
  measurements = {.samples = measured(slower, {8}, 131072, 8, 0),
                  .sources = {"mine"},
                  .preferred = {false},
                  .has_earlier_table = true};
  REQUIRE(measurements.samples.size() == kLeastNearTable);
  const Fitted fitted = fit(shipped.device, measurements);
  CHECK(fitted.score.form == "table, as profile's");
  CHECK(fitted.link().table.axes == shipped.link().table.axes);
  for (const CollectiveSample& sample : measured(slower, {2, 4, 8}, 65536, 2, 0)) {
    const int ranks = sample.placement.ranks;
    CHECK(fitted.seconds(ranks, sample.bytes) ==
          near(1.2 * shipped.seconds(ranks, sample.bytes)).epsilon(0.09));
  }
}

TEST_CASE("small messages alone do not tell the rate, nor large ones what starting takes") {
  LinkMeasurements measurements{
      .samples = measured(stepped, {2, 8}, 65536, 2, 0), .sources = {"shipped"}, .preferred = {false}};
  const Fitted shipped = fit(h100_device(), measurements);
  const Seconds slower = [](int ranks, double bytes) { return 1.5 * stepped(ranks, bytes); };
  const std::vector<CollectiveSample> all = measured(slower, {2, 8}, 65536, 2, 0);
  measurements.has_earlier_table = true;
  for (const bool small : {true, false}) {
    measurements.samples.clear();
    for (const CollectiveSample& sample : all) {
      if (small ? sample.bytes <= 262144 : sample.bytes >= 67108864) measurements.samples.push_back(sample);
    }
    const Fitted fitted = fit(shipped.device, measurements);
    CHECK(fitted.score.form == "table, as profile's");
    const auto factor = [&](double bytes) { return fitted.seconds(8, bytes) / shipped.seconds(8, bytes); };
    CHECK(factor(small ? 131072 : 268435456) == near(1.5).epsilon(0.03));
    CHECK(factor(small ? 536870912 : 65536) < 1.05);
  }
}

TEST_CASE("a table of a relative's data sheet is calibrated where all that it reaches was measured") {
  LinkMeasurements measurements{
      .samples = measured(stepped, {2, 8}, 65536, 2, 0), .sources = {"mine"}, .preferred = {false}};
  Fitted start = fit(h100_device(), measurements);
  start.device.profile.link[static_cast<std::size_t>(Collective::kAllGather)].evidence =
      Evidence::kInterpolated;
  measurements.has_earlier_table = true;
  measurements.samples = measured(stepped, {2, 8}, 65536, 4096, 0);
  CHECK(fit(start.device, measurements).link().evidence == Evidence::kInterpolated);
  measurements.samples = measured(stepped, {2}, 65536, 2, 0);
  CHECK(fit(start.device, measurements).link().evidence == Evidence::kInterpolated);
  measurements.samples = measured(stepped, {2, 8}, 65536, 2, 0);
  CHECK(fit(start.device, measurements).link().evidence == Evidence::kCalibrated);
}

}  // namespace trainfront::costmodel
