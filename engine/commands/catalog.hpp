#pragma once

#include <string>
#include <vector>

namespace trainfront::engine {

struct CatalogOptions {
  bool json = false;
  std::string what;  // devices, networks, nodes, offers, models, failures or import; empty: an overview
  std::string name;  // of one entry; of the file to import
  std::vector<std::string> files;  // catalogues to put over the shipped one
  std::vector<std::string> devices, providers, regions, price_models;  // filters; empty: all
  std::string cloud;                                                   // import: the provider's name
  std::string as_of;                                                   // import: date of the list
  std::string output;  // import: file to write; empty: standard output
};

// Lists and inspects catalogues, and converts SkyPilot's price lists to ours. Throws UsageError and
// inputs::InputError.
int run_catalog(const CatalogOptions& options);

}  // namespace trainfront::engine
