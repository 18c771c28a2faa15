#include "engine/commands/calibrate.hpp"

#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <map>

#include "costmodel/data_sheet_profile.hpp"
#include "costmodel/device_family.hpp"
#include "costmodel/fit_gemm.hpp"
#include "engine/atomic_file.hpp"
#include "engine/commands/calibrate_report.hpp"
#include "engine/commands/catalog_with.hpp"
#include "engine/commands/measurement_notes.hpp"
#include "engine/commands/profile_fit.hpp"
#include "engine/commands/sheet_check.hpp"
#include "engine/errors.hpp"
#include "engine/output_place.hpp"
#include "engine/terminal.hpp"
#include "inputs/catalog.hpp"
#include "inputs/device_spelling.hpp"
#include "inputs/nccl_heading.hpp"
#include "inputs/profile_file.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::engine {
namespace {

std::string today() {
  const auto day = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const std::chrono::year_month_day date{day};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

// What may stand in an unknown name's place.
std::string instead_of(const std::string& name, const std::vector<std::string>& known) {
  const std::string meant = inputs::nearest(name, known);
  return meant.empty() ? "one of " + inputs::join(known) : "did you mean " + meant + "?";
}

const inputs::DeviceEntry& find_device(const inputs::Catalog& catalog, const std::string& name) {
  if (const inputs::DeviceEntry* entry = catalog.resolve_device(name)) return *entry;
  throw UsageError(
      fmt::format("--device: {} is not in the catalogue; {}; --catalog FILE adds devices of your own",
                  inputs::in_quotes(name), instead_of(name, catalog.device_ids())));
}

// Known, or not given.
void check_collective(const std::string& name) {
  if (name.empty() || inputs::nccl_collective(name)) return;
  throw UsageError(fmt::format("--collective: {} is not known, or not modelled; {}", inputs::in_quotes(name),
                               instead_of(name, inputs::nccl_collectives())));
}

std::vector<costmodel::Network> networks_of(const inputs::Catalog& catalog) {
  std::vector<costmodel::Network> networks;
  for (const inputs::NetworkEntry& entry : catalog.networks) networks.push_back(entry.network);
  return networks;
}

void say_other_devices(const inputs::Measurements& measurements, const std::string& id) {
  for (const auto& [device, samples] : measurements.samples) {
    const std::size_t rows = samples.gemm.size() + samples.attention.size() + samples.memory_bound.size() +
                             samples.collective.size();
    if (device != id) say(fmt::format("{} rows of another device: {}", rows, device));
  }
}

// The files' devices of one family whose scale-up link is as fast as this one's: a library changes its
// protocols there at the same sizes.
std::map<std::string, const costmodel::Samples*> relatives_of(const costmodel::Device& device,
                                                              const inputs::Measurements& measurements,
                                                              const inputs::Catalog& catalog) {
  std::map<std::string, const costmodel::Samples*> relatives;
  for (const auto& [id, samples] : measurements.samples) {
    const inputs::DeviceEntry* entry = id == device.id ? nullptr : catalog.resolve_device(id);
    if (entry == nullptr || !costmodel::same_family(device, entry->device) ||
        entry->device.link_bytes_per_s != device.link_bytes_per_s) {
      continue;
    }
    if (!samples.collective.empty()) relatives.emplace(id, &samples);
  }
  return relatives;
}

// The files' devices that libraries run the same kernels on.
std::vector<FitChoices::KernelRelative> kernel_relatives_of(const costmodel::Device& device,
                                                            const inputs::Measurements& measurements,
                                                            const inputs::Catalog& catalog) {
  std::vector<FitChoices::KernelRelative> relatives;
  for (const auto& [id, samples] : measurements.samples) {
    const inputs::DeviceEntry* entry = id == device.id ? nullptr : catalog.resolve_device(id);
    if (entry == nullptr || samples.gemm.empty()) continue;
    if (costmodel::runs_same_kernels(device, entry->device)) relatives.push_back({&entry->device, &samples});
  }
  return relatives;
}

// What relatives lend is held against their own data sheets.
void refuse_far_too_slow_relatives(const FitChoices& choices, const inputs::Catalog& catalog) {
  for (const auto& [id, samples] : choices.relatives) {
    refuse_far_too_slow(catalog.resolve_device(id)->device, {.sources = samples->sources,
                                                             .fabrics = {},
                                                             .gemm = {},
                                                             .attention = {},
                                                             .memory_bound = {},
                                                             .collective = samples->collective});
  }
  for (const auto& [device, samples] : choices.kernel_relatives) {
    refuse_far_too_slow(*device, {.sources = samples->sources,
                                  .fabrics = {},
                                  .gemm = samples->gemm,
                                  .attention = {},
                                  .memory_bound = {},
                                  .collective = {}});
  }
}

// Profiles among the files: what they hold stays where nothing is measured.
void apply_profiles(const std::vector<std::string>& files, costmodel::Device& device) {
  inputs::Diagnostics faults;
  for (const std::string& file : files) {
    const std::string name = device.profile.name;
    device.profile = inputs::read_profile(file, device.profile, faults);
    device.profile.name = name;
  }
  faults.throw_if_any();
}

}  // namespace

int run_calibrate(const CalibrateOptions& options) {
  const inputs::Catalog catalog = catalog_with(options.catalogs);
  const inputs::DeviceEntry& entry = find_device(catalog, options.device);
  const std::string output = options.output.empty() ? entry.device.id + ".toml" : options.output;
  check_output_place(output, "-o");
  check_collective(options.collective);

  inputs::Measurements measurements;
  inputs::Diagnostics faults;
  const inputs::MeasurementDefaults defaults{.gpu = "",
                                             .fabric = options.fabric,
                                             .collective = options.collective,
                                             .ranks = options.ranks,
                                             .nodes = options.nodes};
  const auto resolve = [&, known = inputs::device_resolver(catalog)](std::string_view gpu) {
    // A log that names no GPU was run on the device that is calibrated.
    return gpu.empty() ? inputs::MeasuredDevice(&entry.device, entry.domain_gpus) : known(gpu);
  };
  std::vector<std::string> profiles;
  for (const std::string& file : options.files) {
    if (std::filesystem::path(file).extension() == ".toml") {
      profiles.push_back(file);
    } else {
      inputs::read_measurements(file, resolve, defaults, measurements, faults);
    }
  }
  say_reading(measurements, faults);
  say_other_devices(measurements, entry.device.id);
  if (!measurements.refused.empty()) throw inputs::InputError(measurements.refused);

  costmodel::Device start = entry.device;
  if (options.from_data_sheet) {
    start.profile = costmodel::data_sheet_profile(start);
    start.profile.sources.clear();
  }
  start.profile.name = fmt::format("{} {}", start.id, today());
  if (!options.relative.empty()) {
    start.profile = profile_of_relative(find_device(catalog, options.relative).device, start);
    start.profile.name = fmt::format("{} {}", start.id, today());
  }
  apply_profiles(profiles, start);
  const costmodel::Samples& samples = measurements.samples[start.id];
  refuse_far_too_slow(start, samples);
  const FitChoices choices{.references = options.references,
                           .fabrics = measurements.stated_fabrics,
                           .networks = networks_of(catalog),
                           .relatives = relatives_of(start, measurements, catalog),
                           .kernel_relatives = kernel_relatives_of(start, measurements, catalog)};
  refuse_far_too_slow_relatives(choices, catalog);
  ProfileFit fit = fit_profile(start, samples, measurements.sustained[start.id], choices);
  for (std::string& note : far_below_sheet(fit.device, samples)) fit.notes.push_back(std::move(note));
  for (const std::string& note : fit.notes) say(note);
  if (fit.scores.empty() && options.relative.empty()) {
    throw inputs::InputError({{.file = options.files.empty() ? "" : options.files.front(),
                               .at = {},
                               .key = "",
                               .problem = "nothing in the files measures " + start.id,
                               .found = "",
                               .allowed = "",
                               .suggestion = ""}});
  }
  write_file(output, inputs::write_profile(fit.device.profile, start.id));
  if (options.json) {
    print(fit_json(fit, output, measurements, faults.count()));
  } else {
    print(fit_table(fit, output));
  }
  return kDone;
}

}  // namespace trainfront::engine
