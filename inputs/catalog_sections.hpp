#pragma once

#include "inputs/catalog.hpp"
#include "inputs/section.hpp"

namespace trainfront::inputs {

// The kinds of entries of a catalogue file in TOML; `root` is the whole file. Of an entry that is known
// already, keys that are absent keep their values; of a new one, those that matter must be there.
void read_devices(Section& root, Catalog& catalog);
void read_networks(Section& root, Catalog& catalog);
void read_nodes(Section& root, Catalog& catalog);
void read_failure_figures(Section& root, Catalog& catalog);  // node_failures, spot, recovery
void read_egress_prices(Section& root, Catalog& catalog);

// source, as_of and evidence.
void read_origin(Section& section, Origin& origin);

}  // namespace trainfront::inputs
