#include "engine/commands/profile_fit_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "costmodel/fit_collective.hpp"
#include "costmodel/fit_link_pool.hpp"
#include "costmodel/fit_network.hpp"
#include "costmodel/fit_other_sources.hpp"
#include "engine/commands/profile_provenance.hpp"
#include "inputs/measured_fabric.hpp"
#include "inputs/profile_fields.hpp"

namespace trainfront::engine {
namespace {

using costmodel::Collective;
using costmodel::CollectiveSample;
using costmodel::DeviceProfile;
using costmodel::FitScore;
using costmodel::Samples;

using inputs::kCollectiveNames;

std::vector<CollectiveSample> within_domain(const Samples& samples, std::optional<Collective> collective) {
  std::vector<CollectiveSample> within;
  for (const CollectiveSample& sample : samples.collective) {
    if (sample.collective == collective && sample.placement.domains <= 1) within.push_back(sample);
  }
  return within;
}

// What was measured on one fabric; latency_scale is 0 where too little was.
costmodel::NetworkFit fit_fabric(const std::vector<CollectiveSample>& on_fabric, const Samples& samples,
                                 const std::string& fabric, const std::vector<costmodel::Network>& networks,
                                 ProfileFit& result) {
  if (on_fabric.size() < costmodel::kLeastNetworkSamples) {
    too_few(fabric, on_fabric.size(), result.notes);
    return {};
  }
  costmodel::Hardware hardware;
  hardware.device = result.device;
  hardware.network.kind = inputs::network_kind_of_fabric(fabric);
  for (const costmodel::Network& network : networks) {
    if (network.kind == hardware.network.kind) hardware.network = network;
  }
  hardware.gpus_per_node = inputs::node_gpus_of_fabric(fabric);
  FitScore score;
  std::vector<std::string> left_out;
  costmodel::NetworkFit fit = costmodel::fit_network(hardware, on_fabric, samples.sources, score, left_out);
  for (const std::string& source : left_out) {
    result.notes.push_back(fmt::format("{}: {} left out: large messages run {:.0f} times below the line rate",
                                       fabric, source, costmodel::kFarOff));
  }
  if (fit.latency_scale <= 0) return {};
  result.notes.push_back(fmt::format("{}: latency {:.2f} times InfiniBand NDR's, {:.0f} % of the line rate",
                                     fabric, fit.latency_scale, 100 * fit.efficiency));
  score.precision = "";
  score.operation = "network " + fabric;
  result.scores.push_back(std::move(score));
  return fit;
}

// One fabric at a time. A device's profile holds one network at most: the user's own, of the kind that its
// description names.
void fit_networks(const std::vector<CollectiveSample>& across, const Samples& samples,
                  const FitChoices& choices, ProfileFit& result) {
  std::vector<std::string> of_kind;
  DeviceProfile kept = result.device.profile;
  for (std::size_t fabric = 0; fabric < samples.fabrics.size(); ++fabric) {
    std::vector<CollectiveSample> on_fabric;
    for (const auto& sample : across) {
      if (static_cast<std::size_t>(sample.fabric) == fabric) on_fabric.push_back(sample);
    }
    const std::string& name = samples.fabrics[fabric];
    if (on_fabric.empty()) continue;
    const costmodel::NetworkFit fit = fit_fabric(on_fabric, samples, name, choices.networks, result);
    if (fit.latency_scale <= 0 || !choices.fabrics.contains(name)) continue;
    if (fit.kind.empty()) {
      result.notes.push_back(
          fmt::format("{}: names no kind of network that is known, and stays out of the profile; name one of "
                      "`trainfront catalog networks`, as in --fabric \"infiniband 8x400Gb/s per node\"",
                      name));
      continue;
    }
    of_kind.push_back(name);
    kept.network = fit;
    FitScore score = result.scores.back();
    score.operation = "network";
    set_provenance(score, sources_of(on_fabric, samples), kept);
  }
  if (of_kind.size() == 1) result.device.profile = std::move(kept);
  if (of_kind.size() > 1) {
    result.notes.push_back(
        fmt::format("a profile holds one network, and none of these went in: {}; calibrate one at a time, or "
                    "give them one name with --fabric",
                    fmt::join(of_kind, "; ")));
  }
}

// Those that measured the collective, and who did.
struct Lenders {
  std::vector<std::string> ids;
  std::set<std::string> sources;
};

Lenders lenders_of(Collective collective, const FitChoices& choices) {
  Lenders lenders;
  for (const auto& [id, relative] : choices.relatives) {
    const std::vector<CollectiveSample> within = within_domain(*relative, collective);
    if (within.size() < costmodel::kLeastLinkSamples) continue;
    lenders.ids.push_back(id);
    for (std::string& source : sources_of(within, *relative)) lenders.sources.insert(std::move(source));
  }
  return lenders;
}

// The relatives' samples, their sources numbered on from the device's own.
std::vector<CollectiveSample> renumbered(std::vector<CollectiveSample> samples, std::size_t first) {
  for (CollectiveSample& sample : samples) sample.source += static_cast<int>(first);
  return samples;
}

costmodel::LinkMeasurements measurements_of(const Samples& samples, Collective collective,
                                            const FitChoices& choices) {
  const auto companion = costmodel::companion_of(collective);
  costmodel::LinkMeasurements measured{.samples = within_domain(samples, collective),
                                       .companions = within_domain(samples, companion),
                                       .sources = samples.sources,
                                       .preferred = {}};
  for (const auto& [id, relative] : choices.relatives) {
    const std::size_t first = measured.sources.size();
    for (const std::string& source : relative->sources) measured.sources.push_back(source);
    std::vector<CollectiveSample> within = renumbered(within_domain(*relative, collective), first);
    if (within.size() < costmodel::kLeastLinkSamples) continue;
    measured.relatives.push_back(
        {.samples = std::move(within), .companions = renumbered(within_domain(*relative, companion), first)});
  }
  measured.preferred = preferred_sources(measured.sources, choices.references);
  return measured;
}

void fit_within(Collective collective, const Samples& samples, const DeviceProfile& sheet,
                const FitChoices& choices, ProfileFit& result) {
  const auto kind = static_cast<std::size_t>(collective);
  const std::string name(kCollectiveNames[kind]);
  costmodel::LinkMeasurements measured = measurements_of(samples, collective, choices);
  if (measured.samples.empty()) return;
  DeviceProfile& profile = result.device.profile;
  const std::vector<std::string> sources = sources_of(measured.samples, samples);
  const bool has_table = !profile.link[kind].table.empty();
  measured.has_earlier_table = has_table && !rests_on(profile, name, sources);
  if (has_table && !measured.has_earlier_table && measured.samples.size() < costmodel::kLeastTableSamples) {
    result.notes.push_back(fmt::format(
        "{}: the profile's table rests on a source of the same name ({}), and does not shape the new "
        "fit; a file of another name is another source",
        name, fmt::join(sources, "; ")));
  }
  const std::size_t least =
      measured.has_earlier_table ? costmodel::kLeastNearTable : costmodel::kLeastLinkSamples;
  if (measured.samples.size() < least) return too_few(name, measured.samples.size(), result.notes);
  FitScore score{.operation = name, .precision = "", .form = "", .other_sources = {}};
  std::vector<std::string> left_out;
  if (collective == Collective::kAllReduce && !measured.has_earlier_table)
    profile.switch_reduce = sheet.switch_reduce;
  costmodel::fit_link(result.device, collective, measured, score, left_out);
  for (const std::string& group : left_out) {
    result.notes.push_back(fmt::format("{}: {} left out: {:.0f} times off what the others follow", name,
                                       group, costmodel::kFarOff));
  }
  if (score.samples == 0) return;
  FitScore said = score;
  std::vector<std::string> shaped_by = sources;
  const auto add_source = [&](const std::string& source) {
    if (std::find(shaped_by.begin(), shaped_by.end(), source) == shaped_by.end()) shaped_by.push_back(source);
  };
  if (score.by_own_size.count > 0) {
    const Lenders lenders = lenders_of(collective, choices);
    said.form += fmt::format(" ({})", fmt::join(lenders.ids, ", "));
    for (const std::string& source : lenders.sources) add_source(source);
  }
  if (score.keeps_earlier_table) {
    for (const std::string& earlier : earlier_sources(profile, name)) add_source(earlier);
  }
  set_provenance(said, shaped_by, profile);
  result.scores.push_back(std::move(score));
}

}  // namespace

void fit_collectives(const Samples& samples, const DeviceProfile& sheet, const FitChoices& choices,
                     ProfileFit& result) {
  for (std::size_t kind = 0; kind < kCollectiveNames.size(); ++kind)
    fit_within(static_cast<Collective>(kind), samples, sheet, choices, result);
  std::vector<CollectiveSample> across;
  for (const CollectiveSample& sample : samples.collective) {
    // Send and receive across nodes has constants of its own (network_collective.cpp).
    if (sample.placement.domains > 1 && sample.collective != Collective::kSendRecv) across.push_back(sample);
  }
  fit_networks(across, samples, choices, result);
}

}  // namespace trainfront::engine
