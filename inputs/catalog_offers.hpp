#pragma once

#include <string>
#include <vector>

#include "inputs/catalog.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

// Puts rows of one file over the catalogue's offers. A row is known by provider, region, zone, instance and
// price model: one of the same name is replaced; within the file the newest date wins, and two prices of one
// date are a fault. Both are noted, as are spot prices that are no bargain.
void merge_offers(Catalog& catalog, std::vector<OfferEntry> rows, Diagnostics& faults,
                  std::vector<std::string>& notes);

// YYYY, YYYY-MM or YYYY-MM-DD. As text such dates are in order; the less exact one counts as the older.
bool is_date(std::string_view text);

// "offers.csv:12", for notes.
std::string place(const OfferEntry& entry);

// "aws us-east-1 p5.48xlarge spot", for notes.
std::string describe(const costmodel::Offer& offer);

}  // namespace trainfront::inputs
