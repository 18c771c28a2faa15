#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/reports/explanation.hpp"
#include "engine/reports/front_table.hpp"
#include "engine/reports/names.hpp"
#include "engine/reports/readable.hpp"
#include "engine/reports/text_table.hpp"
#include "inputs/printable.hpp"

namespace trainfront::engine {
namespace {

constexpr std::size_t kPathRows = 10;
constexpr double kVisible = 0.005;  // of the step: what is less is not told

// Largest first, with shares of the whole; parts that are nothing are left out.
template <typename Readable>
std::string parts_table(std::string_view title, std::vector<Amount> parts, double total, Readable readable) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Amount& a, const Amount& b) { return a.value > b.value; });
  TextTable table{{"", std::string(title), ""}, {}, {false, true, true}};
  for (const Amount& part : parts) {
    if (part.value == 0) continue;
    table.rows.push_back({part.name, readable(part.value), readable_percent(part.value / total)});
  }
  table.rows.push_back({"total", readable(total), ""});
  return table.str() + "\n";
}

std::string host_text(const Explanation& explanation) {
  const search::HostNeed& host = explanation.host;
  const costmodel::Offer& offer = explanation.row.offer;
  const auto of = [](double bytes) {
    return bytes > 0 ? readable_bytes(bytes) : std::string("a size not known");
  };
  std::string text;
  if (host.memory_bytes() > 0) {
    text += fmt::format(
        "A node's host memory ({}) holds {} of checkpoint copies{}.\n", of(offer.host_memory_bytes),
        readable_bytes(host.checkpoint_bytes),
        host.input_bytes > 0 ? " and up to " + readable_bytes(host.input_bytes) + " of stacked input" : "");
  }
  if (host.disk_bytes > 0)
    text += fmt::format("A node's disk ({}) holds {} of checkpoints.\n", of(offer.local_disk_bytes),
                        readable_bytes(host.disk_bytes));
  return text;
}

}  // namespace

std::string explanation_text(const search::Space& space, const Explanation& explanation) {
  const PlanRow& row = explanation.row;
  const search::Outcome& outcome = row.outcome;
  const costmodel::Layout& layout = row.plan.layout;
  std::string text;
  if (!explanation.criterion.empty()) {
    text += fmt::format("{}:\n", explanation.status == "done"
                                     ? explanation.criterion
                                     : "no plan is " + explanation.criterion + "; the nearest is");
  }
  text += plan_text(space, row) + "\n";
  const auto seconds = [](double value) { return fmt::format("{:.4g} s", value); };
  text += parts_table("step", explanation.step_s, outcome.step_time_s, seconds);
  if (!explanation.bottleneck.empty()) text += explanation.bottleneck + ".\n";
  for (const costmodel::Sensitivity& each : explanation.sensitivities) {
    if (each.saved < 0.0005) continue;
    text += fmt::format("10 % more {} would save {} of the step.\n", costmodel::resource_name(each.resource),
                        readable_percent(each.saved));
  }
  if (!explanation.critical_path.empty()) {
    TextTable path{{"stage", "critical path", "time", ""}, {}, {true, false, true, true}};
    for (const costmodel::PathShare& share : explanation.critical_path) {
      if (path.rows.size() == kPathRows) break;
      path.rows.push_back({share.stage == layout.pp ? std::string("all") : fmt::format("{}", share.stage),
                           std::string(costmodel::path_part_name(share.part)), seconds(share.seconds),
                           readable_percent(share.seconds / outcome.step_time_s)});
    }
    text += fmt::format("\n{}\n", path.str());
  }
  const double beyond = explanation.graph_s / outcome.step_time_s - 1;
  if (!explanation.critical_path.empty() && std::abs(beyond) > kVisible) {
    text += fmt::format(
        "The schedule itself, whose critical path this is, takes {} ({:+.1f} %): plans are compared by "
        "a closed form that is only near it for these stages.\n\n",
        seconds(explanation.graph_s), 100 * beyond);
  }
  text += parts_table(fmt::format("memory of stage {}", explanation.memory.worst_stage),
                      explanation.memory_bytes, explanation.memory.parts.total(), readable_bytes);
  text += host_text(explanation);
  text += losses_text(explanation.run, outcome) + "\n";
  if (explanation.refined_mean_s &&
      std::abs(*explanation.refined_mean_s / outcome.spread.mean_s - 1) > kVisible) {
    text += fmt::format(
        "A form that knows of failures in one step and of runs of few cycles gives {} in the mean ({:+.1f} "
        "%{}).\n",
        readable_duration(*explanation.refined_mean_s),
        100 * (*explanation.refined_mean_s / outcome.spread.mean_s - 1),
        explanation.refined_is_rough ? "; too many states for it, so roughly" : "");
  }
  text += fmt::format("MFU {} with half of the attention scores counted, {} with all of them.\n",
                      readable_percent(row.mfu), readable_percent(explanation.mfu_full_attention));
  if (explanation.step_without_host_s < (1 - kVisible) * outcome.step_time_s) {
    text += fmt::format(
        "The host's pace is that of {}; software of another date may differ: from {:.4g} s a step, were the "
        "GPUs never kept waiting, to {:.4g} s.\n",
        explanation.framework_profile, explanation.step_without_host_s, outcome.step_time_s);
  }
  for (const costmodel::PartEvidence& part : explanation.part_evidence) {
    text +=
        fmt::format("{} rests on what is {}.\n", costmodel::path_part_name(part.part), name(part.evidence));
  }
  text += fmt::format(
      "Evidence: step {} (layers and pipeline {}, data parallelism and optimizer {}); price of {}, {}.\n",
      name(outcome.evidence), name(explanation.layers_evidence), name(explanation.replicas_evidence),
      row.offer.as_of.empty() ? "unknown date" : row.offer.as_of,
      row.offer.source.empty() ? "source not stated" : inputs::printable(row.offer.source));
  return text;
}

}  // namespace trainfront::engine
