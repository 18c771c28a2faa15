#include <benchmark/benchmark.h>

#include "costmodel/data_sheet_profile.hpp"
#include "costmodel/step_graph.hpp"
#include "costmodel/step_time.hpp"
#include "tests/costmodel/reference_models.hpp"
#include "tests/costmodel/test_device.hpp"

namespace {

using namespace trainfront::costmodel;

const Hardware& cluster() {
  static const Hardware hardware = h100_cluster();
  return hardware;
}

Recipe recipe() {
  Recipe result;
  result.sequence_length = 8192;
  return result;
}

Layout plain() {
  Layout layout;
  layout.tp = 8;
  layout.sp = true;
  layout.pp = 8;
  return layout;
}

Layout interleaved() {
  Layout layout = plain();
  layout.vpp = 5;
  layout.schedule = Schedule::kInterleaved;
  return layout;
}

Layout experts() {
  Layout layout;
  layout.pp = 8;
  layout.ep = 8;
  return layout;
}

const FrameworkProfile& megatron() {
  return default_profile(Framework::kMegatron);
}

void layout_from_scratch(benchmark::State& state, const Model& model, const Layout& layout) {
  for (auto _ : state) benchmark::DoNotOptimize(layout_cost(model, recipe(), layout, cluster(), megatron()));
}

void layout_from_blocks(benchmark::State& state, const Model& model, const Layout& layout) {
  const BlockTimes times = block_times(model, recipe(), layout, cluster(), megatron());
  for (auto _ : state)
    benchmark::DoNotOptimize(layout_cost(model, recipe(), layout, cluster(), megatron(), times));
}

void step(benchmark::State& state, const Model& model, const Layout& layout) {
  const LayoutCost cost = layout_cost(model, recipe(), layout, cluster(), megatron());
  std::int64_t dp = 8;
  for (auto _ : state) {
    dp = dp == 128 ? 8 : dp * 2;
    benchmark::DoNotOptimize(step_time(cost, dp, dp * 64, {}));
  }
}

void step_with_data_parallel_cost(benchmark::State& state, const Model& model, const Layout& layout) {
  const LayoutCost cost = layout_cost(model, recipe(), layout, cluster(), megatron());
  const DataParallelCost data_parallel = data_parallel_cost(cost, 16, 1);
  std::int64_t batch = 256;
  for (auto _ : state) {
    batch = batch == 4096 ? 256 : batch * 2;
    benchmark::DoNotOptimize(step_time(cost, data_parallel, 16, batch, {}));
  }
}

void bound(benchmark::State& state, const Model& model, const Layout& layout) {
  const LayoutCost cost = layout_cost(model, recipe(), layout, cluster(), megatron());
  std::int64_t batch = 256;
  for (auto _ : state) {
    batch = batch == 4096 ? 256 : batch * 2;
    benchmark::DoNotOptimize(step_time_lower_bound(cost, 16, batch));
  }
}

void graph(benchmark::State& state, const Model& model, Layout layout) {
  layout.dp = 16;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        step_graph(model, recipe(), layout, 1024, cluster(), megatron(), {}).timeline.length_s);
  }
}

BENCHMARK_CAPTURE(layout_from_scratch, llama_70b_1f1b, reference::llama31_70b(), plain());
BENCHMARK_CAPTURE(layout_from_scratch, llama_70b_interleaved, reference::llama31_70b(), interleaved());
BENCHMARK_CAPTURE(layout_from_scratch, deepseek_v3, reference::deepseek_v3(), experts());
BENCHMARK_CAPTURE(layout_from_blocks, llama_70b_1f1b, reference::llama31_70b(), plain());
BENCHMARK_CAPTURE(layout_from_blocks, llama_70b_interleaved, reference::llama31_70b(), interleaved());
BENCHMARK_CAPTURE(step, llama_70b_1f1b, reference::llama31_70b(), plain());
BENCHMARK_CAPTURE(step, deepseek_v3, reference::deepseek_v3(), experts());
BENCHMARK_CAPTURE(step_with_data_parallel_cost, llama_70b_1f1b, reference::llama31_70b(), plain());
BENCHMARK_CAPTURE(bound, llama_70b_1f1b, reference::llama31_70b(), plain());
BENCHMARK_CAPTURE(graph, llama_70b_interleaved, reference::llama31_70b(), interleaved());

}  // namespace
