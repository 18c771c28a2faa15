#include <doctest/doctest.h>

#include "costmodel/step_graph.hpp"
#include "costmodel/step_time.hpp"
#include "tests/costmodel/reference_models.hpp"
#include "tests/costmodel/test_device.hpp"

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
      CHECK(graph.timeline.length_s == doctest::Approx(step_s).epsilon(1e-9));
      CHECK(step_s <= step_on(hardware, layout, with_links(false), 64));
      CHECK(time_parts_sum(hardware, layout) == doctest::Approx(step_s).epsilon(1e-9));
    }
  }
}

TEST_CASE("a delay is paid by every message") {
  Hardware hardware = h100_cluster();
  const Placement pair{2, 2, 1};
  const double before = collective_time(hardware, Collective::kSendRecv, 1e6, pair).seconds;
  const double ring_before = collective_time(hardware, Collective::kAllGather, 1e6, {4, 4, 1}).seconds;
  hardware.network.delay_s = 0.01;
  CHECK(collective_time(hardware, Collective::kSendRecv, 1e6, pair).seconds ==
        doctest::Approx(before + 0.01));
  CHECK(before > 0);
  // Four ranks pass a part on three times; the ring's model counts its hops by domains.
  CHECK(collective_time(hardware, Collective::kAllGather, 1e6, {4, 4, 1}).seconds > ring_before + 0.03);
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
  CHECK(transfer_s(4, 128, 1) == doctest::Approx(plain + nanotron.transfer_stall_s));
  CHECK(transfer_s(4, 16, 0) == doctest::Approx(plain + nanotron.transfer_stall_s));
  CHECK(transfer_s(16, 1, 0) == doctest::Approx(plain));
  CHECK(transfer_s(4, 32, 0) == doctest::Approx(plain));
  CHECK(transfer_s(8, 2, 0) == doctest::Approx(plain));    // 16 GPUs
  CHECK(transfer_s(16, 16, 0) == doctest::Approx(plain));  // 256
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
    CHECK(slowed_s == doctest::Approx(free_s + 0.2 * (bare_s - free_s)).epsilon(1e-9));
    CHECK(slowed_s > free_s);
  }
}

}  // namespace
}  // namespace trainfront::costmodel
