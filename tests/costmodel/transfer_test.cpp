#include <doctest/doctest.h>

#include "costmodel/step_graph.hpp"
#include "costmodel/step_time.hpp"
#include "tests/costmodel/reference_models.hpp"
#include "tests/costmodel/test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

Recipe sequences_of_2048() {
  Recipe recipe;
  recipe.sequence_length = 2048;
  return recipe;
}

Layout stages(Schedule schedule, int tp) {
  Layout layout;
  layout.tp = tp;
  layout.pp = 8;
  layout.dp = 2;
  layout.zero = 0;
  layout.schedule = schedule;
  return layout;
}

double step_on(const Hardware& hardware, const Layout& layout, const FrameworkProfile& framework,
               std::int64_t batch) {
  const LayoutCost cost =
      layout_cost(reference::llama2_7b(), sequences_of_2048(), layout, hardware, framework);
  return step_time(cost, layout.dp, batch, {}).with_stacks(1);
}

FrameworkProfile with_links(bool overlap) {
  FrameworkProfile profile = default_profile(Framework::kMegatron);
  profile.gpipe_transfer_overlaps = overlap;
  return profile;
}

double time_parts_sum(const Hardware& hardware, const Layout& layout) {
  return step_parts(reference::llama2_7b(), sequences_of_2048(), layout, 64, hardware, with_links(true), {})
      .total();
}

// Slow links: a transfer takes longer than a stage's forward.
TEST_CASE("GPipe's links are stages of their own: the closed form is the graph, on any network") {
  for (const double gbit : {400.0, 10.0, 1.0}) {
    for (const double delay_s : {0.0, 0.05}) {
      CAPTURE(gbit);
      Hardware hardware = h100_cluster();
      hardware.network.nic_bytes_per_s = gbit * 1e9 / 8;
      hardware.network.delay_s = delay_s;
      const Layout layout = stages(Schedule::kGpipe, 1);
      const StepGraph graph =
          step_graph(reference::llama2_7b(), sequences_of_2048(), layout, 64, hardware, with_links(true), {});
      REQUIRE(graph.timeline.complete);
      const double step_s = step_on(hardware, layout, with_links(true), 64);
      CHECK(graph.timeline.length_s == near(step_s).epsilon(1e-9));
      CHECK(step_s <= step_on(hardware, layout, with_links(false), 64));
      CHECK(time_parts_sum(hardware, layout) == near(step_s).epsilon(1e-9));
    }
  }
}

TEST_CASE("a delay is paid by every message") {
  Hardware hardware = h100_cluster();
  const Placement pair{2, 2, 1};
  const double before = collective_time(hardware, Collective::kSendRecv, 1e6, pair).seconds;
  const double ring_before = collective_time(hardware, Collective::kAllGather, 1e6, {4, 4, 1}).seconds;
  hardware.network.delay_s = 0.01;
  CHECK(collective_time(hardware, Collective::kSendRecv, 1e6, pair).seconds == near(before + 0.01));
  CHECK(before > 0);
  // Four ranks pass a part on three times; the ring's model counts its hops by domains.
  CHECK(collective_time(hardware, Collective::kAllGather, 1e6, {4, 4, 1}).seconds > ring_before + 0.03);
}

TEST_CASE(
    "Megatron of 2022 and DeepSpeed send the parts of a hidden state and gather them; before, it went "
    "whole") {
  const auto transfer_s = [](const char* profile, bool sp) {
    Layout layout = stages(Schedule::k1f1b, 8);
    layout.sp = sp;
    return layout_cost(reference::llama2_7b(), sequences_of_2048(), layout, h100_cluster(),
                       *find_profile(profile))
        .far.transfer_s;
  };
  const Hardware hardware = h100_cluster();
  const double bytes = 2048 * 4096 * 2.0;
  const Placement pair{2, 2, 1};
  const double whole_s = collective_time(hardware, Collective::kSendRecv, bytes, pair).seconds;
  const double part_s = collective_time(hardware, Collective::kSendRecv, bytes / 8, pair).seconds;
  const double gather_s = collective_time(hardware, Collective::kAllGather, bytes, {8, 1, 8}).seconds;
  CHECK(transfer_s("megatron-2022", false) == near(part_s + gather_s));
  CHECK(transfer_s("megatron-2022", true) == near(part_s));
  CHECK(transfer_s("megatron-deepspeed-2023", false) == near(part_s + gather_s));
  CHECK(transfer_s("megatron-2021", false) == near(whole_s));
}

TEST_CASE("through the kernel a fast line gives less than its rate, a slow one all of it") {
  Hardware hardware = h100_cluster();
  hardware.network.rdma = false;
  const auto rate = [&](double node_gbit) {
    hardware.network.nic_bytes_per_s = node_gbit * 1e9 / 8 / hardware.gpus_per_node;
    constexpr double kBytes = 1e9;
    return kBytes / collective_time(hardware, Collective::kSendRecv, kBytes, {2, 2, 1}).seconds /
           hardware.network.nic_bytes_per_s;
  };
  CHECK(rate(1) == near(rate(10)).epsilon(1e-3));
  CHECK(rate(25) < 0.8 * rate(10));
  CHECK(25 * rate(25) > 10 * rate(10));        // but still more than of a slow one
  CHECK(rate(100) == near(0.4).epsilon(0.2));  // NVIDIA/nccl#450: 4 to 6 of 12.5 GB/s
}

TEST_CASE("stalls hit large runs, and unsharded replicas in the range where they were seen") {
  const FrameworkProfile& nanotron = *find_profile("nanotron-2025");
  const auto transfer_s = [&](int pp, int dp, int zero) {
    Layout layout;
    layout.pp = pp;
    layout.dp = dp;
    layout.zero = zero;
    return layout_cost(reference::llama2_7b(), sequences_of_2048(), layout, h100_cluster(), nanotron)
        .far.transfer_s;
  };
  const double plain = transfer_s(4, 16, 1);
  CHECK(plain < 0.01);
  CHECK(transfer_s(4, 128, 1) == near(plain + nanotron.stalls.seconds));
  CHECK(transfer_s(4, 16, 0) == near(plain + nanotron.stalls.seconds));
  CHECK(transfer_s(8, 32, 1) == near(plain + nanotron.stalls.seconds));  // 256
  CHECK(transfer_s(16, 1, 0) == near(plain));
  CHECK(transfer_s(4, 32, 0) == near(plain));
  CHECK(transfer_s(8, 2, 0) == near(plain));    // 16 GPUs
  CHECK(transfer_s(16, 16, 0) == near(plain));  // 256
}

TEST_CASE("unsharded replicas without a pipeline stall on large runs once a micro-batch") {
  const FrameworkProfile& nanotron = *find_profile("nanotron-2025");
  FrameworkProfile calm = nanotron;
  calm.stalls = {};
  const auto lost_s = [&](int tp, int dp, int zero, int micro_batches) {
    Layout layout;
    layout.tp = tp;
    layout.dp = dp;
    layout.zero = zero;
    const std::int64_t batch = std::int64_t{dp} * micro_batches;
    return step_on(h100_cluster(), layout, nanotron, batch) - step_on(h100_cluster(), layout, calm, batch);
  };
  const double stall_s = nanotron.stalls.seconds;
  CHECK(lost_s(8, 64, 0, 4) - lost_s(8, 64, 0, 1) == near(3 * stall_s));
  CHECK(lost_s(16, 32, 0, 4) - lost_s(16, 32, 0, 1) == near(6 * stall_s));
  // Llama 2 7B over 8 ranks: 0.84 x 10^9 parameters each.
  CHECK(lost_s(8, 64, 0, 1) == near(stall_s + 0.84e9 * 1.7e-9).epsilon(0.01));
  CHECK(lost_s(8, 64, 1, 4) == 0);
  CHECK(lost_s(8, 32, 0, 4) == 0);   // 256 GPUs
  CHECK(lost_s(32, 16, 0, 4) == 0);  // few replicas
}

TEST_CASE("the parts of a step hold what stalls cost") {
  const FrameworkProfile& nanotron = *find_profile("nanotron-2025");
  Layout layout;
  layout.tp = 8;
  layout.dp = 64;
  layout.zero = 0;
  const double parts_s =
      step_parts(reference::llama2_7b(), sequences_of_2048(), layout, 128, h100_cluster(), nanotron, {})
          .total();
  CHECK(parts_s == near(step_on(h100_cluster(), layout, nanotron, 128)).epsilon(1e-9));
}

// Searches keep block times by tp, cp and its kind, ep, etp, sp, micro-batch,
// recomputation and its modules, and layout costs by all
// but dp.
TEST_CASE("with a framework's default profile layers do not depend on pp and dp, nor layouts on dp") {
  for (const Framework framework : {Framework::kMegatron, Framework::kTorchtitan, Framework::kDeepspeed}) {
    const FrameworkProfile& profile = default_profile(framework);
    CAPTURE(profile.name);
    for (const Model& model : {reference::llama2_7b(), reference::qwen3_235b()}) {
      for (const int tp : {1, 8, 32}) {
        for (const int zero : {0, 1}) {
          Layout layout;
          layout.framework = framework;
          layout.tp = tp;
          layout.zero = zero;
          layout.sp = tp > 1;
          const auto price_s = [&](int pp, int dp) {
            layout.pp = pp;
            layout.dp = dp;
            const BlockTimes times = block_times(model, sequences_of_2048(), layout, h100_cluster(), profile);
            return times.dense[Pass::kForward].total() + times.moe[Pass::kForward].total() +
                   times.dense[Pass::kWeightGradient].total() + times.moe[Pass::kWeightGradient].total() +
                   times.head[Pass::kForward].total();
          };
          const auto transfer_s = [&](int pp, int dp) {
            layout.pp = pp;
            layout.dp = dp;
            return layout_cost(model, sequences_of_2048(), layout, h100_cluster(), profile).far.transfer_s;
          };
          CHECK(price_s(1, 1) == price_s(16, 64));
          CHECK(transfer_s(4, 1) == transfer_s(4, 512));
        }
      }
    }
  }
}

TEST_CASE("communication hidden under compute slows it by the profile's share") {
  FrameworkProfile free = default_profile(Framework::kMegatron);
  free.overlap_contention = 0;
  FrameworkProfile slowed = free;
  slowed.overlap_contention = 0.2;
  FrameworkProfile bare = free;  // nothing is hidden
  bare.gradient_reduce_hidden = bare.sharded_reduce_hidden = 0;
  bare.parameter_gather_overlaps = false;
  for (const int zero : {0, 1}) {
    Layout layout;
    layout.dp = 64;
    layout.zero = zero;
    const double free_s = step_on(h100_cluster(), layout, free, 256);
    const double slowed_s = step_on(h100_cluster(), layout, slowed, 256);
    const double bare_s = step_on(h100_cluster(), layout, bare, 256);
    CHECK(slowed_s == near(free_s + 0.2 * (bare_s - free_s)).epsilon(1e-9));
    CHECK(slowed_s > free_s);
  }
}

}  // namespace
}  // namespace trainfront::costmodel
