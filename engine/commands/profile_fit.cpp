#include "engine/commands/profile_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "costmodel/data_sheet_profile.hpp"
#include "costmodel/fit_attention.hpp"
#include "costmodel/fit_gemm.hpp"
#include "costmodel/fit_memory_bound.hpp"
#include "costmodel/gemm_form.hpp"
#include "engine/commands/profile_fit_collectives.hpp"
#include "engine/commands/profile_provenance.hpp"
#include "inputs/profile_fields.hpp"

namespace trainfront::engine {
namespace {

using costmodel::DeviceProfile;
using costmodel::FitScore;
using costmodel::Precision;
using costmodel::Samples;

using inputs::kMemoryBoundNames;

std::vector<costmodel::GemmSample> gemms_of(const Samples& samples, Precision precision) {
  std::vector<costmodel::GemmSample> of_precision;
  for (const auto& sample : samples.gemm) {
    if (sample.precision == precision) of_precision.push_back(sample);
  }
  return of_precision;
}

struct LentProducts {
  std::vector<costmodel::GemmRelative> relatives;
  std::vector<std::string> notes;  // of those that another library measured
};

// The relatives' samples of the same library as the device's own, or of the one that measured most.
LentProducts lent_products(const costmodel::Device& device, Precision precision, const std::string& library,
                           const FitChoices& choices) {
  LentProducts lent;
  for (const auto& [relative, samples] : choices.kernel_relatives) {
    if (!costmodel::runs_same_kernels(device, *relative, precision)) continue;
    const std::vector<costmodel::GemmSample> all = gemms_of(*samples, precision);
    const std::vector<std::string> of_library = sources_of(all, *samples);
    const bool has_library = std::find(of_library.begin(), of_library.end(), library) != of_library.end();
    std::vector<costmodel::GemmSample> chosen, others;
    split_by_source(
        all, samples->sources,
        preferred_sources(samples->sources, has_library ? std::vector{library} : choices.references), chosen,
        others);
    if (chosen.size() < costmodel::kLeastRelativeSamples) continue;
    if (!has_library) {
      lent.notes.push_back(fmt::format("gemm {}: {} lends what {} measured, for want of {}",
                                       precision == Precision::kFp8 ? "fp8" : "bf16", relative->id,
                                       fmt::join(sources_of(chosen, *samples), ", "), library));
    }
    lent.relatives.push_back({.device = *relative, .samples = std::move(chosen)});
  }
  return lent;
}

void fit_gemms(const Samples& samples, const std::vector<bool>& preferred, const FitChoices& choices,
               const DeviceProfile& sheet, ProfileFit& result) {
  for (const Precision precision : {Precision::kBf16, Precision::kFp8}) {
    const bool fp8 = precision == Precision::kFp8;
    const std::vector<costmodel::GemmSample> all = gemms_of(samples, precision);
    if (all.empty()) continue;
    costmodel::GemmMeasurements measured{.samples = {}, .sources = samples.sources};
    split_by_source(all, samples.sources, preferred, measured.samples, measured.others);
    if (measured.samples.size() < costmodel::kLeastSamples) {
      too_few(fp8 ? "gemm fp8" : "gemm bf16", measured.samples.size(), result.notes);
      continue;
    }
    const std::vector<std::string> sources = sources_of(measured.samples, samples);
    LentProducts lent = lent_products(result.device, precision, sources.front(), choices);
    measured.relatives = std::move(lent.relatives);
    costmodel::GemmFit& fit = fp8 ? result.device.profile.fp8 : result.device.profile.bf16;
    costmodel::GemmFit origin = fp8 ? sheet.fp8 : sheet.bf16;
    origin.sustained_slowdown = fit.sustained_slowdown;
    FitScore score;
    fit = costmodel::fit_gemm(result.device, precision, origin, measured, score);
    FitScore said = score;
    if (score.by_own_size.count > 0) {
      std::vector<std::string> ids;
      for (const costmodel::GemmRelative& relative : measured.relatives) ids.push_back(relative.device.id);
      said.form += fmt::format(" ({})", fmt::join(ids, ", "));
      for (std::string& note : lent.notes) result.notes.push_back(std::move(note));
    }
    set_provenance(said, sources, result.device.profile);
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

std::vector<bool> preferred_sources(const std::vector<std::string>& sources,
                                    const std::vector<std::string>& references) {
  std::vector<bool> preferred;
  for (const std::string& source : sources) {
    preferred.push_back(std::any_of(references.begin(), references.end(), [&](const std::string& part) {
      return source.find(part) != std::string::npos;
    }));
  }
  return preferred;
}

ProfileFit fit_profile(const costmodel::Device& start, const Samples& samples,
                       const std::vector<inputs::SustainedRate>& sustained, const FitChoices& choices) {
  const std::vector<bool> preferred = preferred_sources(samples.sources, choices.references);
  ProfileFit result{.device = start, .scores = {}, .notes = {}};
  // Fits begin at the data sheet, so that the same measurements give the same profile whatever was there;
  // only collectives may keep the shape of a table that was.
  const DeviceProfile sheet = costmodel::data_sheet_profile(start);
  fit_gemms(samples, preferred, choices, sheet, result);
  fit_attentions(samples, preferred, sheet, result);
  fit_memory_bounds(samples, preferred, sheet, result);
  fit_collectives(samples, sheet, choices, result);
  apply_sustained(sustained, result);
  return result;
}

}  // namespace trainfront::engine
