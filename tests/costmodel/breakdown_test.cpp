#include "costmodel/breakdown.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "costmodel/step_streams.hpp"
#include "tests/costmodel/reference_models.hpp"
#include "tests/costmodel/test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

Layout pipelined(Schedule schedule, int vpp = 1) {
  Layout layout;
  layout.tp = 4;
  layout.sp = true;
  layout.pp = 4;
  layout.vpp = vpp;
  layout.dp = 8;
  layout.schedule = schedule;
  return layout;
}

const Hardware& cluster() {
  static const Hardware hardware = h100_cluster();
  return hardware;
}

const FrameworkProfile& megatron() {
  return default_profile(Framework::kMegatron);
}

StepGraph graph_of(const Model& model, const Layout& layout, std::int64_t global_batch) {
  return step_graph(model, reference::sequences_of(4096), layout, global_batch, cluster(), megatron(), {});
}

double time_of(const Model& model, const Layout& layout, std::int64_t global_batch) {
  return step_time(layout_cost(model, reference::sequences_of(4096), layout, cluster(), megatron()),
                   layout.dp, global_batch, {})
      .with_stacks(1);
}

TEST_CASE("the step's graph is as long as the closed form says, schedule by schedule") {
  for (const Model& model : {reference::llama31_70b(), reference::llama32_1b()}) {
    for (const std::int64_t batch : {32, 64, 256}) {
      for (const Layout& layout :
           {pipelined(Schedule::k1f1b), pipelined(Schedule::kGpipe), pipelined(Schedule::kInterleaved, 2),
            pipelined(Schedule::kInterleaved, 4)}) {
        const StepGraph step = graph_of(model, layout, batch);
        REQUIRE(step.timeline.complete);
        CHECK(step.timeline.length_s == near(time_of(model, layout, batch)).epsilon(1e-9));
      }
      const Layout zero_bubble = pipelined(Schedule::kZeroBubble);
      CHECK(graph_of(model, zero_bubble, batch).timeline.length_s ==
            near(time_of(model, zero_bubble, batch)).epsilon(0.01));
    }
  }
}

TEST_CASE("the graph covers MoE, uneven splits and fully sharded parameters") {
  Layout experts;
  experts.pp = 4;
  experts.ep = 8;
  experts.dp = 8;
  CHECK(graph_of(reference::deepseek_v3(), experts, 128).timeline.length_s ==
        near(time_of(reference::deepseek_v3(), experts, 128)).epsilon(0.01));
  Layout sharded;
  sharded.zero = 3;
  sharded.dp = 64;
  CHECK(graph_of(reference::llama3_8b(), sharded, 128).timeline.length_s ==
        near(time_of(reference::llama3_8b(), sharded, 128)).epsilon(1e-9));
}

TEST_CASE("the critical path's shares sum to the step and are ordered") {
  for (const Layout& layout : {pipelined(Schedule::k1f1b), pipelined(Schedule::kInterleaved, 2)}) {
    const StepGraph step = graph_of(reference::llama31_70b(), layout, 64);
    const std::vector<PathShare> shares = path_shares(step, layout);
    double sum = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      sum += shares[i].seconds;
      CHECK(shares[i].stage <= layout.pp);
      if (i > 0) CHECK(shares[i].seconds <= shares[i - 1].seconds);
    }
    CHECK(sum == near(step.timeline.length_s).epsilon(1e-12));
  }
}

TEST_CASE("the bottleneck is named with its stage, share and fabric") {
  Layout layout;
  layout.tp = 16;  // over two nodes
  layout.sp = true;
  Hardware slow = cluster();
  slow.network.nic_bytes_per_s = 1e9;
  const StepGraph step =
      step_graph(reference::llama31_70b(), reference::sequences_of(4096), layout, 4, slow, megatron(), {});
  const std::string words = bottleneck_words(path_shares(step, layout), layout, slow);
  CHECK(words.find("stage 0 spends ") == 0);
  CHECK(words.find("tensor-parallel all-gather and reduce-scatter over InfiniBand NDR") != std::string::npos);

  const StepGraph fast = graph_of(reference::llama31_70b(), pipelined(Schedule::k1f1b), 256);
  const std::string usual =
      bottleneck_words(path_shares(fast, pipelined(Schedule::k1f1b)), pipelined(Schedule::k1f1b), cluster());
  CHECK(usual.find("stage 3 spends ") == 0);  // it has the head
  CHECK(usual.find("matrix products") != std::string::npos);
}

TEST_CASE("what would change the step most: compute for a large model, the network where tensors cross it") {
  Layout layout = pipelined(Schedule::k1f1b);
  const auto of = [&](const Hardware& hardware) {
    return sensitivities(reference::llama31_70b(), reference::sequences_of(4096), layout, 256, hardware,
                         megatron(), {});
  };
  const std::vector<Sensitivity> usual = of(cluster());
  REQUIRE(usual.size() == kResources);
  CHECK(usual.front().resource == Resource::kCompute);
  double saved = 0;
  for (const Sensitivity& s : usual) {
    CHECK(s.saved >= 0);
    saved += s.saved;
  }
  CHECK(saved <= 1 - 1 / 1.1 + 1e-9);  // all resources at once could not save more
  layout.tp = 16;
  layout.pp = 1;
  Hardware slow = cluster();
  slow.network.nic_bytes_per_s = 1e9;
  CHECK(of(slow).front().resource == Resource::kNetwork);
}

TEST_CASE(
    "events: one for every node, none overlaps another on its stage, the last critical one ends the step") {
  const Layout layout = pipelined(Schedule::k1f1b);
  const StepGraph step = graph_of(reference::llama31_70b(), layout, 64);
  const std::vector<StepEvent> events = step_events(step, layout);
  CHECK(events.size() == step.graph.nodes().size());
  double critical_s = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].critical) critical_s += events[i].seconds;
    const bool is_pass = events[i].name == "forward" || events[i].name == "input_gradient";
    CHECK(events[i].parts.total() == near(is_pass ? events[i].seconds : 0).epsilon(1e-9));
    if (i > 0 && events[i].stage == events[i - 1].stage) {
      CHECK(events[i].start_s >= (events[i - 1].start_s + events[i - 1].seconds) * (1 - 1e-12));
    }
  }
  CHECK(critical_s == near(step.timeline.length_s));
  CHECK(static_cast<std::int64_t>(events.size()) <= step_graph_nodes(layout, 64) + 4 * layout.pp + 2);
}

// The waits of the compute stream are the parts of the step, so that all of them must be on the links'
// streams.
TEST_CASE("links' events: as long as links work, no shorter than what compute waits for, within the step") {
  std::vector<Layout> layouts{pipelined(Schedule::k1f1b), pipelined(Schedule::kGpipe)};
  Layout interleaved = pipelined(Schedule::kInterleaved);
  interleaved.vpp = 2;
  layouts.push_back(interleaved);
  Layout whole;  // ZeRO-3, with experts, context and tensor parallelism
  whole.tp = 2;
  whole.sp = true;
  whole.cp = 2;
  whole.ep = 4;
  whole.dp = 16;
  whole.zero = 3;
  layouts.push_back(whole);
  for (const Layout& layout : layouts) {
    const Model model = layout.ep > 1 ? reference::qwen3_30b() : reference::llama31_70b();
    const StepGraph step = graph_of(model, layout, 64);
    const std::vector<StreamEvent> events = stream_events(
        step, layout, chunk_link_times(model, reference::sequences_of(4096), layout, cluster(), megatron()));
    std::array<double, kStreams> waited_s{}, busy_s{};
    for (std::size_t i = 0; i < events.size(); ++i) {
      const StreamEvent& event = events[i];
      waited_s[static_cast<std::size_t>(event.stream)] += event.waited_s;
      busy_s[static_cast<std::size_t>(event.stream)] += event.busy_s;
      CHECK(event.busy_s >= event.waited_s * (1 - 1e-12));
      CHECK(event.seconds >= event.waited_s * (1 - 1e-9));
      CHECK(event.seconds <= event.busy_s * (1 + 1e-9));
      CHECK(event.start_s >= 0);
      CHECK(event.start_s + event.seconds <= step.timeline.length_s * (1 + 1e-12));
      if (i > 0 && event.stage == events[i - 1].stage && event.stream == events[i - 1].stream)
        CHECK(event.start_s >= (events[i - 1].start_s + events[i - 1].seconds) * (1 - 1e-9));
    }
    std::array<double, 3> parts_s{};
    for (const StepEvent& event : step_events(step, layout)) {
      parts_s[0] += event.parts[Part::kTensorParallel];
      parts_s[1] += event.parts[Part::kContextParallel];
      parts_s[2] += event.parts[Part::kExpertParallel];
    }
    for (std::size_t i = 0; i < parts_s.size(); ++i)
      CHECK(waited_s[static_cast<std::size_t>(Stream::kTensorParallel) + i] ==
            near(parts_s[i]).epsilon(1e-9));
    // Megatron hides some of what tensor parallelism sends, and interleaved transfers.
    const auto tensor = static_cast<std::size_t>(Stream::kTensorParallel);
    if (layout.tp > 1) CHECK(busy_s[tensor] == near(waited_s[tensor] / 0.65));
    const auto ahead = static_cast<std::size_t>(Stream::kPipelineForward);
    if (layout.pp > 1) CHECK(busy_s[ahead] > 0);
    if (layout.vpp > 1) CHECK(waited_s[ahead] == 0);
  }
}

}  // namespace
}  // namespace trainfront::costmodel
