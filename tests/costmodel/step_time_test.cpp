#include "costmodel/step_time.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "costmodel/outer_sync.hpp"
#include "tests/costmodel/reference_models.hpp"
#include "tests/costmodel/test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

struct Case {
  Model model;
  Layout layout;
  std::int64_t global_batch;
};

// Layouts of every kind, batch a multiple of what interleaving needs.
std::vector<Case> random_cases(int count) {
  std::mt19937 random(7);
  const auto pick = [&](std::initializer_list<int> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  const std::vector<Model> models{reference::llama31_70b(),  reference::llama32_1b(),
                                  reference::mixtral_8x7b(), reference::qwen3_235b(),
                                  reference::deepseek_v3(),  reference::gpt_oss_20b()};
  std::vector<Case> cases;
  while (static_cast<int>(cases.size()) < count) {
    Case c;
    c.model = models[random() % models.size()];
    Layout& layout = c.layout;
    layout.framework = random() % 4 == 0 ? Framework::kTorchtitan : Framework::kMegatron;
    layout.tp = pick({1, 2, 4, 8});
    layout.sp = layout.tp > 1;
    layout.cp = pick({1, 1, 2, 4});
    if (layout.cp > 1) layout.cp_type = static_cast<ContextExchange>(pick({0, 1, 2, 3}));
    if (layout.cp_type == ContextExchange::kAllToAllRing) layout.cp_heads = layout.cp / 2;
    layout.pp = pick({1, 2, 4, 8});
    layout.ep = c.model.is_moe() ? pick({1, 4, 8}) : 1;
    layout.dp = pick({1, 2, 8, 64});
    if (layout.tp * layout.cp * layout.dp % layout.ep != 0) continue;
    layout.micro_batch = pick({1, 2});
    layout.zero = pick({0, 1, 2, 3});
    layout.recompute = static_cast<Recompute>(random() % 3);
    const std::vector<RecomputeModules> sets = plain_sets(c.model);
    const bool chooses =
        layout.framework == Framework::kMegatron && layout.recompute == Recompute::kSelective;
    if (chooses) layout.modules = sets[random() % sets.size()];
    layout.schedule = static_cast<Schedule>(random() % 4);
    if (layout.schedule == Schedule::kInterleaved && layout.pp > 1) layout.vpp = 2;
    const int groups = pick({1, 2, 3, 8});
    c.global_batch = std::int64_t{groups} * layout.pp * layout.dp * layout.micro_batch;
    cases.push_back(c);
  }
  return cases;
}

TEST_CASE("every time is finite and positive, the bound below it, the parts sum to it") {
  const Hardware hardware = h100_cluster();
  for (const Case& c : random_cases(400)) {
    const FrameworkProfile& framework = default_profile(c.layout.framework);
    const LayoutCost cost =
        layout_cost(c.model, reference::sequences_of(4096), c.layout, hardware, framework);
    const StepTime time = step_time(cost, c.layout.dp, c.global_batch, {});
    REQUIRE(std::isfinite(time.fixed_s));
    REQUIRE(time.fixed_s >= 0);
    REQUIRE(time.per_stack_s > 0);
    const double bound = step_time_lower_bound(cost, c.layout.dp, c.global_batch);
    REQUIRE(bound > 0);
    REQUIRE(bound <= time.with_stacks(1) * (1 + 1e-12));
    const StepParts parts =
        step_parts(c.model, reference::sequences_of(4096), c.layout, c.global_batch, hardware, framework, {});
    REQUIRE(parts.total() == near(time.with_stacks(1)).epsilon(1e-9));
    for (const double part : {parts.gemm_s, parts.attention_s, parts.memory_bound_s, parts.tensor_parallel_s,
                              parts.context_parallel_s, parts.expert_parallel_s, parts.pipeline_transfer_s,
                              parts.bubble_s, parts.data_parallel_s, parts.optimizer_s, parts.host_s}) {
      REQUIRE(part >= 0);
    }
  }
}

TEST_CASE(
    "c stacks: the step with c times the micro-batches, never below it, equal once the pipeline is steady") {
  const Hardware hardware = h100_cluster();
  int steady = 0;
  for (const Case& c : random_cases(400)) {
    const LayoutCost cost = layout_cost(c.model, reference::sequences_of(4096), c.layout, hardware,
                                        default_profile(c.layout.framework));
    const StepTime once = step_time(cost, c.layout.dp, c.global_batch, {});
    for (const int stacks : {2, 3, 9}) {
      const double direct = step_time(cost, c.layout.dp, stacks * c.global_batch, {}).with_stacks(1);
      REQUIRE(once.with_stacks(stacks) >= direct * (1 - 1e-12));
      const std::int64_t m = micro_batches(c.layout, c.global_batch);
      if (m >= 2 * c.layout.pp) {
        ++steady;
        REQUIRE(once.with_stacks(stacks) == near(direct).epsilon(0.02));
      }
    }
  }
  CHECK(steady > 200);
}

// The first stage holds a table of 1 G parameters, the second 10 M and experts, or the other way round.
TEST_CASE("each kind's buckets follow the stage that holds the most of it, and none is reduced for nothing") {
  const Hardware hardware = h100_cluster();
  Model model = reference::mixtral_8x7b();
  model.layers = 2;
  Layout layout;
  layout.framework = Framework::kTorchtitan;
  layout.pp = 2;
  layout.ep = 8;
  layout.zero = 2;
  const auto cost = [&](int vocab) {
    model.vocab = vocab;
    return layout_cost(model, reference::sequences_of(4096), layout, hardware,
                       default_profile(layout.framework));
  };
  for (const int vocab : {1000, 500000}) {
    const LayoutCost parts = cost(vocab);
    CHECK(parts.largest.expert == near(3.0 * 4096 * 14336));
    CHECK(parts.largest.dense > 4096.0 * vocab);
  }
  CHECK(data_parallel_cost(cost(500000), 4096, 1).fixed_s >
        data_parallel_cost(cost(250000), 4096, 1).fixed_s);
}

TEST_CASE("no part is negative where interleaved stages are uneven") {
  const Hardware hardware = h100_cluster();
  Model model = reference::llama31_70b();
  model.layers = 7;
  Layout layout;
  layout.pp = 4;
  layout.vpp = 2;
  layout.schedule = Schedule::kInterleaved;
  const FrameworkProfile& framework = default_profile(Framework::kMegatron);
  for (const int tp : {1, 2, 4, 8}) {
    layout.tp = tp;
    layout.sp = tp > 1;
    for (const int batch : {4, 8, 64, 512}) {
      CAPTURE(tp);
      CAPTURE(batch);
      const StepParts parts =
          step_parts(model, reference::sequences_of(4096), layout, batch, hardware, framework, {});
      CHECK(parts.pipeline_transfer_s >= 0);
      CHECK(parts.bubble_s >= 0);
      const LayoutCost cost = layout_cost(model, reference::sequences_of(4096), layout, hardware, framework);
      CHECK(parts.total() == near(step_time(cost, 1, batch, {}).with_stacks(1)).epsilon(1e-9));
    }
  }
}

TEST_CASE("without context parallelism its kind changes nothing, bit for bit") {
  const Hardware hardware = h100_cluster();
  const auto seconds = [&](ContextExchange type, int cp_heads) {
    Layout layout;
    layout.cp_type = type;
    layout.cp_heads = cp_heads;
    const LayoutCost cost = layout_cost(reference::llama31_70b(), reference::sequences_of(4096), layout,
                                        hardware, default_profile(Framework::kMegatron));
    return step_time(cost, 1, 8, {}).with_stacks(1);
  };
  using enum ContextExchange;
  for (const ContextExchange type : {kAllGather, kAllToAll, kAllToAllRing}) {
    CHECK(seconds(type, type == kAllToAllRing ? 2 : 0) == seconds(kRing, 0));
  }
}

TEST_CASE("gradients that are held sharded are reduced with every micro-batch") {
  const Hardware hardware = h100_cluster();
  const auto every_micro_batch_s = [&](Framework framework, int zero) {
    Layout layout;
    layout.framework = framework;
    layout.zero = zero;
    const LayoutCost cost = layout_cost(reference::llama32_1b(), reference::sequences_of(2048), layout,
                                        hardware, default_profile(framework));
    return data_parallel_cost(cost, 64, 1).per_micro_batch_s;
  };
  CHECK(every_micro_batch_s(Framework::kMegatron, 0) == 0);
  CHECK(every_micro_batch_s(Framework::kMegatron, 1) == 0);
  CHECK(every_micro_batch_s(Framework::kMegatron, 2) > 0);
  CHECK(every_micro_batch_s(Framework::kMegatron, 3) > 0);
  CHECK(every_micro_batch_s(Framework::kDeepspeed, 1) == 0);
  CHECK(every_micro_batch_s(Framework::kDeepspeed, 2) > 0);
  // torchtitan reduces after every backward, and gathers once more where it reshards.
  CHECK(every_micro_batch_s(Framework::kTorchtitan, 0) > 0);
  CHECK(every_micro_batch_s(Framework::kTorchtitan, 2) > 0);
  CHECK(every_micro_batch_s(Framework::kTorchtitan, 3) > every_micro_batch_s(Framework::kTorchtitan, 2));
}

TEST_CASE("one GPU, one micro-batch: the blocks' times, the optimiser and nothing else") {
  const Hardware hardware = h100_cluster();
  const FrameworkProfile& framework = default_profile(Framework::kMegatron);
  const Model model = reference::llama32_1b();
  const BlockTimes times = block_times(model, reference::sequences_of(2048), {}, hardware, framework);
  double expected = 0;
  for (const PartTimes& pass : times.dense.pass) expected += 16 * pass.total();
  for (const PartTimes& pass : times.embedding.pass) expected += pass.total();
  for (const PartTimes& pass : times.head.pass) expected += pass.total();
  const double parameters = 1235814400.0;
  expected +=
      memory_bound_time(hardware.device, MemoryBound::kOptimizer, framework.optimizer_bytes * parameters)
          .seconds +
      framework.optimizer_extra_s;
  const LayoutCost cost = layout_cost(model, reference::sequences_of(2048), {}, hardware, framework);
  CHECK(step_time(cost, 1, 1, {}).with_stacks(1) == near(expected).epsilon(1e-9));
}

TEST_CASE("sequence parallelism on one tensor rank is the same step, bit for bit") {
  const Hardware hardware = h100_cluster();
  Layout off, on;
  on.sp = true;
  off.pp = on.pp = 4;
  const auto time = [&](const Layout& layout) {
    return step_time(layout_cost(reference::llama31_70b(), reference::sequences_of(8192), layout, hardware,
                                 default_profile(Framework::kMegatron)),
                     16, 1024, {});
  };
  CHECK(time(off).fixed_s == time(on).fixed_s);
  CHECK(time(off).per_stack_s == time(on).per_stack_s);
}

TEST_CASE("more data parallelism at one batch never slows the flush, and a slower network never helps") {
  Hardware hardware = h100_cluster();
  Layout layout;
  layout.tp = 8;
  layout.sp = true;
  layout.pp = 4;
  const auto step = [&](std::int64_t dp) {
    return step_time(layout_cost(reference::llama31_70b(), reference::sequences_of(8192), layout, hardware,
                                 default_profile(Framework::kMegatron)),
                     dp, 512, {})
        .with_stacks(1);
  };
  const double fast = step(16);
  CHECK(step(4) > fast);
  hardware.network.nic_bytes_per_s /= 10;
  CHECK(step(16) > fast);
}

TEST_CASE("block times at hand give the same cost, and data-parallel cost at hand the same step") {
  const Hardware hardware = h100_cluster();
  const FrameworkProfile& framework = default_profile(Framework::kMegatron);
  for (const Case& c : random_cases(50)) {
    const BlockTimes times =
        block_times(c.model, reference::sequences_of(4096), c.layout, hardware, framework);
    const LayoutCost a =
        layout_cost(c.model, reference::sequences_of(4096), c.layout, hardware, framework, times);
    const LayoutCost b = layout_cost(c.model, reference::sequences_of(4096), c.layout, hardware, framework);
    const StepTime x = step_time(a, data_parallel_cost(a, c.layout.dp, 1), c.layout.dp, c.global_batch, {});
    const StepTime y = step_time(b, c.layout.dp, c.global_batch, {});
    REQUIRE(x.fixed_s == y.fixed_s);
    REQUIRE(x.per_stack_s == y.per_stack_s);
  }
}

TEST_CASE("islands keep gradients at home and pay for the outer synchronisation") {
  const Hardware hardware = h100_cluster();
  const Model model = reference::llama3_8b();
  const LayoutCost cost =
      layout_cost(model, reference::sequences_of(8192), {}, hardware, default_profile(Framework::kMegatron));
  const Islands islands{.count = 2, .inner_steps = 50, .wan_bytes_per_s = 1e9, .rtt_s = 0.05, .sync_bits = 8};
  const double apart = step_time(cost, 64, 512, islands).with_stacks(1);
  const double inner = apart - outer_sync_per_step_s(islands, 8030261248.0);
  CHECK(inner == near(step_time(cost, 64, 512, {}).with_stacks(1)).epsilon(0.02));
  CHECK(apart > inner);
}

TEST_CASE("NVIDIA's Llama 3.1 70B recipe on 64 H100 takes 14.66 s a step (dgxc-benchmarking, v25.04)") {
  const Hardware hardware = h100_cluster();
  Layout layout;
  layout.tp = 4;
  layout.sp = true;
  layout.cp = 2;
  layout.pp = 4;
  layout.vpp = 5;
  layout.schedule = Schedule::kInterleaved;
  const LayoutCost cost = layout_cost(reference::llama31_70b(), reference::sequences_of(8192), layout,
                                      hardware, default_profile(Framework::kMegatron));
  CHECK(step_time(cost, 2, 128, {}).with_stacks(1) == near(14.66).epsilon(0.05));
}

}  // namespace
}  // namespace trainfront::costmodel
