#include "engine/commands/sheet_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "costmodel/data_sheet_limits.hpp"
#include "inputs/diagnostics.hpp"
#include "inputs/profile_fields.hpp"

namespace trainfront::engine {
namespace {

using costmodel::Precision;

std::string operation_of(const costmodel::GemmSample& sample) {
  return sample.precision == Precision::kFp8 ? "gemm fp8" : "gemm bf16";
}

std::string operation_of(const costmodel::AttentionSample&) {
  return "attention";
}

std::string operation_of(const costmodel::MemoryBoundSample& sample) {
  return std::string(inputs::kMemoryBoundNames[static_cast<std::size_t>(sample.kind)]);
}

std::string operation_of(const costmodel::CollectiveSample& sample) {
  return std::string(inputs::kCollectiveNames[static_cast<std::size_t>(sample.collective)]);
}

// What the data sheet says of the work: the products' matrices come from memory.
double sheet_seconds(const costmodel::Device& device, const costmodel::GemmSample& sample) {
  const double width = sample.precision == Precision::kFp8 ? 1 : 2;
  const double bytes = width * (sample.m * sample.k + sample.k * sample.n + sample.m * sample.n);
  return std::max(least_seconds(device, sample), bytes / device.memory_bytes_per_s);
}

double sheet_seconds(const costmodel::Device& device, const costmodel::AttentionSample& sample) {
  return least_seconds(device, sample);
}

double sheet_seconds(const costmodel::Device& device, const costmodel::MemoryBoundSample& sample) {
  return sample.bytes / device.memory_bytes_per_s;
}

double sheet_seconds(const costmodel::Device& device, const costmodel::CollectiveSample& sample) {
  return least_seconds(device, sample, 0);
}

struct Best {
  std::size_t samples = 0;
  double times_too_slow = 0;
};
using BestOf = std::map<std::pair<std::string, std::string>, Best>;  // by operation and source

template <typename Sample>
void find_best(const costmodel::Device& device, const std::vector<Sample>& list,
               const std::vector<std::string>& sources, BestOf& best) {
  for (const Sample& sample : list) {
    const double slow = sample.seconds / (sheet_seconds(device, sample) + kSlackSeconds);
    Best& of = best[{operation_of(sample), sources[static_cast<std::size_t>(sample.source)]}];
    of.times_too_slow = of.samples == 0 ? slow : std::min(of.times_too_slow, slow);
    ++of.samples;
  }
}

// The smallest and the largest message of one operation, source and number of ranks.
struct Series {
  const costmodel::CollectiveSample* least = nullptr;
  const costmodel::CollectiveSample* most = nullptr;
};

std::vector<Series> series_of(const std::vector<costmodel::CollectiveSample>& list) {
  std::map<std::tuple<costmodel::Collective, int, int>, Series> series;
  for (const costmodel::CollectiveSample& sample : list) {
    Series& of = series[{sample.collective, sample.source, sample.placement.ranks}];
    if (!of.least || sample.bytes < of.least->bytes) of.least = &sample;
    if (!of.most || sample.bytes > of.most->bytes) of.most = &sample;
  }
  std::vector<Series> result;
  for (const auto& [key, of] : series) result.push_back(of);
  return result;
}

// Launching hides how slow small messages are; what the largest takes over the smallest does not.
void add_far_too_steep(const costmodel::Device& device, const std::vector<costmodel::CollectiveSample>& list,
                       const std::vector<std::string>& sources, std::vector<inputs::Fault>& faults) {
  for (const auto& [least, most] : series_of(list)) {
    const double sheet_s = sheet_seconds(device, *most) - sheet_seconds(device, *least);
    if (most->seconds - least->seconds <= kFarTooSteep * sheet_s + kSlackSeconds) continue;
    inputs::Fault fault;
    fault.problem = fmt::format(
        "{} of {}, {} ranks: from {:.0f} to {:.0f} bytes the time grows {:.0f} times as much as the data "
        "sheet's "
        "link says: sizes must be in bytes, times in microseconds, and the device {}",
        operation_of(*most), sources[static_cast<std::size_t>(most->source)], most->placement.ranks,
        least->bytes, most->bytes, (most->seconds - least->seconds) / sheet_s, device.id);
    faults.push_back(std::move(fault));
  }
}

}  // namespace

void refuse_far_too_slow(const costmodel::Device& device, const costmodel::Samples& samples) {
  BestOf best;
  find_best(device, samples.gemm, samples.sources, best);
  find_best(device, samples.attention, samples.sources, best);
  find_best(device, samples.memory_bound, samples.sources, best);
  // Across domains the line rate that is stated decides (runs_over_its_fabric).
  std::vector<costmodel::CollectiveSample> within;
  std::copy_if(samples.collective.begin(), samples.collective.end(), std::back_inserter(within),
               [](const costmodel::CollectiveSample& sample) { return sample.placement.domains <= 1; });
  find_best(device, within, samples.sources, best);

  std::vector<inputs::Fault> faults;
  for (const auto& [what, of] : best) {
    if (of.times_too_slow < kFarTooSlow) continue;
    inputs::Fault fault;
    fault.problem = fmt::format(
        "{} of {}: even the best of {} samples takes {:.0f} times what the data sheet says beside {:.0f} us: "
        "times must be in microseconds, sizes in bytes, and the device {}",
        what.first, what.second, of.samples, of.times_too_slow, kSlackSeconds * 1e6, device.id);
    faults.push_back(std::move(fault));
  }
  add_far_too_steep(device, within, samples.sources, faults);
  if (!faults.empty()) throw inputs::InputError(std::move(faults));
}

std::vector<std::string> far_below_sheet(const costmodel::Device& fitted, const costmodel::Samples& samples) {
  std::vector<std::string> notes;
  const auto check = [&](const std::string& what, double share, double least) {
    if (share >= least) return;
    notes.push_back(
        fmt::format("{}: fitted at {:.3g} of the data sheet's rate, where measured devices reach "
                    "{:.2g} and more: look at its clock, its kernels and its units",
                    what, share, least));
  };
  const costmodel::DeviceProfile& profile = fitted.profile;
  for (const Precision precision : {Precision::kBf16, Precision::kFp8}) {
    const double peak = costmodel::dense_peak_flops_per_s(fitted, precision);
    const bool measured =
        std::any_of(samples.gemm.begin(), samples.gemm.end(),
                    [&](const costmodel::GemmSample& sample) { return sample.precision == precision; });
    const bool fp8 = precision == Precision::kFp8;
    if (measured && peak > 0)
      check(fp8 ? "gemm fp8" : "gemm bf16", (fp8 ? profile.fp8 : profile.bf16).flops_per_s / peak,
            kLeastOfRate);
  }
  if (!samples.attention.empty())
    check("attention", profile.attention.flops_per_s / fitted.bf16_flops_per_s, kLeastOfRate);
  std::array<bool, costmodel::kMemoryBoundKinds> streams{};
  for (const auto& sample : samples.memory_bound) streams[static_cast<std::size_t>(sample.kind)] = true;
  for (std::size_t kind = 0; kind < streams.size(); ++kind) {
    if (streams[kind])
      check(std::string(inputs::kMemoryBoundNames[kind]),
            profile.memory_bound[kind].bytes_per_s / fitted.memory_bytes_per_s, kLeastOfMemory);
  }
  std::array<bool, costmodel::kCollectiveKinds> links{};
  for (const auto& sample : samples.collective)
    links[static_cast<std::size_t>(sample.collective)] |= sample.placement.domains <= 1;
  for (std::size_t kind = 0; kind < links.size(); ++kind) {
    if (links[kind])
      check(std::string(inputs::kCollectiveNames[kind]), profile.link[kind].link_share, kLeastOfRate);
  }
  return notes;
}

}  // namespace trainfront::engine
