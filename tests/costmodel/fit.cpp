#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "costmodel/fit_attention.hpp"
#include "costmodel/fit_collective.hpp"
#include "costmodel/fit_gemm.hpp"
#include "costmodel/fit_memory_bound.hpp"
#include "costmodel/fit_minimize.hpp"
#include "costmodel/fit_network.hpp"
#include "costmodel/fit_protocols.hpp"
#include "costmodel/fit_table.hpp"
#include "costmodel/gemm_form.hpp"
#include "test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

// "Measurements" that a device other than the start's would give, with noise.
std::vector<GemmSample> made_up_gemms(const Device& device, std::size_t count, double noise,
                                      std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> log_m(2, 14), log_nk(7, 13);
  std::normal_distribution<double> error(0, noise);
  GemmFit truth = device.profile.bf16;
  truth.flops_per_s *= 0.8;
  truth.bytes_per_s *= 1.2;
  truth.launch_s = 6e-6;
  std::vector<GemmSample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    GemmSample sample{.m = std::ceil(std::exp2(log_m(random))),
                      .n = 64 * std::ceil(std::exp2(log_nk(random) - 6)),
                      .k = 64 * std::ceil(std::exp2(log_nk(random) - 6))};
    sample.seconds = std::exp(error(random)) *
                     gemm_form(truth, Precision::kBf16, device.compute_units, sample.m, sample.n, sample.k);
    samples.push_back(sample);
  }
  return samples;
}

double mean_error(const Device& device, const GemmFit& fit, const std::vector<GemmSample>& samples) {
  double sum = 0;
  for (const GemmSample& sample : samples) {
    sum += std::abs(gemm_burst(fit, Precision::kBf16, device.compute_units, sample.m, sample.n, sample.k) /
                        sample.seconds -
                    1);
  }
  return sum / static_cast<double>(samples.size());
}

}  // namespace

TEST_CASE("the simplex method finds the bottom of Rosenbrock's valley") {
  const auto cost = [](const std::vector<double>& x) {
    return std::pow(1 - x[0], 2) + 100 * std::pow(x[1] - x[0] * x[0], 2);
  };
  const std::vector<double> x = minimize(cost, {-1.2, 1}, 0.5, 400);
  CHECK(x[0] == near(1).epsilon(1e-3));
  CHECK(x[1] == near(1).epsilon(1e-3));
}

TEST_CASE("a fitted table follows its samples, shrugs off an outlier, and never falls") {
  std::vector<TableSample> samples;
  for (int i = 0; i <= 40; ++i) {
    const double size = std::exp2(10 + i * 0.25);
    // Rises, but for a dip that noise could make; one sample is 20 times off.
    double value = 0.5 * std::log(size) + (i == 20 ? -0.3 : 0) + (i == 31 ? 3 : 0);
    samples.push_back({{size, 1, 1}, value});
    samples.push_back({{size, 1, 1}, 0.5 * std::log(size)});
  }
  const TableShape shape{.axes = {std::vector<double>{10, 12, 14, 16, 18, 20}, {0}, {0}}};
  const MonotoneTable table = fit_table(
      shape, [](const auto& size) { return 0.4 * std::log(size[0]); }, samples);
  for (std::size_t i = 1; i < table.log_values.size(); ++i)
    CHECK(table.log_values[i] >= table.log_values[i - 1]);
  for (const double size : {2048.0, 16384.0, 500000.0}) {
    CHECK(table.at(size) == near(std::sqrt(size)).epsilon(0.03));
  }
}

TEST_CASE("a GEMM fit recovers a device from noisy times, and from 128 of them within ten per cent") {
  const Device device = h100_device();
  const std::vector<GemmSample> unseen = made_up_gemms(device, 500, 0, 77);
  for (const std::size_t count : {128u, 1500u}) {
    const GemmFit fit = fit_gemm(device, Precision::kBf16, device.profile.bf16,
                                 {.samples = made_up_gemms(device, count, 0.05, 5)});
    CHECK(mean_error(device, fit, unseen) < (count == 128 ? 0.10 : 0.04));
    CHECK(fit.evidence == Evidence::kCalibrated);
  }
}

TEST_CASE("a memory-bound fit finds launch and rate") {
  std::vector<MemoryBoundSample> samples;
  for (double bytes = 1e4; bytes < 1e9; bytes *= 2) {
    samples.push_back({MemoryBound::kAdd, bytes, 5e-6 + bytes / 1.5e12, 0});
  }
  FitScore score;
  const MemoryBoundFit fit = fit_memory_bound({.launch_s = 1e-6, .bytes_per_s = 1e12}, samples, score);
  CHECK(fit.launch_s == near(5e-6).epsilon(0.05));
  CHECK(fit.bytes_per_s == near(1.5e12).epsilon(0.05));
  CHECK(score.by_size.mean < 2);
}

TEST_CASE("a group of ranks that runs many times slower than the others is left out by name") {
  Device device = h100_device();
  Hardware truth = h100_cluster();
  std::vector<CollectiveSample> samples;
  for (const int ranks : {2, 4, 8}) {
    for (double bytes = 1024; bytes < 1e9; bytes *= 2) {
      const Placement placement{ranks, 1, ranks};
      const double seconds = collective_time(truth, Collective::kAllGather, bytes, placement).seconds;
      samples.push_back(
          {Collective::kAllGather, placement, bytes, 0, ranks == 8 ? 9 * seconds : seconds, 0, 0});
    }
  }
  FitScore score;
  std::vector<std::string> left_out;
  fit_link(device, Collective::kAllGather, {.samples = samples, .sources = {"a log"}, .preferred = {false}},
           score, left_out);
  REQUIRE(left_out.size() == 1);
  CHECK(left_out.front() == "8 ranks of a log");
  Hardware fitted = truth;
  fitted.device = device;
  for (const double bytes : {1e5, 1e7, 5e8}) {
    CHECK(collective_time(fitted, Collective::kAllGather, bytes, {4, 1, 4}).seconds ==
          near(collective_time(truth, Collective::kAllGather, bytes, {4, 1, 4}).seconds).epsilon(0.06));
  }
}

TEST_CASE("where a library changes its protocol is told by ranks that were measured on both sides") {
  const Device device = h100_device();
  // A step at 1 MiB a rank: 2 ranks change above 2 MiB, 8 above 8 MiB.
  const auto truth = [&](double bytes, int ranks) {
    const double line_s = bytes * (ranks - 1) / ranks / device.link_bytes_per_s;
    if (bytes / ranks <= 1048576) return 8e-6 + 0.7e-6 * (ranks - 1) + line_s / 0.4;
    return 20e-6 + 2e-6 * (ranks - 1) + line_s / 0.85;
  };
  std::vector<CollectiveSample> samples, without;
  for (const int ranks : {2, 4, 8}) {
    for (double bytes = 65536; bytes <= 536870912; bytes *= 2) {
      samples.push_back({Collective::kAllGather, {ranks, 1, ranks}, bytes, 0, truth(bytes, ranks), 0, 0});
      if (bytes != 8388608) without.push_back(samples.back());
    }
  }
  const ProtocolSteps fitted =
      ProtocolSteps::fitted(device, Collective::kAllGather, ProtocolSteps::Step::kByShare, without);
  REQUIRE(fitted.has_step());
  CHECK(fitted.step_bytes() >= 1048576);
  CHECK(fitted.step_bytes() < 2097152);
  for (const int ranks : {2, 4, 8}) {
    CHECK(fitted.seconds(8388608, ranks) == near(truth(8388608, ranks)).epsilon(0.01));
  }
  FitScore score;
  std::vector<std::string> left_out;
  Device calibrated = device;
  fit_link(calibrated, Collective::kAllGather,
           {.samples = samples, .sources = {"made up"}, .preferred = {false}}, score, left_out);
  CHECK(score.form == "table, two protocols");
  CHECK(score.by_shape.mean < 3);
  // Times without a step need no second protocol.
  for (CollectiveSample& sample : samples) {
    sample.seconds = 8e-6 + 0.7e-6 * (sample.placement.ranks - 1) +
                     sample.bytes / sample.placement.ranks / (0.8 * device.link_bytes_per_s);
  }
  fit_link(calibrated, Collective::kAllGather,
           {.samples = samples, .sources = {"made up"}, .preferred = {false}}, score, left_out);
  CHECK(score.by_shape.mean < 3);
}

TEST_CASE("each number of ranks may change its protocol at a size of its own") {
  const Device device = h100_device();
  const auto last_small = [](int ranks) {
    return ranks == 2 ? 1048576.0 : ranks == 4 ? 8388608.0 : 2097152.0;
  };
  std::vector<CollectiveSample> samples;
  for (const int ranks : {2, 4, 8}) {
    for (double bytes = 65536; bytes <= 536870912; bytes *= 2) {
      const double line_s = bytes * (ranks - 1) / ranks / device.link_bytes_per_s;
      const double seconds = bytes <= last_small(ranks) ? 8e-6 + 0.7e-6 * (ranks - 1) + line_s / 0.4
                                                        : 30e-6 + 2e-6 * (ranks - 1) + line_s / 0.85;
      samples.push_back({Collective::kAllGather, {ranks, 1, ranks}, bytes, 0, seconds, 0, 0});
    }
  }
  const ProtocolSteps fitted =
      ProtocolSteps::fitted(device, Collective::kAllGather, ProtocolSteps::Step::kByRanks, samples);
  for (const int ranks : {2, 4, 8}) {
    CHECK(fitted.step_bytes(ranks) >= last_small(ranks));
    CHECK(fitted.step_bytes(ranks) < 2 * last_small(ranks));
  }
  // Between them, and at the nearest beyond.
  CHECK(fitted.step_bytes(3) > fitted.step_bytes(2));
  CHECK(fitted.step_bytes(3) < fitted.step_bytes(4));
  CHECK(fitted.step_bytes(16) == fitted.step_bytes(8));
}

TEST_CASE("what a collective was not measured at follows its companion's shape") {
  const Device device = h100_device();
  CHECK(companion_of(Collective::kReduceScatter) == Collective::kAllGather);
  CHECK(!companion_of(Collective::kAllToAll));
  std::vector<CollectiveSample> gathers, scatters;
  for (const int ranks : {2, 4, 6, 8}) {
    int octave = 0;
    for (double bytes = 65536; bytes <= 536870912; bytes *= 2, ++octave) {
      const double line_s = bytes * (ranks - 1) / ranks / device.link_bytes_per_s;
      // No form knows of these.
      const double bump = octave % 3 == 1 ? 1.3 : 1;
      const double seconds = bump * (8e-6 + 1e-6 * (ranks - 1) + line_s / 0.8);
      gathers.push_back({Collective::kAllGather, {ranks, 1, ranks}, bytes, 0, seconds, 0, 0});
      scatters.push_back({Collective::kReduceScatter, {ranks, 1, ranks}, bytes, 0, 0.95 * seconds, 0, 0});
    }
  }
  FitScore alone, beside;
  std::vector<std::string> left_out;
  Device calibrated = device;
  fit_link(calibrated, Collective::kReduceScatter,
           {.samples = scatters, .sources = {"made up"}, .preferred = {false}}, alone, left_out);
  fit_link(calibrated, Collective::kReduceScatter,
           {.samples = scatters, .companions = gathers, .sources = {"made up"}, .preferred = {false}}, beside,
           left_out);
  CHECK(beside.form == "table, as companion");
  CHECK(alone.by_shape.mean > 8);
  CHECK(beside.by_shape.mean < 0.6 * alone.by_shape.mean);
}

TEST_CASE("two nodes' all_reduce times tell the network's latency and efficiency") {
  Hardware truth = h100_cluster();
  truth.network.latency_scale = 5;
  truth.network.efficiency = 0.8;
  std::vector<CollectiveSample> samples;
  for (double bytes = 1024; bytes < 1e10; bytes *= 2) {
    const Placement placement{16, 2, 8};
    samples.push_back({Collective::kAllReduce, placement, bytes, truth.network.nic_bytes_per_s,
                       collective_time(truth, Collective::kAllReduce, bytes, placement).seconds, 0, 0});
  }
  // Another log claims the same fabric, at a tenth of its rate.
  for (double bytes = 1024; bytes < 1e9; bytes *= 2) {
    samples.push_back({Collective::kAllReduce,
                       {32, 4, 8},
                       bytes,
                       truth.network.nic_bytes_per_s,
                       50e-6 + bytes / (0.1 * 8 * truth.network.nic_bytes_per_s),
                       1,
                       0});
  }
  FitScore score;
  std::vector<std::string> left_out;
  const NetworkFit fit = fit_network(h100_cluster(), samples, {"good", "over Ethernet"}, score, left_out);
  CHECK(fit.latency_scale == near(5).epsilon(0.05));
  CHECK(fit.efficiency == near(0.8).epsilon(0.02));
  CHECK(fit.most_domains == 2);
  CHECK(left_out == std::vector<std::string>{"over Ethernet"});
  CHECK(score.by_size.mean < 1);
}

TEST_CASE(
    "a network that was measured through the kernel's TCP lets sends have what its rings got of the line") {
  Hardware cluster = h100_cluster();
  cluster.network = {.kind = "tcp", .latency_scale = 20, .efficiency = 0.8, .rdma = false};
  for (const double gigabits : {10.0, 400.0}) {  // of a node
    cluster.network.nic_bytes_per_s = gigabits / 8 * 1e9 / cluster.gpus_per_node;
    Hardware truth = cluster;
    truth.network.efficiency = 0.4;
    std::vector<CollectiveSample> samples;
    for (double bytes = 1024; bytes < 1e10; bytes *= 2) {
      const Placement placement{16, 2, 8};
      samples.push_back({Collective::kAllReduce, placement, bytes, truth.network.nic_bytes_per_s,
                         collective_time(truth, Collective::kAllReduce, bytes, placement).seconds, 0, 0});
    }
    FitScore score;
    std::vector<std::string> left_out;
    Hardware measured = cluster;
    measured.device.profile.network = fit_network(cluster, samples, {"mine"}, score, left_out);
    CHECK(left_out.empty());
    CHECK(score.by_size.mean < 3);
    for (const Collective collective : {Collective::kAllReduce, Collective::kAllGather}) {
      CHECK(collective_time(measured, collective, 1e9, {16, 2, 8}).seconds ==
            near(collective_time(truth, collective, 1e9, {16, 2, 8}).seconds).epsilon(0.02));
    }
    // Half of what the catalogue takes the kernel to give of a line of 10 Gb/s, or of 400, whatever goes over
    // it.
    for (const Collective collective : {Collective::kSendRecv, Collective::kAllToAll}) {
      const Placement placement{2, 2, 1};
      CHECK(collective_time(measured, collective, 1e9, placement).seconds /
                collective_time(cluster, collective, 1e9, placement).seconds ==
            near(2).epsilon(0.03));
    }
  }
}

}  // namespace trainfront::costmodel
