#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "inputs/sweep_sections.hpp"

namespace trainfront::inputs {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Keys of [failures] that fall back on the catalogue's recovery figures, and what they fill.
struct RecoveryKey {
  std::string_view key;     // in the sweep file
  std::string_view figure;  // in the catalogue
  enum class Unit { kDuration, kRate, kShare } unit;
  double search::FailureModel::*member;
  std::string_view read_with = {};  // of no interest unless this key is there
};
constexpr RecoveryKey kRecoveryKeys[] = {
    {"detect", "detect", RecoveryKey::Unit::kDuration, &search::FailureModel::detect_s},
    {"replace", "replace", RecoveryKey::Unit::kDuration, &search::FailureModel::replace_s},
    {"restart", "start_fixed", RecoveryKey::Unit::kDuration, &search::FailureModel::start_fixed_s},
    {"restart_per_node", "start_per_node", RecoveryKey::Unit::kDuration,
     &search::FailureModel::start_per_node_s},
    {"storage_bandwidth", "storage_bandwidth", RecoveryKey::Unit::kRate,
     &search::FailureModel::storage_bytes_per_s},
    {"node_storage_bandwidth", "node_storage_bandwidth", RecoveryKey::Unit::kRate,
     &search::FailureModel::node_storage_bytes_per_s},
    {"checkpoint_block", "checkpoint_block_fixed", RecoveryKey::Unit::kDuration,
     &search::FailureModel::blocking_fixed_s},
    {"checkpoint_block_share", "checkpoint_block_share", RecoveryKey::Unit::kShare,
     &search::FailureModel::blocking_share},
    {"node_loss_share", "node_loss_share", RecoveryKey::Unit::kShare, &search::FailureModel::node_loss_share,
     "checkpoint_tier"},
    {"controller", "controller", RecoveryKey::Unit::kDuration, &search::FailureModel::controller_s},
    {"shrink", "shrink", RecoveryKey::Unit::kDuration, &search::FailureModel::shrink_s},
};

std::string shown(const RecoveryKey& key, double value) {
  if (key.unit == RecoveryKey::Unit::kDuration) return fmt::format("{} {:g} s", key.key, value);
  if (key.unit == RecoveryKey::Unit::kRate) return fmt::format("{} {:g} GB/s", key.key, value / 1e9);
  return fmt::format("{} {:g}", key.key, value);
}

// A quick tier of checkpoints: a node's way to it, and the share of a write that stops the training, by
// default that of the shared file system's.
void read_tier(Section& section, const Catalog& catalog, const std::string& name, double blocking_share,
               search::QuickTier& tier, std::string& taken) {
  const std::string bandwidth = name + "_bandwidth";
  if (const auto rate = section.rate_bytes_per_s(bandwidth)) {
    tier.node_bytes_per_s = *rate;
  } else if (const RecoveryFigure* figure = catalog.find_recovery(bandwidth)) {
    tier.node_bytes_per_s = figure->base;
    if (section.table().find("checkpoint_tier") != nullptr && section.table().find(bandwidth) == nullptr)
      taken += fmt::format("{}{} {:g} GB/s", taken.empty() ? "" : ", ", bandwidth, figure->base / 1e9);
  }
  tier.blocking_share = section.number(name + "_block_share", {0, 1, false}).value_or(blocking_share);
}

void read_recovery(Section& section, const Catalog& catalog, search::FailureModel& failures,
                   std::vector<std::string>& notes) {
  static const std::vector<std::string> kCheckpoints{"sync", "async"};
  // A synchronous checkpoint stops the training for all of its write.
  const auto checkpoint = section.choice("checkpoint", kCheckpoints);
  const bool synchronous = checkpoint == std::size_t{0};
  std::string taken;
  for (const RecoveryKey& key : kRecoveryKeys) {
    std::optional<double> value;
    if (key.unit == RecoveryKey::Unit::kDuration) value = section.duration_s(key.key, {0, 1e9, false});
    if (key.unit == RecoveryKey::Unit::kRate) value = section.rate_bytes_per_s(key.key);
    if (key.unit == RecoveryKey::Unit::kShare) value = section.number(key.key, {0, 1, false});
    double& member = failures.*key.member;
    if (value) {
      member = *value;
    } else if (synchronous && key.key.starts_with("checkpoint_block")) {
      member = key.unit == RecoveryKey::Unit::kShare ? 1 : 0;
    } else if (const RecoveryFigure* figure = catalog.find_recovery(key.figure)) {
      member = figure->base;
      const bool matters = key.read_with.empty() || section.table().find(key.read_with) != nullptr;
      if (matters && section.table().find(key.key) == nullptr)
        taken += (taken.empty() ? "" : ", ") + shown(key, member);
    }
  }
  read_tier(section, catalog, "local", failures.blocking_share, failures.local, taken);
  read_tier(section, catalog, "peer", failures.blocking_share, failures.peer, taken);
  // Back as soon as it would be after a restart, but for the process groups.
  failures.repair_s = section.duration_s("repair", {0, 1e9, false})
                          .value_or(failures.detect_s + failures.replace_s + failures.start_fixed_s);
  if (!taken.empty()) notes.push_back("failures: not given, so taken from the catalogue: " + taken);
}

void read_law(Section& section, search::FailureModel& failures, std::vector<std::string>& notes) {
  static const std::vector<std::string> kLaws{"exponential", "weibull"};
  static const std::vector<std::string> kRates{"falling", "constant"};
  const bool weibull = section.choice("law", kLaws) == std::size_t{1};
  const Value* shape_value = section.find("weibull_shape");
  const auto shape =
      section.number("weibull_shape", {faults::kLeastWeibullShape, faults::kMostWeibullShape, false});
  if (weibull && shape_value == nullptr)
    section.fault("weibull_shape", "is missing; law = \"weibull\" needs it", "a number from 0.5 to 2");
  if (!weibull && shape_value != nullptr)
    section.fault(*shape_value, section.path("weibull_shape"), "needs law = \"weibull\"");
  if (weibull && shape) failures.law.weibull_shape = *shape;
  failures.law.rate_falls = section.choice("rate", kRates) != std::size_t{1};
  if (const auto counted = section.boolean("failures_in_restart"))
    failures.law.failures_in_restart = *counted;
  if (weibull && shape && *shape > 1)
    notes.push_back(
        "failures.weibull_shape: above 1 nodes fail more as they age; measured shapes lie below 1");
}

}  // namespace

search::FailureModel read_failures_section(Section& section, const Catalog& catalog,
                                           std::vector<search::HardwareClass>& hardware,
                                           std::vector<std::string>& notes) {
  search::FailureModel failures;
  const Value* given = section.find("node_mtbf");
  const bool never = given != nullptr && given->kind == Value::Kind::kText && given->text == "never";
  if (given != nullptr) {
    failures.node_mtbf_s = never ? kNever : section.duration_s("node_mtbf", {1, 1e15, false}).value_or(1);
    failures.node_mtbf_source = "failures.node_mtbf";
  } else {
    failures.node_mtbf_s = kNever;
    std::string taken;
    for (search::HardwareClass& entry : hardware) {
      const costmodel::Hardware& node = entry.hardware;
      const FailureRate* rate = catalog.find_failures(node.device.id);
      if (rate == nullptr) {
        section.fault("node_mtbf",
                      fmt::format("is missing, and the catalogue has no failure rate of {}", node.device.id));
        continue;
      }
      entry.node_mtbf_s = node_mtbf_s(rate->base, node.gpus_per_node);
      // The worst of the kinds stands for all where one figure is asked for.
      if (entry.node_mtbf_s < failures.node_mtbf_s) {
        failures.node_mtbf_s = entry.node_mtbf_s;
        failures.node_mtbf_source = rate->origin.source;
      }
      const std::string text =
          fmt::format("{} x {} {:.0f} h", node.gpus_per_node, node.device.id, entry.node_mtbf_s / 3600);
      if (taken.find(text) == std::string::npos) taken += (taken.empty() ? "" : ", ") + text;
    }
    if (!taken.empty())
      notes.push_back("failures.node_mtbf: not given, so taken from the catalogue: " + taken);
  }
  read_law(section, failures, notes);
  read_recovery(section, catalog, failures, notes);
  return failures;
}

}  // namespace trainfront::inputs
