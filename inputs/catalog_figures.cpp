#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "inputs/catalog_sections.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

// low, base and high; base alone is enough in a user's file.
template <typename Entry>
void in_order(Section& section, const Entry& entry) {
  if (!(entry.low <= entry.base && entry.base <= entry.high))
    section.fault("base", "must lie between low and high");
}

template <typename Entry>
void read_numbers(Section& section, Entry& entry, Range range) {
  section.require("base");
  entry.base = section.number("base", range).value_or(1);
  entry.low = section.number("low", range).value_or(entry.base);
  entry.high = section.number("high", range).value_or(entry.base);
  in_order(section, entry);
  read_origin(section, entry.origin);
  section.finish();
}

void read_rate(Section& section, Catalog& catalog, std::ptrdiff_t at) {
  FailureRate rate;
  if (section.require("devices") != nullptr) rate.devices = section.texts("devices").value_or(rate.devices);
  const std::vector<std::string> ids = catalog.device_ids();
  for (const std::string& id : rate.devices)
    if (catalog.find_device(id) == nullptr)
      section.fault("devices", fmt::format("holds an unknown device: {}", id), join(ids), nearest(id, ids));
  read_numbers(section, rate, kPositive);
  // The first entry that lists a device counts, so a later file's go first.
  catalog.failures.insert(catalog.failures.begin() + at, std::move(rate));
}

void read_spot(Section& section, Catalog& catalog, std::ptrdiff_t at) {
  SpotRate rate;
  // "" is a name here: all other providers.
  if (const Value* provider = section.require("provider")) {
    if (provider->kind == Value::Kind::kText) {
      rate.provider = provider->text;
    } else {
      section.fault("provider", "must be text in quotes");
    }
  }
  rate.together = section.number("together", {1, 1e6, false}).value_or(1);
  read_numbers(section, rate, kNotNegative);
  catalog.spot.insert(catalog.spot.begin() + at, std::move(rate));
}

void read_recovery(Section& section, Catalog& catalog) {
  struct Known {
    const char* key;
    char unit;  // of duration, rate, share
  };
  static constexpr std::array<Known, 13> kKnown = {{{"detect", 'd'},
                                                    {"replace", 'd'},
                                                    {"start_fixed", 'd'},
                                                    {"start_per_node", 'd'},
                                                    {"storage_bandwidth", 'r'},
                                                    {"node_storage_bandwidth", 'r'},
                                                    {"checkpoint_block_fixed", 'd'},
                                                    {"checkpoint_block_share", 's'},
                                                    {"local_bandwidth", 'r'},
                                                    {"peer_bandwidth", 'r'},
                                                    {"node_loss_share", 's'},
                                                    {"controller", 'd'},
                                                    {"shrink", 'd'}}};
  std::vector<std::string> names;
  for (const Known& known : kKnown) names.emplace_back(known.key);
  section.require("key");
  const auto which = section.choice("key", names);
  if (!which) return;
  RecoveryFigure figure;
  figure.key = names[*which];
  const char unit = kKnown[*which].unit;
  const auto read = [&](std::string_view key) {
    if (unit == 'd') return section.duration_s(key);
    if (unit == 'r') return section.rate_bytes_per_s(key);
    return section.number(key, {0, 1, false});
  };
  section.require("base");
  figure.base = read("base").value_or(1);
  figure.low = read("low").value_or(figure.base);
  figure.high = read("high").value_or(figure.base);
  in_order(section, figure);
  read_origin(section, figure.origin);
  section.finish();
  const auto old = std::find_if(catalog.recovery.begin(), catalog.recovery.end(),
                                [&](const RecoveryFigure& other) { return other.key == figure.key; });
  if (old != catalog.recovery.end()) {
    *old = std::move(figure);
  } else {
    catalog.recovery.push_back(std::move(figure));
  }
}

}  // namespace

void read_failure_figures(Section& root, Catalog& catalog) {
  std::ptrdiff_t at = 0;
  for (Section& section : root.sections("node_failures")) read_rate(section, catalog, at++);
  at = 0;
  for (Section& section : root.sections("spot")) read_spot(section, catalog, at++);
  for (Section& section : root.sections("recovery")) read_recovery(section, catalog);
}

}  // namespace trainfront::inputs
