#include "costmodel/collective_time.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

constexpr Collective kAll[] = {Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter,
                               Collective::kAllToAll, Collective::kSendRecv};

double seconds(const Hardware& hardware, Collective collective, double bytes, int stride, int size) {
  return collective_time(hardware, collective, bytes, place_group(stride, size, hardware.domain_gpus))
      .seconds;
}

// nccl-tests' bus bandwidth of an all_reduce, in bytes/s.
double bus_bandwidth(double bytes, int ranks, double time_s) {
  return bytes / time_s * 2 * (ranks - 1) / ranks;
}

}  // namespace

TEST_CASE("a collective of one rank, or of nothing, takes no time") {
  for (const Collective collective : kAll) {
    CHECK(collective_time(h100_cluster(), collective, 1e9, {1, 1, 1}).seconds == 0);
    CHECK(collective_time(h100_cluster(), collective, 0, {8, 1, 8}).seconds == 0);
  }
}

TEST_CASE("collective time is finite and never falls when the message grows, within and across domains") {
  for (const Collective collective : kAll) {
    for (const Placement& placement :
         {Placement{2, 1, 2}, {8, 1, 8}, {2, 2, 1}, {16, 2, 8}, {64, 8, 8}, {64, 64, 1}, {1024, 128, 8}}) {
      double before = 0;
      for (double bytes = 1; bytes < 1e12; bytes *= 1.07) {
        const double time = collective_time(h100_cluster(), collective, bytes, placement).seconds;
        REQUIRE(std::isfinite(time));
        CHECK(time >= before * (1 - 1e-12));
        before = time;
      }
    }
  }
}

TEST_CASE("more ranks take no less time, nor do more domains or fewer NICs") {
  const Hardware cluster = h100_cluster();
  for (const Collective collective : kAll) {
    if (collective == Collective::kSendRecv) continue;
    for (const double bytes : {1e3, 1e6, 1e8}) {
      // Eight ranks of all_reduce may use the switch where four cannot.
      if (collective != Collective::kAllReduce) {
        CHECK(seconds(cluster, collective, bytes, 1, 8) >= seconds(cluster, collective, bytes, 1, 4));
      }
      CHECK(seconds(cluster, collective, bytes, 1, 16) >= seconds(cluster, collective, bytes, 1, 8));
      CHECK(seconds(cluster, collective, bytes, 1, 128) >= seconds(cluster, collective, bytes, 1, 32));
      CHECK(seconds(cluster, collective, bytes, 8, 8) >= seconds(cluster, collective, bytes, 1, 8));
    }
  }
}

TEST_CASE("all_reduce over 8 H100 in one node reaches the bus bandwidth that the switch gives") {
  // aws-samples/awsome-distributed-training, 1x p5.48xlarge: about 480 GB/s at 8 GiB (NVLS).
  const double bytes = 8.0 * (1ull << 30);
  const double bandwidth =
      bus_bandwidth(bytes, 8, seconds(h100_cluster(), Collective::kAllReduce, bytes, 1, 8));
  CHECK(bandwidth > 440e9);
  CHECK(bandwidth < 500e9);
}

TEST_CASE("all_reduce over 4 nodes of 8 H100 on InfiniBand NDR takes what nccl-tests printed") {
  // NVIDIA/nccl-tests#309, 32 GPUs: 35 us at small sizes.
  const double small = seconds(h100_cluster(), Collective::kAllReduce, 1024, 1, 32);
  CHECK(small * 1e6 == near(35).epsilon(0.15));
}

TEST_CASE("small messages across nodes take what nccl-tests printed on InfiniBand and EFA") {
  // 4 nodes of H100 on NDR (NVIDIA/nccl-tests#309); 2 p5.48xlarge and 2 p4de.24xlarge
  // (aws-samples/awsome-distributed-training): 1 KiB of all_reduce.
  Hardware hardware = h100_cluster();
  CHECK(seconds(hardware, Collective::kAllReduce, 1024, 1, 32) * 1e6 == near(35).epsilon(0.05));
  hardware.network = {.kind = "efa-v2", .nic_bytes_per_s = 50e9, .latency_scale = 4, .efficiency = 0.95};
  CHECK(seconds(hardware, Collective::kAllReduce, 1024, 1, 16) * 1e6 == near(74).epsilon(0.1));
  hardware.device = a100_device();
  hardware.network = {.kind = "efa-v1", .nic_bytes_per_s = 6.25e9, .latency_scale = 9.4, .efficiency = 0.85};
  CHECK(seconds(hardware, Collective::kAllReduce, 1024, 1, 16) * 1e6 == near(162).epsilon(0.1));
  // The kernel's TCP starts all messages alike, as far as is known.
  hardware.network.rdma = false;
  CHECK(seconds(hardware, Collective::kAllReduce, 1024, 1, 16) < 130e-6);
}

TEST_CASE("a device whose own small all_reduces are slow delays small ones across domains") {
  const Hardware hopper = h100_cluster();
  Hardware slow = hopper;
  LinkFit& link = slow.device.profile.link[static_cast<std::size_t>(Collective::kAllReduce)];
  link.base_s *= 2;
  link.per_rank_s *= 2;
  // Two racks of 64 GPUs.
  const Placement racks{128, 2, 64};
  const auto all_reduce = [&](const Hardware& hardware, double bytes) {
    return collective_time(hardware, Collective::kAllReduce, bytes, racks).seconds;
  };
  CHECK(all_reduce(slow, 1024) > 1.7 * all_reduce(hopper, 1024));
  CHECK(all_reduce(slow, 1e9) == all_reduce(hopper, 1e9));
  // GB200's eight ranks take 26 us inside a rack, two racks 184 us for 8 bytes
  // (oracle-quickstart/oci-hpc-oke).
  link.base_s = 12e-6;
  link.per_rank_s = 2e-6;
  CHECK(all_reduce(slow, 8) * 1e6 == near(184).epsilon(0.05));
}

// A call of NCCL's low-latency protocol takes 6.6 us by its own model.
TEST_CASE("an all_reduce shorter than a call says nothing of hops, and answers across domains say so") {
  Hardware cluster = h100_cluster();
  LinkFit& link = cluster.device.profile.link[static_cast<std::size_t>(Collective::kAllReduce)];
  for (LinkFit& fit : cluster.device.profile.link) fit.evidence = Evidence::kCalibrated;
  const auto all_reduce = [&](double eight_ranks_s, const Placement& placement) {
    link.base_s = eight_ranks_s - 7e-6;
    link.per_rank_s = 1e-6;
    return collective_time(cluster, Collective::kAllReduce, 1024, placement);
  };
  const Placement nodes{16, 2, 8}, one_each{2, 2, 1};
  CHECK(all_reduce(8e-6, nodes).evidence == Evidence::kInterpolated);
  // Hops shrink with what is left beside the call, without a floor, and never below nothing.
  CHECK(all_reduce(7.5e-6, nodes).seconds < all_reduce(8e-6, nodes).seconds);
  CHECK(all_reduce(7e-6, nodes).seconds < all_reduce(7.5e-6, nodes).seconds);
  CHECK(all_reduce(6e-6, nodes).seconds == all_reduce(6.5e-6, nodes).seconds);
  CHECK(all_reduce(6e-6, nodes).evidence == Evidence::kExtrapolated);
  CHECK(all_reduce(6e-6, one_each).evidence == Evidence::kInterpolated);
}

TEST_CASE("a member's idle neighbours do not lend it their NICs") {
  const Hardware cluster = h100_cluster();
  const double bytes = 1e9;
  const double alone = seconds(cluster, Collective::kAllGather, bytes, 8, 8);
  const double together = collective_time(cluster, Collective::kAllGather, bytes, {64, 8, 8}).seconds;
  CHECK(alone > 5 * together);
}

TEST_CASE("evidence is worse where nothing was measured") {
  Hardware cluster = h100_cluster();
  for (LinkFit& fit : cluster.device.profile.link) fit.evidence = Evidence::kCalibrated;
  CHECK(collective_time(cluster, Collective::kAllGather, 1e6, {8, 1, 8}).evidence == Evidence::kCalibrated);
  CHECK(collective_time(cluster, Collective::kAllReduce, 1e6, {64, 8, 8}).evidence ==
        Evidence::kInterpolated);
  CHECK(collective_time(cluster, Collective::kAllGather, 1e6, {512, 64, 8}).evidence ==
        Evidence::kExtrapolated);
  CHECK(collective_time(h100_cluster(), Collective::kAllGather, 1e6, {8, 1, 8}).evidence ==
        Evidence::kDataSheet);
  cluster.device.profile.network = {.latency_scale = 2,
                                    .efficiency = 0.9,
                                    .most_domains = 4,
                                    .kind = cluster.network.kind,
                                    .of_collective = {false, true}};
  CHECK(collective_time(cluster, Collective::kAllGather, 1e6, {32, 4, 8}).evidence == Evidence::kCalibrated);
  CHECK(collective_time(cluster, Collective::kAllGather, 1e6, {512, 64, 8}).evidence ==
        Evidence::kExtrapolated);
  // What only follows from it was not measured.
  CHECK(collective_time(cluster, Collective::kAllReduce, 1e6, {32, 4, 8}).evidence ==
        Evidence::kInterpolated);
}

TEST_CASE("a measured network is that of its kind, and of no other") {
  const Placement placement{32, 4, 8};
  const auto seconds = [&](const Hardware& cluster) {
    return collective_time(cluster, Collective::kAllReduce, 1e9, placement).seconds;
  };
  const Hardware catalogue = h100_cluster();
  Hardware measured = catalogue;
  measured.device.profile.network = {
      .latency_scale = 8, .efficiency = 0.4, .most_domains = 4, .kind = "another", .of_collective = {true}};
  CHECK(seconds(measured) == seconds(catalogue));
  CHECK(collective_time(measured, Collective::kAllReduce, 1e9, placement).evidence ==
        collective_time(catalogue, Collective::kAllReduce, 1e9, placement).evidence);
  measured.network.kind = "another";
  CHECK(seconds(measured) > 1.5 * seconds(catalogue));
}

}  // namespace trainfront::costmodel
