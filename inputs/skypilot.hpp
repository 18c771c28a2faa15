#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/catalog.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

// SkyPilot's price lists: catalogs/<version>/<cloud>/vms.csv of skypilot-org/skypilot-catalog. Columns are
// told by their names, which stand in another order for every cloud.
bool is_skypilot_header(const std::vector<std::string>& header);

struct SkypilotOptions {
  std::string cloud;  // the provider's name in our catalogue; the file does not say it
  std::string as_of;  // date of the list: the file does not say it either; may be empty
};

// The offers of one such list, of instances that the catalogue knows. What is left out is told in `notes`, by
// reason with counts and examples: other instances, rows without a price, spot prices that mean there is no
// market (as high as on-demand, or on the floor of a tenth of it), hosts without their accelerators. Two
// prices for one place are a fault, as is a broken file.
//
// On GCP an instance's row prices the host alone, and the accelerators stand in a row without an instance: an
// offer is the sum of both in the same zone, or nothing.
std::vector<OfferEntry> read_skypilot(const Catalog& catalog, std::string text, const std::string& name,
                                      const SkypilotOptions& options, Diagnostics& faults,
                                      std::vector<std::string>& notes);

// The cloud that a path like "aws/vms.csv" or "aws_vms.csv" speaks of, among the catalogue's providers.
std::optional<std::string> guess_cloud(const Catalog& catalog, std::string_view path);

// Memory of one GPU in MiB from a GpuInfo column: Python's or JSON's notation, 'SizeInMiB' of the first GPU.
// TotalGpuMemoryInMiB is not looked at: it is one GPU's on some clouds and all GPUs' on others.
std::optional<double> gpu_memory_mib(std::string_view gpu_info);

// Offers as a table of ours, that add_offers_csv reads.
std::string write_offers_csv(const std::vector<OfferEntry>& offers);

}  // namespace trainfront::inputs
