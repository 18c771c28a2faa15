#include "inputs/run_framework.hpp"

#include <algorithm>
#include <initializer_list>

#include "inputs/run_spelling.hpp"

namespace trainfront::inputs {

namespace {

using costmodel::Framework;
using costmodel::Recompute;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Megatron-Bridge releases: "container 26.02.01" in the notes of its performance tables; 0 if there is none.
double container_release(const std::string& notes) {
  const std::size_t at = notes.find("container ");
  if (at == std::string::npos || at + 15 > notes.size()) return 0;
  const auto digit = [&](std::size_t i) { return static_cast<double>(notes[at + 10 + i] - '0'); };
  const double release = 10 * digit(0) + digit(1) + (10 * digit(3) + digit(4)) / 100;
  // Within a month the patch release: 26.02.01 lies between 26.02 and 26.03.
  return notes.compare(at + 15, 1, ".") == 0 ? release + 0.005 : release;
}

// A performance config that names no dispatcher takes Megatron-Core's default, NCCL's all-to-all.
bool goes_all_to_all(const RunRow& row) {
  if (row.ep.value_or(1) <= 1 && row.experts.value_or(1) <= 1) return false;
  return contains(row.notes, "dispatcher alltoall") ||
         (contains(row.notes, "perf config") && !contains(row.notes, "dispatcher"));
}

// What CUDA graphs hold. Recipes for MXFP8 from 26.06 on run a step as one, also where no config is named.
std::string graphs(const RunRow& row, double release) {
  if (contains(row.notes, "full_iteration")) return "-full-graphs";
  const std::size_t at = row.notes.find("CUDA graphs");
  if (at == std::string::npos) {
    const bool open = !contains(row.notes, "perf config") && row.experts.value_or(1) > 1;
    return open && release > 26.05 && contains(lower_case(row.precision), "mx") ? "-full-graphs" : "";
  }
  const std::string_view scope = std::string_view(row.notes).substr(at, row.notes.find(';', at) - at);
  return contains(scope, "moe_router") && !contains(scope, "attn") ? "-router-graphs" : "-cuda-graphs";
}

std::string bridge_profile(const RunRow& row) {
  const double release = container_release(row.notes);
  std::string name = release > 0 && release < 26.021 ? "megatron-bridge-2025" : "megatron-bridge-2026";
  if (contains(row.notes, "a2a overlap on")) name += "-ep-overlap";
  name += graphs(row, release);
  if (goes_all_to_all(row)) name += "-all-to-all";
  return name;
}

RunFramework megatron(std::string profile) {
  return {.rules = Framework::kMegatron, .profile = std::move(profile)};
}

RunFramework fully_sharded(std::string profile) {
  return {.rules = Framework::kTorchtitan, .profile = std::move(profile), .default_zero = 3};
}

// Runs that do not say torch.compile are taken to go without: until 2025 it was an option.
RunFramework torchtitan(const RunRow& row) {
  const std::string notes = lower_case(row.notes);
  const std::string precision = lower_case(row.precision);
  const bool row_scaled = contains(precision, "rowwise");
  std::string profile = "torchtitan-2024";
  if (!contains(notes, "compile") && !row_scaled) profile += "-eager";
  if (contains(notes, "asynctp") || contains(notes, "async tp")) profile += "-async-tp";
  if (row_scaled) profile += "-fp8-rowwise";
  RunFramework result = fully_sharded(std::move(profile));
  result.fills_pipeline = true;
  return result;
}

bool has_flash_attention(const RunRow& row, const std::string& name) {
  if (contains(name, "megascale") || contains(name, "intern")) return true;
  const std::string notes = lower_case(row.notes);
  return contains(notes, "flash") && !contains(notes, "no flash") && !contains(notes, "without flash");
}

RunFramework plain_megatron(const RunRow& row, const std::string& name) {
  const double year = row.year.value_or(2026);
  if (contains(name, "core 0.") || contains(name, "mcore")) {
    RunFramework result = megatron("megatron-core-2025");
    result.experts_follow_tp = !contains(name, "folding");
    return result;
  }
  if (year >= 2025) {
    RunFramework result = megatron("megatron-2026");
    result.experts_follow_tp = true;
    result.era_known = row.year.has_value();
    return result;
  }
  // Until 2023 gradients were reduced without the distributed optimizer, and attention was not fused; from
  // then on it was where one asked for it, and in 2024 Transformer Engine, which fuses it, became the
  // default, though not of forks. The kernel that softmaxes written scores takes 16,384 keys at most
  // (Megatron-LM, fused_kernels).
  constexpr double kMostKeysOfUnfused = 16384;
  const bool flash = (year >= 2024 && !contains(name, "fork")) || has_flash_attention(row, name) ||
                     row.sequence_length.value_or(0) > kMostKeysOfUnfused;
  RunFramework result = megatron(year <= 2021 && !flash   ? "megatron-2021"
                                 : year <= 2022 && !flash ? "megatron-2022"
                                 : flash                  ? "megatron-2023-flash"
                                                          : "megatron-2023");
  result.default_zero = year <= 2022 ? 0 : 1;
  result.experts_follow_tp = true;
  result.default_sequence_parallel = year >= 2022;
  return result;
}

}  // namespace

RunFramework read_framework(const RunRow& row) {
  const std::string name = lower_case(row.framework);
  const auto is_any_of = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return contains(name, word); });
  };
  if (contains(name, "dt-fm")) {
    RunFramework result = megatron("dt-fm-2022");
    result.default_zero = 0;
    result.default_recompute = Recompute::kFull;
    return result;
  }
  if (contains(name, "nanotron")) return megatron("nanotron-2025");
  if (is_any_of({"megatron-deepspeed", "neox"})) {
    RunFramework result = megatron("megatron-deepspeed-2023");
    result.default_zero = 0;
    result.default_sequence_parallel = false;
    return result;
  }
  if (contains(name, "bridge")) return megatron(bridge_profile(row));
  if (contains(name, "nemo")) {
    RunFramework result = megatron("nemo-2025");
    result.experts_follow_tp = true;
    return result;
  }
  if (is_any_of({"megatron", "mcore", "megascale", "interne", "internlm", "colossal"}))
    return plain_megatron(row, name);
  if (is_any_of({"foundry", "composer"})) return fully_sharded("llm-foundry-2024");
  if (contains(name, "torchtitan")) return torchtitan(row);
  if (is_any_of({"maxtext", "paxml", "jax", "levanter", "t5x"})) {
    RunFramework result = fully_sharded("maxtext-2025");
    result.default_recompute = Recompute::kFull;  // MaxText's remat_policy
    return result;
  }
  if (contains(name, "deepspeed")) return {.rules = Framework::kDeepspeed, .profile = "deepspeed-2026"};
  if (is_any_of({"fsdp", "olmo", "litgpt", "lit-gpt", "lightning", "prime"}))
    return fully_sharded("torchtitan-2024");
  RunFramework result = megatron("megatron-2026");
  result.known = result.era_known = false;
  return result;
}

}  // namespace trainfront::inputs
