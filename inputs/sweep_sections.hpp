#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "inputs/catalog.hpp"
#include "inputs/hf_config.hpp"
#include "inputs/section.hpp"
#include "search/problem.hpp"

namespace trainfront::inputs {

// The sections of a sweep file, one reader each. All report faults to the section's diagnostics and go on;
// what they return is of use only if there are none. `notes` as in SweepFile.

HfConfig read_model_section(Section& section, const Catalog& catalog, const std::filesystem::path& folder,
                            std::vector<std::string>& notes);

struct RecipeSection {
  costmodel::Recipe recipe;
  std::vector<std::int64_t> global_batches;
};
RecipeSection read_recipe_section(Section& section, std::vector<std::string>& notes);

search::LayoutChoices read_layout_section(Section& section, std::vector<std::string>& notes);

struct ClusterSection {
  std::vector<std::string> devices;  // ids; empty: all that are offered
  std::vector<std::int64_t> gpus;
};
ClusterSection read_cluster_section(Section& section, const Catalog& catalog,
                                    std::vector<std::string>& notes);

// The catalogues that [market] names; `builtin` itself is not changed.
Catalog read_catalogs(Section& section, const Catalog& builtin, const std::filesystem::path& folder,
                      std::vector<std::string>& notes);

// Offers that pass the filters and the inline ones, grouped by hardware. Sorted, so that equal files give
// equal plans. `catalog_notes` are those of read_catalogs: they say what was left out, which counts if
// nothing is left.
std::vector<search::HardwareClass> read_market_section(Section& section, const Catalog& catalog,
                                                       const ClusterSection& cluster,
                                                       std::span<const std::string> catalog_notes,
                                                       std::vector<std::string>& notes);

// market.egress: what leaves the provider goes to the bill of every offer; offers without a known price for
// it are left out.
void bill_egress(Section& section, const Catalog& catalog, std::vector<search::HardwareClass>& classes,
                 std::vector<std::string>& notes);

// [[market.offer]]: offers with the hardware that each rents, unsorted.
std::vector<search::HardwareClass> read_inline_offers(Section& section, const Catalog& catalog);

// Failures and protections; sets the time between failures of every kind of node.
search::FailureModel read_failures_section(Section& section, const Catalog& catalog,
                                           std::vector<search::HardwareClass>& hardware,
                                           std::vector<std::string>& notes);
std::vector<faults::Protection> read_protections(Section& section, std::vector<std::string>& notes);

std::vector<costmodel::Islands> read_islands_section(Section& section, std::vector<std::string>& notes);

search::Goal read_goal_section(Section& section);

}  // namespace trainfront::inputs
