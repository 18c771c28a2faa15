#include "engine/commands/profile_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>

#include "costmodel/data_sheet_profile.hpp"
#include "costmodel/fit_attention.hpp"
#include "costmodel/fit_collective.hpp"
#include "costmodel/fit_gemm.hpp"
#include "costmodel/fit_memory_bound.hpp"
#include "costmodel/fit_network.hpp"
#include "costmodel/fit_other_sources.hpp"
#include "costmodel/gemm_form.hpp"
#include "inputs/measured_fabric.hpp"
#include "inputs/profile_fields.hpp"

namespace trainfront::engine {
namespace {

using costmodel::DeviceProfile;
using costmodel::FitScore;
using costmodel::Precision;
using costmodel::Samples;

using inputs::kCollectiveNames;
using inputs::kMemoryBoundNames;

std::string errors_text(const costmodel::ErrorSummary& summary, const char* what) {
  return summary.count == 0 ? "" : fmt::format(" {:.1f} % by {},", summary.mean, what);
}

// One line of provenance a section: who measured it, how much, and how far off held-out predictions were. It
// takes the place of the section's earlier line.
void set_provenance(const FitScore& score, const std::vector<std::string>& sources,
                    costmodel::DeviceProfile& profile) {
  std::string names;
  for (const std::string& source : sources) names += (names.empty() ? "" : "; ") + source;
  const std::string section =
      fmt::format("{}{}{}: ", score.operation, score.precision.empty() ? "" : " ", score.precision);
  std::erase_if(profile.sources, [&](const std::string& line) { return line.starts_with(section); });
  std::string line =
      fmt::format("{}{} samples of {}; {}; held-out MAPE{}{}", section, score.samples, names, score.form,
                  errors_text(score.by_shape, "shape"), errors_text(score.by_size, "size"));
  if (line.back() == ',') line.pop_back();
  profile.sources.push_back(std::move(line));
}

template <typename Sample>
std::vector<std::string> sources_of(const std::vector<Sample>& samples, const Samples& all) {
  std::set<std::string> names;
  for (const Sample& sample : samples) names.insert(all.sources[static_cast<std::size_t>(sample.source)]);
  return {names.begin(), names.end()};
}

void too_few(const std::string& what, std::size_t count, std::vector<std::string>& notes) {
  notes.push_back(fmt::format("{}: {} samples are too few to fit; its section stays as it was", what, count));
}

void fit_gemms(const Samples& samples, const std::vector<bool>& preferred, const DeviceProfile& sheet,
               ProfileFit& result) {
  for (const Precision precision : {Precision::kBf16, Precision::kFp8}) {
    const bool fp8 = precision == Precision::kFp8;
    std::vector<costmodel::GemmSample> all, chosen, others;
    for (const auto& sample : samples.gemm) {
      if (sample.precision == precision) all.push_back(sample);
    }
    if (all.empty()) continue;
    split_by_source(all, samples.sources, preferred, chosen, others);
    if (chosen.size() < costmodel::kLeastSamples) {
      too_few(fp8 ? "gemm fp8" : "gemm bf16", chosen.size(), result.notes);
      continue;
    }
    costmodel::GemmFit& fit = fp8 ? result.device.profile.fp8 : result.device.profile.bf16;
    costmodel::GemmFit origin = fp8 ? sheet.fp8 : sheet.bf16;
    origin.sustained_slowdown = fit.sustained_slowdown;
    FitScore score;
    fit = costmodel::fit_gemm(result.device, precision, origin, chosen, others, samples.sources, score);
    set_provenance(score, sources_of(chosen, samples), result.device.profile);
    result.scores.push_back(std::move(score));
  }
}

void fit_attentions(const Samples& samples, const std::vector<bool>& preferred, const DeviceProfile& sheet,
                    ProfileFit& result) {
  if (samples.attention.empty()) return;
  std::vector<costmodel::AttentionSample> chosen, others;
  split_by_source(samples.attention, samples.sources, preferred, chosen, others);
  if (chosen.size() < costmodel::kLeastSamples) return too_few("attention", chosen.size(), result.notes);
  FitScore score;
  costmodel::AttentionFit& fit = result.device.profile.attention;
  costmodel::AttentionFit origin = sheet.attention;
  origin.backward_factor = fit.backward_factor;
  fit = costmodel::fit_attention(origin, chosen, others, samples.sources, score);
  set_provenance(score, sources_of(chosen, samples), result.device.profile);
  result.scores.push_back(std::move(score));
}

void fit_memory_bounds(const Samples& samples, const std::vector<bool>& preferred, const DeviceProfile& sheet,
                       ProfileFit& result) {
  for (std::size_t kind = 0; kind < kMemoryBoundNames.size(); ++kind) {
    std::vector<costmodel::MemoryBoundSample> all, chosen, others;
    for (const auto& sample : samples.memory_bound) {
      if (static_cast<std::size_t>(sample.kind) == kind) all.push_back(sample);
    }
    if (all.empty()) continue;
    split_by_source(all, samples.sources, preferred, chosen, others);
    if (chosen.size() < 4) {
      too_few(std::string(kMemoryBoundNames[kind]), chosen.size(), result.notes);
      continue;
    }
    FitScore score{
        .operation = std::string(kMemoryBoundNames[kind]), .precision = "", .form = "", .other_sources = {}};
    costmodel::MemoryBoundFit& fit = result.device.profile.memory_bound[kind];
    fit = costmodel::fit_memory_bound(sheet.memory_bound[kind], chosen, score);
    set_provenance(score, sources_of(chosen, samples), result.device.profile);
    result.scores.push_back(std::move(score));
  }
}

// What was measured on one fabric; latency_scale is 0 where too little was.
costmodel::NetworkFit fit_fabric(const std::vector<costmodel::CollectiveSample>& on_fabric,
                                 const Samples& samples, const std::string& fabric,
                                 const std::vector<costmodel::Network>& networks, ProfileFit& result) {
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
void fit_networks(const std::vector<costmodel::CollectiveSample>& across, const Samples& samples,
                  const FitChoices& choices, ProfileFit& result) {
  std::vector<std::string> of_kind;
  DeviceProfile kept = result.device.profile;
  for (std::size_t fabric = 0; fabric < samples.fabrics.size(); ++fabric) {
    std::vector<costmodel::CollectiveSample> on_fabric;
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

void fit_collectives(const Samples& samples, const std::vector<bool>& preferred, const DeviceProfile& sheet,
                     const FitChoices& choices, ProfileFit& result) {
  std::vector<costmodel::CollectiveSample> across;
  for (std::size_t kind = 0; kind < kCollectiveNames.size(); ++kind) {
    std::vector<costmodel::CollectiveSample> within, companions;
    const auto companion = costmodel::companion_of(static_cast<costmodel::Collective>(kind));
    for (const auto& sample : samples.collective) {
      if (sample.collective == companion && sample.placement.domains <= 1) companions.push_back(sample);
      if (static_cast<std::size_t>(sample.collective) != kind) continue;
      (sample.placement.domains > 1 ? across : within).push_back(sample);
    }
    if (within.empty()) continue;
    if (within.size() < 8) {
      too_few(std::string(kCollectiveNames[kind]), within.size(), result.notes);
      continue;
    }
    FitScore score{
        .operation = std::string(kCollectiveNames[kind]), .precision = "", .form = "", .other_sources = {}};
    std::vector<std::string> left_out;
    if (static_cast<costmodel::Collective>(kind) == costmodel::Collective::kAllReduce)
      result.device.profile.switch_reduce = sheet.switch_reduce;
    costmodel::fit_link(result.device, static_cast<costmodel::Collective>(kind), within, companions,
                        samples.sources, preferred, score, left_out);
    for (const std::string& group : left_out) {
      result.notes.push_back(fmt::format("{}: {} left out: {:.0f} times off what the others follow",
                                         kCollectiveNames[kind], group, costmodel::kFarOff));
    }
    if (score.samples == 0) continue;
    set_provenance(score, sources_of(within, samples), result.device.profile);
    result.scores.push_back(std::move(score));
  }
  // Send and receive across nodes has constants of its own (network_collective.cpp).
  std::erase_if(across,
                [](const auto& sample) { return sample.collective == costmodel::Collective::kSendRecv; });
  fit_networks(across, samples, choices, result);
}

// Training runs for hours under the power limit, benchmarks of one kernel for milliseconds: where the best
// sustained matrix product is slower than the burst fit says of the same shape, the difference slows
// training.
void apply_sustained(const std::vector<inputs::SustainedRate>& sustained, ProfileFit& result) {
  for (const inputs::SustainedRate& rate : sustained) {
    const bool fp8 = rate.precision == Precision::kFp8;
    costmodel::GemmFit& fit = fp8 ? result.device.profile.fp8 : result.device.profile.bf16;
    const double burst_s =
        costmodel::gemm_burst(fit, rate.precision, result.device.compute_units, rate.m, rate.n, rate.k);
    const double sustained_s = 2 * rate.m * rate.n * rate.k / rate.flops_per_s;
    const double slowdown = sustained_s / burst_s;
    result.notes.push_back(fmt::format(
        "gemm {}: sustained over burst time {:.3f} at {} x {} x {}; {:.3f} is used", fp8 ? "fp8" : "bf16",
        slowdown, rate.m, rate.n, rate.k, std::max(slowdown, fit.sustained_slowdown)));
    fit.sustained_slowdown = std::max(slowdown, fit.sustained_slowdown);
  }
}

}  // namespace

ProfileFit fit_profile(const costmodel::Device& start, const Samples& samples,
                       const std::vector<inputs::SustainedRate>& sustained, const FitChoices& choices) {
  std::vector<bool> preferred;
  for (const std::string& source : samples.sources) {
    preferred.push_back(
        std::any_of(choices.references.begin(), choices.references.end(),
                    [&](const std::string& part) { return source.find(part) != std::string::npos; }));
  }
  ProfileFit result{.device = start, .scores = {}, .notes = {}};
  // Fits begin at the data sheet, so that the same measurements give the same profile whatever was there.
  const DeviceProfile sheet = costmodel::data_sheet_profile(start);
  fit_gemms(samples, preferred, sheet, result);
  fit_attentions(samples, preferred, sheet, result);
  fit_memory_bounds(samples, preferred, sheet, result);
  fit_collectives(samples, preferred, sheet, choices, result);
  apply_sustained(sustained, result);
  return result;
}

}  // namespace trainfront::engine
