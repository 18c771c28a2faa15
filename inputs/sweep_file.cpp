#include "inputs/sweep_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "inputs/suggest.hpp"
#include "inputs/sweep_sections.hpp"

namespace trainfront::inputs {
namespace {

// A section that is absent reads like an empty one.
Section section_or_empty(Section& root, std::string_view key, const Value& empty) {
  if (auto section = root.section(key)) return *section;
  return Section(root.document(), empty, std::string(key), root.faults());
}

// An offer that cannot hold even the smallest GPU count yields no plan, which its owner should know.
void note_small_offers(const search::Problem& problem, std::vector<std::string>& notes) {
  for (const search::HardwareClass& entry : problem.hardware)
    for (const costmodel::Offer& offer : entry.offers) {
      const std::int64_t needed = costmodel::nodes_for(problem.gpus.front(), entry.hardware.gpus_per_node);
      if (offer.max_nodes > 0 && offer.max_nodes < needed)
        notes.push_back(fmt::format("market: {} {} {} has {} node{}; the smallest GPU count needs {}",
                                    offer.provider, offer.region, offer.instance, offer.max_nodes,
                                    offer.max_nodes == 1 ? "" : "s", needed));
    }
}

// What a sweep would check, did it know how large the nodes are.
void note_unknown_hosts(const search::Problem& problem, std::vector<std::string>& notes) {
  const auto any = [&](auto wants) {
    return std::any_of(problem.protections.begin(), problem.protections.end(), wants);
  };
  const bool on_disk =
      any([](const faults::Protection& one) { return one.tier == faults::CheckpointTier::kLocal; });
  const bool in_memory =
      any([](const faults::Protection& one) { return one.r > 1 || one.scheme != faults::Scheme::kNone; });
  std::vector<std::string> nodes;
  std::vector<std::string> disks;
  for (const search::HardwareClass& entry : problem.hardware)
    for (const costmodel::Offer& offer : entry.offers) {
      const std::string name = offer.provider + " " + offer.instance;
      const auto add = [&](std::vector<std::string>& names) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      };
      if (in_memory && !(offer.host_memory_bytes > 0)) add(nodes);
      if (on_disk && !(offer.local_disk_bytes > 0)) add(disks);
    }
  if (!nodes.empty())
    notes.push_back(fmt::format(
        "market: the host memory of {} is not known (host_memory), so whether copies of checkpoints and "
        "stacked input fit there is not checked",
        join(nodes)));
  if (!disks.empty())
    notes.push_back(fmt::format(
        "market: the disk of {} is not known (nvme), so whether local checkpoints fit there is not checked",
        join(disks)));
}

// What only shows when all sections are known.
void check_together(const search::Problem& problem, Section& root, std::vector<std::string>& notes) {
  if (problem.recipe.precision == costmodel::Precision::kFp8) {
    std::vector<std::string> without;
    for (const search::HardwareClass& entry : problem.hardware) {
      const costmodel::Device& device = entry.hardware.device;
      if (device.fp8_flops_per_s <= 0 &&
          std::find(without.begin(), without.end(), device.id) == without.end())
        without.push_back(device.id);
    }
    const bool all = std::all_of(problem.hardware.begin(), problem.hardware.end(), [](const auto& entry) {
      return entry.hardware.device.fp8_flops_per_s <= 0;
    });
    if (all && !problem.hardware.empty()) {
      root.fault("recipe", "precision = \"fp8\", but no device of this sweep has fp8 units", "bf16");
    } else if (!without.empty()) {
      notes.push_back(
          fmt::format("recipe.precision: {} has no fp8 units; its plans count as illegal", without.front()));
    }
  }
  if (problem.model.learned_positions > 0 && problem.recipe.sequence_length > problem.model.learned_positions)
    root.fault("recipe", fmt::format("sequence_length {} is longer than the model's table of {} positions",
                                     problem.recipe.sequence_length, problem.model.learned_positions));
  if (problem.hardware.empty() || problem.gpus.empty()) return;
  note_small_offers(problem, notes);
  note_unknown_hosts(problem, notes);

  std::int64_t uneven = 0;
  int gpus_per_node = 0;
  for (const search::HardwareClass& entry : problem.hardware)
    for (const std::int64_t gpus : problem.gpus)
      if (gpus % entry.hardware.gpus_per_node != 0) {
        uneven = gpus;
        gpus_per_node = entry.hardware.gpus_per_node;
      }
  if (uneven > 0)
    notes.push_back(
        fmt::format("cluster.gpus: whole nodes are billed: {} GPUs on nodes of {} pay for {} node{}", uneven,
                    gpus_per_node, costmodel::nodes_for(uneven, gpus_per_node),
                    costmodel::nodes_for(uneven, gpus_per_node) == 1 ? "" : "s"));
}

}  // namespace

SweepFile parse_sweep_file(std::string_view text, const std::string& file,
                           const std::filesystem::path& folder, const Catalog& builtin) {
  Diagnostics faults;
  const Document document = parse_toml(text, file, faults);
  const Value empty = [] {
    Value table;
    table.kind = Value::Kind::kTable;
    return table;
  }();
  if (document.damaged && document.root.members.empty()) faults.throw_if_any();
  if (document.root.members.empty()) {
    faults.add({file, {}, "", "the file is empty", "", "the sections [model], [recipe], [cluster], ...", ""});
    faults.throw_if_any();
  }

  SweepFile sweep;
  search::Problem& problem = sweep.problem;
  std::vector<std::string>& notes = sweep.notes;
  Section root(document, document.root, "", faults);
  Section model = section_or_empty(root, "model", empty);
  Section recipe = section_or_empty(root, "recipe", empty);
  Section layout = section_or_empty(root, "layout", empty);
  Section cluster = section_or_empty(root, "cluster", empty);
  Section market = section_or_empty(root, "market", empty);
  Section failures = section_or_empty(root, "failures", empty);
  Section islands = section_or_empty(root, "islands", empty);
  Section goal = section_or_empty(root, "goal", empty);

  const Catalog catalog = read_catalogs(market, builtin, folder, notes);
  const std::vector<std::string> catalog_notes = notes;
  const HfConfig shape = read_model_section(model, catalog, folder, notes);
  problem.model = shape.model;
  RecipeSection read = read_recipe_section(recipe, notes);
  problem.recipe = read.recipe;
  if (shape.max_positions > 0 && problem.recipe.sequence_length > shape.max_positions)
    notes.push_back(fmt::format(
        "recipe.sequence_length: {} is longer than the {} positions (max_position_embeddings) that {} is "
        "made for",
        problem.recipe.sequence_length, shape.max_positions, shape.model.name));
  problem.global_batches = std::move(read.global_batches);
  problem.layout = read_layout_section(layout, notes);
  const ClusterSection wanted = read_cluster_section(cluster, catalog, notes);
  problem.gpus = wanted.gpus;
  problem.hardware = read_market_section(market, catalog, wanted, catalog_notes, notes);
  problem.failures = read_failures_section(failures, catalog, problem.hardware, notes);
  problem.protections = read_protections(failures, notes);
  problem.islands = read_islands_section(islands, notes);
  problem.goal = read_goal_section(goal);
  check_together(problem, root, notes);
  for (Section* section : {&root, &model, &recipe, &layout, &cluster, &market, &failures, &islands, &goal})
    section->finish();
  faults.throw_if_any();
  return sweep;
}

SweepFile read_sweep_file(const std::filesystem::path& path) {
  Diagnostics faults;
  const auto text = read_text(path, faults);
  faults.throw_if_any();
  std::vector<std::string> builtin_notes;
  const Catalog builtin = builtin_catalog(&builtin_notes);
  return parse_sweep_file(*text, path.string(), path.parent_path(), builtin);
}

}  // namespace trainfront::inputs
