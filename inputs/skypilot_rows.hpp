#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

// One record of a SkyPilot price list, as it stands there.
struct SkypilotRow {
  std::string instance;     // empty: the price of accelerators alone (GCP)
  std::string accelerator;  // empty: the price of a host alone (GCP)
  int count = 0;            // of accelerators
  std::optional<double> memory_mib;
  std::string region;
  std::string zone;
  std::optional<double> price;  // per hour; nothing where empty, NaN or zero
  std::optional<double> spot;
  bool combined = false;  // of a host's and its accelerators' rows
  std::string file;
  int line = 0;
};

// Broken records and numbers, and missing columns, are faults.
std::vector<SkypilotRow> read_skypilot_rows(std::string text, const std::string& name, Diagnostics& faults);

// Rows of whole instances: those that were, and the sums of a host's row and its accelerators' row in the
// same zone. Prices are summed only where both have one. `left_out` is told of what finds no partner or no
// price.
//
// On-demand prices of accelerators that are the same on several continents, and far below what other regions
// ask, are those of another product (Dynamic Workload Scheduler's flex start and calendar reservations) and
// are left out.
std::vector<SkypilotRow> combine_hosts_and_accelerators(
    const std::vector<SkypilotRow>& rows,
    const std::function<void(const std::string& reason, const SkypilotRow& row)>& left_out);

}  // namespace trainfront::inputs
