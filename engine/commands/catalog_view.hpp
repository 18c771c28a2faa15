#pragma once

#include <string>
#include <vector>

#include "engine/reports/json_writer.hpp"
#include "inputs/catalog.hpp"

namespace trainfront::engine {

// What of a catalogue is to be shown. Empty lists are not shown, but for the one that was asked for.
struct CatalogView {
  const inputs::Catalog* catalog = nullptr;
  std::string what;  // as in CatalogOptions
  bool one = false;  // a single entry was asked for by name
  std::vector<const inputs::DeviceEntry*> devices;
  std::vector<const inputs::NetworkEntry*> networks;
  std::vector<const inputs::NodeType*> nodes;
  std::vector<const inputs::OfferEntry*> offers;
  std::vector<const inputs::ModelEntry*> models;
  bool failures = false;
  std::vector<const inputs::EgressPrice*> egress;
  std::vector<std::string> notes;
};

// {"schema": 1, "devices": [...], ...}: the lists that were asked for, all of them in an overview.
std::string catalog_json(const CatalogView& view);

// Tables for a terminal.
std::string catalog_text(const CatalogView& view);

}  // namespace trainfront::engine
