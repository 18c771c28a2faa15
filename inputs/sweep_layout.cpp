#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/legality.hpp"
#include "faults/spread.hpp"
#include "inputs/suggest.hpp"
#include "inputs/sweep_lists.hpp"
#include "inputs/sweep_sections.hpp"

namespace trainfront::inputs {
namespace {

// By the enumerators of costmodel/layout.hpp.
const std::vector<std::string> kFrameworks{"megatron", "torchtitan", "deepspeed"};
const std::vector<std::string> kRecomputes{"none", "selective", "full"};
const std::vector<std::string> kContextTypes{"ring", "all_gather", "all_to_all", "all_to_all_ring"};
const std::vector<std::string> kSchedules{"gpipe", "1f1b", "interleaved", "zero_bubble"};

constexpr int kMaxDegree = 1 << 20;
constexpr std::size_t kMaxDegrees = 1024;

template <typename Enum>
std::vector<Enum> as_enums(const std::vector<std::size_t>& places) {
  std::vector<Enum> values;
  for (const std::size_t place : places) values.push_back(static_cast<Enum>(place));
  return values;
}

// A schedule that no framework of the sweep launches makes illegal plans only, which their counts would say
// too late.
void check_schedules(Section& section, const search::LayoutChoices& layout, std::vector<std::string>& notes) {
  const auto is_launched = [&](costmodel::Schedule schedule) {
    return std::any_of(layout.framework.begin(), layout.framework.end(), [&](costmodel::Framework framework) {
      return costmodel::offers_schedule(framework, schedule);
    });
  };
  std::vector<std::string> launched, listed, idle;
  for (std::size_t at = 0; at < kSchedules.size(); ++at)
    if (is_launched(static_cast<costmodel::Schedule>(at))) launched.push_back(kSchedules[at]);
  for (const costmodel::Schedule schedule : layout.schedule)
    (is_launched(schedule) ? listed : idle).push_back(kSchedules[static_cast<std::size_t>(schedule)]);
  if (idle.empty()) return;
  std::vector<std::string> names;
  for (const costmodel::Framework framework : layout.framework)
    names.push_back(kFrameworks[static_cast<std::size_t>(framework)]);
  if (listed.empty()) {
    section.fault("schedule", fmt::format("{} does not launch {}", join(names), join(idle)), join(launched));
  } else {
    notes.push_back(fmt::format("layout.schedule: {} does not launch {}; such plans count as illegal",
                                join(names), join(idle)));
  }
}

// The same for kinds of context parallelism.
void check_context_types(Section& section, const search::LayoutChoices& layout) {
  if (!layout.cp_type || layout.cp_type->empty()) return;
  std::vector<std::string> offered;
  bool some = false;
  for (std::size_t at = 0; at < kContextTypes.size(); ++at) {
    const auto type = static_cast<costmodel::ContextExchange>(at);
    const auto offers = [&](costmodel::Framework framework) {
      return costmodel::offers_exchange(framework, type);
    };
    if (!std::any_of(layout.framework.begin(), layout.framework.end(), offers)) continue;
    offered.push_back(kContextTypes[at]);
    some = some || std::find(layout.cp_type->begin(), layout.cp_type->end(), type) != layout.cp_type->end();
  }
  if (!some) section.fault("cp_type", "no framework of the sweep offers that", join(offered));
}

// Sets of modules, their names joined by "+".
std::optional<std::vector<costmodel::RecomputeModules>> read_modules(Section& section,
                                                                     const search::LayoutChoices& layout) {
  const auto texts = section.texts("recompute_modules");
  if (!texts) return std::nullopt;
  std::vector<std::string> known;
  for (int module = 0; module < costmodel::kRecomputeModules; ++module)
    known.emplace_back(costmodel::module_name(static_cast<costmodel::RecomputeModule>(module)));
  std::vector<costmodel::RecomputeModules> sets;
  if (texts->empty()) section.fault("recompute_modules", "must hold at least one value", join(known));
  for (const std::string& text : *texts) {
    costmodel::RecomputeModules modules;
    if (text == "auto" && texts->size() == 1) break;
    if (costmodel::read_modules(text, modules)) {
      sets.push_back(modules);
    } else {
      section.fault("recompute_modules", fmt::format("{} found", in_quotes(text)),
                    fmt::format("{}, or several joined by \"+\"", join(known)));
    }
  }
  const auto lacks = [](const auto& list, auto value) {
    return std::find(list.begin(), list.end(), value) == list.end();
  };
  if (lacks(layout.framework, costmodel::Framework::kMegatron))
    section.fault("recompute_modules", "goes with framework \"megatron\" alone");
  if (!layout.recompute.empty() && lacks(layout.recompute, costmodel::Recompute::kSelective))
    section.fault("recompute_modules", "goes with recompute \"selective\", which is not among recompute");
  return sets;
}

}  // namespace

search::LayoutChoices read_layout_section(Section& section, std::vector<std::string>& notes) {
  const auto degrees = [&](std::string_view key, int min, int max) {
    const auto values = read_integers(
        section, key, {.min = min, .max = max, .limit = kMaxDegrees, .can_be_auto = true}, notes);
    std::vector<int> ints;
    for (const std::int64_t value : values) ints.push_back(static_cast<int>(value));
    return ints;
  };
  search::LayoutChoices layout;
  const Value* framework = section.find("framework");
  const auto frameworks = read_names(section, "framework", kFrameworks, true, notes);
  if (framework == nullptr) {
    notes.push_back("layout.framework: not given, so \"megatron\"; \"auto\" compares all");
  } else if (frameworks.empty()) {
    layout.framework = as_enums<costmodel::Framework>({0, 1, 2});
  } else {
    layout.framework = as_enums<costmodel::Framework>(frameworks);
  }
  layout.tp = degrees("tp", 1, kMaxDegree);
  layout.sp = read_booleans(section, "sp", notes);
  layout.cp = degrees("cp", 1, kMaxDegree);
  if (section.find("cp_type") != nullptr) {
    layout.cp_type =
        as_enums<costmodel::ContextExchange>(read_names(section, "cp_type", kContextTypes, true, notes));
  }
  check_context_types(section, layout);
  layout.pp = degrees("pp", 1, kMaxDegree);
  layout.vpp = degrees("vpp", 1, kMaxDegree);
  layout.ep = degrees("ep", 1, kMaxDegree);
  layout.etp = degrees("etp", 1, kMaxDegree);
  layout.zero = degrees("zero", 0, 3);
  layout.shard_group = degrees("shard_group", 0, kMaxDegree);
  layout.micro_batch = degrees("micro_batch", 1, kMaxDegree);
  layout.recompute =
      as_enums<costmodel::Recompute>(read_names(section, "recompute", kRecomputes, true, notes));
  layout.recompute_modules = read_modules(section, layout);
  layout.schedule = as_enums<costmodel::Schedule>(read_names(section, "schedule", kSchedules, true, notes));
  check_schedules(section, layout, notes);
  // Not a choice of its own, and an unknown key here would draw a wrong suggestion.
  if (const Value* dp = section.table().find("dp")) {
    section.find("dp");
    section.fault(*dp, section.path("dp"), "is no key: dp follows from the GPUs, gpus / (tp cp pp)");
  }
  return layout;
}

ClusterSection read_cluster_section(Section& section, const Catalog& catalog,
                                    std::vector<std::string>& notes) {
  constexpr std::int64_t kMaxGpus = 10'000'000;
  ClusterSection cluster;
  if (const auto names = section.texts("devices")) {
    const std::vector<std::string> known = catalog.device_ids();
    for (const std::string& name : *names) {
      const DeviceEntry* entry = catalog.find_device(name);
      if (entry != nullptr) {
        cluster.devices.push_back(entry->device.id);
        continue;
      }
      if (const DeviceEntry* unmodelled = catalog.find_unmodelled(name)) {
        section.fault("devices",
                      fmt::format("{} cannot be planned with: {}", in_quotes(name), unmodelled->not_modelled),
                      join(known));
        continue;
      }
      const DeviceEntry* meant = catalog.resolve_device(name);
      section.fault("devices", fmt::format("unknown device {}", in_quotes(name)), join(known),
                    meant != nullptr ? meant->device.id : nearest(name, known));
    }
    if (names->empty())
      section.fault("devices", "is an empty list; leave the key out for all devices", join(known));
  }
  section.require("gpus");
  cluster.gpus = read_integers(section, "gpus", {.min = 1, .max = kMaxGpus, .limit = 100'000}, notes);
  return cluster;
}

std::vector<costmodel::Islands> read_islands_section(Section& section, std::vector<std::string>& notes) {
  constexpr std::size_t kMaxChoices = 100;
  costmodel::Islands link;
  const bool present = !section.table().members.empty();
  std::vector<std::int64_t> counts =
      read_integers(section, "count", {.min = 1, .max = 4096, .limit = kMaxChoices}, notes);
  std::vector<std::int64_t> steps =
      read_integers(section, "inner_steps", {.min = 1, .max = 1'000'000, .limit = kMaxChoices}, notes);
  const auto gbps = section.number("wan_gbps", {0, 1e6, true});
  const auto rtt = section.duration_s("rtt", {0, 3600, false});
  link.sync_bits = static_cast<int>(section.integer("sync_bits", 1, 64).value_or(link.sync_bits));
  if (!present) return {{}};

  const bool several = !counts.empty() && counts.back() > 1;
  section.require("count");
  for (const char* key : {"inner_steps", "wan_gbps", "rtt"})
    if (several) section.require(key);
  link.wan_bytes_per_s = gbps.value_or(0) * 1e9 / 8;
  link.rtt_s = rtt.value_or(0);
  std::vector<costmodel::Islands> choices;
  for (const std::int64_t count : counts) {
    if (count == 1) {
      choices.push_back({});
      continue;
    }
    for (const std::int64_t inner : steps) {
      link.count = static_cast<int>(count);
      link.inner_steps = static_cast<int>(inner);
      choices.push_back(link);
    }
  }
  if (choices.empty()) choices.push_back({});
  return choices;
}

search::Goal read_goal_section(Section& section) {
  search::Goal goal;
  goal.deadline_s = section.duration_s("deadline", {0, 1e11, true});  // some 3000 years
  goal.budget_usd = section.money_usd("budget", {0, 1e15, true});
  goal.probability =
      section.number("probability", {faults::kLeastProbability, faults::kMostProbability, false});
  return goal;
}

}  // namespace trainfront::inputs
