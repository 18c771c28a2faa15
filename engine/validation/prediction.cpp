#include "engine/validation/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "costmodel/flops.hpp"
#include "costmodel/framework_profile.hpp"
#include "costmodel/memory.hpp"
#include "costmodel/step_time.hpp"
#include "inputs/run_setup.hpp"

namespace trainfront::engine {

namespace {

using inputs::FlopCount;
using inputs::RunQuantity;
using inputs::RunSetup;

constexpr double kGib = 1073741824.0;

double printed_flops_per_token(const RunSetup& setup) {
  using costmodel::AttentionCount;
  const auto flops = [&](AttentionCount count) {
    return costmodel::training_flops_per_token(setup.model, setup.recipe.sequence_length, count);
  };
  switch (setup.flops.count) {
    case FlopCount::kCausal:
      return flops(AttentionCount::kCausal).total();
    case FlopCount::kHardware:
      return costmodel::recomputed_flops_per_token(flops(AttentionCount::kFull));
    case FlopCount::kFull:
      break;
  }
  return flops(AttentionCount::kFull).total();
}

// Tokens per second and GPU that make one unit of the quantity; a step's time is their reciprocal.
double units_per_speed(const RunSetup& setup) {
  const double peak = setup.flops.peak_flops_per_s > 0 ? setup.flops.peak_flops_per_s
                                                       : setup.hardware.device.bf16_flops_per_s;
  switch (setup.quantity) {
    case RunQuantity::kTflopsPerGpu:
      return printed_flops_per_token(setup) / 1e12;
    case RunQuantity::kMfuPercent:
      return 100 * printed_flops_per_token(setup) / peak;
    case RunQuantity::kStepTime:
    case RunQuantity::kTokensPerSecondPerGpu:
      break;
  }
  return 1;
}

const costmodel::FrameworkProfile& profile_of(const RunSetup& setup, Predictions& into) {
  if (const costmodel::FrameworkProfile* profile = costmodel::find_profile(setup.framework_profile))
    return *profile;
  const costmodel::FrameworkProfile& fallback = costmodel::default_profile(setup.layout.framework);
  ++into.unknown_profiles[setup.framework_profile + ", " + fallback.name + " in its place"];
  return fallback;
}

// Nanotron's profile is fitted to the bytes that runs print, and has no more overhead than they have.
bool has_own_memory_profile(const RunSetup& setup) {
  return setup.framework_profile.starts_with("nanotron");
}

// Software that writes scores to memory keeps them, and was run with dropout.
costmodel::MemoryProfile memory_profile(const RunSetup& setup, const costmodel::FrameworkProfile& framework) {
  if (has_own_memory_profile(setup)) return costmodel::nanotron_memory_profile();
  const auto is_any_of = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return framework.name.starts_with(name); });
  };
  costmodel::MemoryProfile profile = costmodel::default_memory_profile(setup.layout.framework);
  if (is_any_of({"nemo", "megatron-bridge"})) profile = costmodel::nvidia_recipe_memory_profile();
  if (is_any_of({"llm-foundry", "maxtext"})) profile = costmodel::fused_loss_fsdp_memory_profile();
  profile.flash_attention = framework.fused_attention;
  profile.dropout = !framework.fused_attention;
  return profile;
}

costmodel::MemoryParts peak_memory_parts(const RunSetup& setup,
                                         const costmodel::FrameworkProfile& framework) {
  const costmodel::MemoryProfile profile = memory_profile(setup, framework);
  const costmodel::LayoutMemory memory =
      costmodel::layout_memory(setup.model, setup.recipe, setup.layout, profile);
  return costmodel::peak_memory(memory, setup.layout.dp, setup.global_batch).parts;
}

// A run that does not say what it recomputed or offloaded lies between keeping all and recomputing all.
costmodel::Fit fit_of(const RunSetup& setup, const costmodel::FrameworkProfile& framework,
                      const costmodel::MemoryParts& memory) {
  using costmodel::Fit;
  const costmodel::Device& device = setup.hardware.device;
  const Fit fit = costmodel::memory_fit(memory.total(), device);
  if (fit != Fit::kDoesNotFit || !setup.memory_open) return fit;
  RunSetup recomputing = setup;
  recomputing.layout.recompute = costmodel::Recompute::kFull;
  const double least = peak_memory_parts(recomputing, framework).total();
  return costmodel::memory_fit(least, device) == Fit::kDoesNotFit ? Fit::kDoesNotFit : Fit::kBorderline;
}

// As frameworks print it: without what the CUDA context and NCCL take beside the allocator.
double printed_memory_gib(const RunSetup& setup, const costmodel::MemoryParts& memory) {
  return (memory.total() - (has_own_memory_profile(setup) ? 0.0 : memory.overhead)) / kGib;
}

FailedRun failed_run(const inputs::RunRow& row, const RunSetup& setup,
                     const costmodel::FrameworkProfile& framework) {
  const costmodel::MemoryParts memory = peak_memory_parts(setup, framework);
  return {.id = row.id,
          .source = row.source,
          .model = row.model_name,
          .split = row.split,
          .framework_profile = framework.name,
          .gpus = setup.gpus,
          .predicted_memory_gib = printed_memory_gib(setup, memory),
          .fit = costmodel::memory_fit(memory.total(), setup.hardware.device),
          .assumed = setup.assumed};
}

double step_seconds(const RunSetup& setup, const costmodel::FrameworkProfile& framework) {
  const costmodel::LayoutCost cost =
      costmodel::layout_cost(setup.model, setup.recipe, setup.layout, setup.hardware, framework);
  return costmodel::step_time(cost, setup.layout.dp, setup.global_batch, {}).with_stacks(1);
}

// The prediction, or nothing if the model gives no finite time.
std::optional<RunPrediction> predict(const inputs::RunRow& row, const RunSetup& setup,
                                     const costmodel::FrameworkProfile& framework) {
  const costmodel::LayoutCost cost =
      costmodel::layout_cost(setup.model, setup.recipe, setup.layout, setup.hardware, framework);
  const costmodel::StepTime step = costmodel::step_time(cost, setup.layout.dp, setup.global_batch, {});
  const double step_s = step.with_stacks(1);
  if (!std::isfinite(step_s) || !(step_s > 0)) return std::nullopt;

  RunPrediction run;
  run.id = row.id;
  run.source = row.source;
  run.model = row.model_name;
  run.quality = row.quality;
  run.split = row.split;
  run.framework_profile = framework.name;
  run.quantity = quantity_name(setup.quantity);
  run.measured = setup.measured;
  run.gpus = setup.gpus;
  run.sequence_length = setup.recipe.sequence_length;
  run.micro_batches = static_cast<int>(costmodel::micro_batches(setup.layout, setup.global_batch));
  run.evidence = step.evidence;
  run.is_moe = setup.model.is_moe();
  run.assumed = setup.assumed;
  run.measured_memory_gib = setup.memory_gib;
  const costmodel::MemoryParts memory = peak_memory_parts(setup, framework);
  run.predicted_memory_gib = printed_memory_gib(setup, memory);
  run.fit = fit_of(setup, framework, memory);

  const double tokens_per_gpu = static_cast<double>(setup.global_batch) * setup.recipe.sequence_length /
                                static_cast<double>(setup.gpus);
  run.predicted_tokens_per_s_per_gpu = tokens_per_gpu / step_s;
  run.era_known = setup.era_known;
  const double without_host_s = step_seconds(setup, costmodel::without_host_floor(framework));
  if (setup.quantity == RunQuantity::kStepTime) {
    run.predicted = step_s;
    run.predicted_without_host = without_host_s;
    run.measured_tokens_per_s_per_gpu = tokens_per_gpu / setup.measured;
  } else {
    run.predicted = run.predicted_tokens_per_s_per_gpu * units_per_speed(setup);
    run.predicted_without_host = tokens_per_gpu / without_host_s * units_per_speed(setup);
    run.measured_tokens_per_s_per_gpu = setup.measured / units_per_speed(setup);
  }
  const auto utilization = [&](costmodel::AttentionCount count) {
    const costmodel::TokenFlops flops =
        costmodel::training_flops_per_token(setup.model, setup.recipe.sequence_length, count);
    return costmodel::model_flops_utilization(
        flops.total(), run.predicted_tokens_per_s_per_gpu,
        costmodel::dense_peak_flops_per_s(setup.hardware.device, setup.recipe.precision));
  };
  run.mfu = utilization(costmodel::AttentionCount::kCausal);
  run.mfu_full_attention = utilization(costmodel::AttentionCount::kFull);
  return run;
}

}  // namespace

void Predictions::merge(Predictions other) {
  rows += other.rows;
  rows_of_quality += other.rows_of_quality;
  predicted_of_quality += other.predicted_of_quality;
  runs.insert(runs.end(), std::make_move_iterator(other.runs.begin()),
              std::make_move_iterator(other.runs.end()));
  failed.insert(failed.end(), std::make_move_iterator(other.failed.begin()),
                std::make_move_iterator(other.failed.end()));
  for (const auto& [reason, count] : other.not_modelled) not_modelled[reason] += count;
  for (const auto& [profile, count] : other.unknown_profiles) unknown_profiles[profile] += count;
}

Predictions predict_runs(const inputs::RunTable& table, const inputs::Catalog& catalog) {
  Predictions predictions;
  for (const inputs::RunRow& row : table.rows) {
    ++predictions.rows;
    const bool counts = row.quality.empty() || row.quality == "A" || row.quality == "B";
    const inputs::RunReading reading = inputs::read_setup(row, catalog);
    if (reading.setup && reading.setup->failed) {
      predictions.failed.push_back(failed_run(row, *reading.setup, profile_of(*reading.setup, predictions)));
      continue;
    }
    if (counts) ++predictions.rows_of_quality;
    if (!reading.setup) {
      ++predictions.not_modelled[reading.reason];
      continue;
    }
    const costmodel::FrameworkProfile& framework = profile_of(*reading.setup, predictions);
    std::optional<RunPrediction> run = predict(row, *reading.setup, framework);
    if (!run) {
      ++predictions.not_modelled["the model gives no finite step time"];
      continue;
    }
    if (counts) ++predictions.predicted_of_quality;
    predictions.runs.push_back(std::move(*run));
  }
  return predictions;
}

}  // namespace trainfront::engine
