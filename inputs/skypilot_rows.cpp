#include "inputs/skypilot_rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "inputs/csv_records.hpp"
#include "inputs/skypilot.hpp"

namespace trainfront::inputs {
namespace {

// What SkyPilot calls the accelerators of GCP's machine types.
const std::map<std::string, std::string>& accelerators_of_hosts() {
  static const std::map<std::string, std::string> kNames = {
      {"a2-highgpu-8g", "A100"},      {"a2-ultragpu-8g", "A100-80GB"}, {"a3-highgpu-8g", "H100"},
      {"a3-megagpu-8g", "H100-MEGA"}, {"a3-ultragpu-8g", "H200"},      {"a4-highgpu-8g", "B200"},
      {"a4x-highgpu-4g", "GB200"}};
  return kNames;
}

// A machine type's name ends in its number of GPUs: "a3-highgpu-8g".
int gpus_of_host(const std::string& instance) {
  const std::size_t dash = instance.rfind('-');
  if (dash == std::string::npos || instance.size() < dash + 3 || instance.back() != 'g') return 0;
  const auto count = csv_number(std::string_view(instance).substr(dash + 1, instance.size() - dash - 2));
  return count && *count == std::floor(*count) && *count < 1000 ? static_cast<int>(*count) : 0;
}

std::string continent(const std::string& region) {
  return region.substr(0, region.find('-'));
}

// Both or nothing; to a millionth of a dollar, as lists have it.
std::optional<double> sum_of(std::optional<double> host, std::optional<double> accelerators) {
  if (!host || !accelerators) return std::nullopt;
  return std::round((*host + *accelerators) * 1e6) / 1e6;
}

// On-demand prices of one kind of accelerators that belong to another product.
std::set<double> foreign_prices(const std::vector<SkypilotRow>& rows, const std::string& accelerator,
                                int count) {
  constexpr double kFarBelow = 0.7;
  std::map<double, std::set<std::string>> continents;
  for (const SkypilotRow& row : rows)
    if (row.instance.empty() && row.accelerator == accelerator && row.count == count && row.price)
      continents[*row.price].insert(continent(row.region));
  if (continents.size() < 2) return {};
  const double highest = continents.rbegin()->first;
  std::set<double> foreign;
  for (const auto& [price, where] : continents)
    if (where.size() >= 2 && price < kFarBelow * highest) foreign.insert(price);
  // The rest must be there to tell the two products apart.
  return foreign.size() < continents.size() ? foreign : std::set<double>{};
}

}  // namespace

bool is_skypilot_header(const std::vector<std::string>& header) {
  const auto has = [&](std::string_view name) {
    return std::find(header.begin(), header.end(), name) != header.end();
  };
  return has("InstanceType") && has("AcceleratorName") && has("Price") && has("Region");
}

std::vector<SkypilotRow> read_skypilot_rows(std::string text, const std::string& name, Diagnostics& faults) {
  std::vector<SkypilotRow> rows;
  try {
    CsvFile csv(name, std::move(text), {.comment = '#'});
    const std::size_t instance = csv.column("InstanceType"), accelerator = csv.column("AcceleratorName"),
                      count = csv.column("AcceleratorCount"), region = csv.column("Region"),
                      price = csv.column("Price"), spot = csv.column("SpotPrice");
    const auto zone = csv.find_column("AvailabilityZone");
    auto gpu_info = csv.find_column("GpuInfo");
    if (!gpu_info) gpu_info = csv.find_column("GPUInfo");
    // A price: nothing where there is none. Zero stands for "not known" in these lists.
    const auto money = [&](std::size_t column) -> std::optional<double> {
      if (csv[column].empty() || csv[column] == "nan" || csv[column] == "NaN") return std::nullopt;
      const auto value = csv_number(csv[column]);
      if (!value || *value < 0) {
        faults.add({name,
                    {static_cast<int>(csv.line_of(column)), static_cast<int>(csv.column_of(column))},
                    csv.header()[column],
                    "is no price",
                    in_quotes(csv[column]),
                    "dollars per hour, or nothing",
                    ""});
        return std::nullopt;
      }
      if (*value == 0) return std::nullopt;
      return value;
    };
    while (next_record(csv, faults)) {
      SkypilotRow row;
      row.instance = csv[instance];
      row.accelerator = csv[accelerator];
      if (const auto number = csv_number(csv[count]); number && *number >= 0 && *number < 1e6)
        row.count = static_cast<int>(*number);
      if (gpu_info) row.memory_mib = gpu_memory_mib(csv[*gpu_info]);
      row.region = csv[region];
      if (zone) row.zone = csv[*zone];
      row.price = money(price);
      row.spot = money(spot);
      row.file = name;
      row.line = static_cast<int>(csv.line());
      rows.push_back(std::move(row));
    }
  } catch (const CsvError& error) {
    faults.add(to_fault(error));
  }
  return rows;
}

std::vector<SkypilotRow> combine_hosts_and_accelerators(
    const std::vector<SkypilotRow>& rows,
    const std::function<void(const std::string& reason, const SkypilotRow& row)>& left_out) {
  std::map<std::tuple<std::string, int, std::string, std::string>, const SkypilotRow*> accelerators;
  std::map<std::pair<std::string, int>, std::set<double>> foreign;
  for (const SkypilotRow& row : rows) {
    if (!row.instance.empty()) continue;
    accelerators[{row.accelerator, row.count, row.region, row.zone}] = &row;
    const std::pair kind(row.accelerator, row.count);
    if (!foreign.contains(kind)) foreign[kind] = foreign_prices(rows, row.accelerator, row.count);
  }
  std::set<const SkypilotRow*> used;
  std::vector<SkypilotRow> whole;
  for (const SkypilotRow& row : rows) {
    if (row.instance.empty()) continue;
    const auto name = accelerators_of_hosts().find(row.instance);
    if (!row.accelerator.empty() || name == accelerators_of_hosts().end()) {
      whole.push_back(row);
      continue;
    }
    const int count = gpus_of_host(row.instance);
    const auto found = accelerators.find({name->second, count, row.region, row.zone});
    if (found == accelerators.end()) {
      left_out("a host without a price for its accelerators in the same zone", row);
      continue;
    }
    const SkypilotRow& gpus = *found->second;
    SkypilotRow sum = row;
    sum.accelerator = gpus.accelerator;
    sum.count = gpus.count;
    sum.memory_mib = gpus.memory_mib;
    sum.combined = true;
    const bool is_foreign = gpus.price && foreign[{gpus.accelerator, gpus.count}].contains(*gpus.price);
    if (is_foreign)
      left_out("the price of the accelerators is a flex-start or calendar price, not on-demand", row);
    used.insert(&gpus);
    sum.price = is_foreign ? std::nullopt : sum_of(row.price, gpus.price);
    sum.spot = sum_of(row.spot, gpus.spot);
    if (!sum.price && !sum.spot) {
      if (!is_foreign) left_out("no price for the host or for its accelerators", row);
      continue;
    }
    whole.push_back(std::move(sum));
  }
  for (const auto& [place, row] : accelerators)
    if (!used.contains(row)) left_out("accelerators without a host that takes them in the same zone", *row);
  return whole;
}

}  // namespace trainfront::inputs
