#pragma once

#include <compare>
#include <string>
#include <vector>

#include "inputs/catalog.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

// What tells offers apart; two of one name are two prices of one thing.
struct OfferName {
  std::string provider, region, instance;
  costmodel::PriceModel price_model = costmodel::PriceModel::kOnDemand;
  std::string zone;  // last, so that in order the zones of one place stand together

  auto operator<=>(const OfferName&) const = default;
  // Alike but for the zone.
  bool is_beside(const OfferName& other) const {
    return provider == other.provider && region == other.region && instance == other.instance &&
           price_model == other.price_model;
  }
};
OfferName name_of(const costmodel::Offer& offer);

// Puts rows of one file over the catalogue's offers. A row is known by provider, region, zone, instance and
// price model (OfferName): one of the same name is replaced; within the file the newest date wins, and two
// prices of one date are a fault. Both are noted, as are spot prices that are no bargain.
void merge_offers(Catalog& catalog, std::vector<OfferEntry> rows, Diagnostics& faults,
                  std::vector<std::string>& notes);

// YYYY, YYYY-MM or YYYY-MM-DD. As text such dates are in order; the less exact one counts as the older.
bool is_date(std::string_view text);

// "offers.csv:12", for notes.
std::string place(const OfferEntry& entry);

// "aws us-east-1 p5.48xlarge spot", for notes.
std::string describe(const costmodel::Offer& offer);

}  // namespace trainfront::inputs
