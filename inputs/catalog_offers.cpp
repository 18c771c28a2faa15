#include "inputs/catalog_offers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace trainfront::inputs {
namespace {

using costmodel::Offer;
using costmodel::PriceModel;

// Rounding apart: lists give four to six decimals.
bool differ(double a, double b) {
  return std::abs(a - b) > 1e-5 * std::abs(b);
}

bool same_row(const Offer& a, const Offer& b) {
  return a.provider == b.provider && a.region == b.region && a.zone == b.zone && a.instance == b.instance &&
         a.price_model == b.price_model;
}

bool same_place(const Offer& a, const Offer& b) {
  const bool zones_meet = a.zone.empty() || b.zone.empty() || a.zone == b.zone;
  return a.provider == b.provider && a.region == b.region && a.instance == b.instance && zones_meet;
}

// Keeps the newest of rows of the same name.
std::vector<OfferEntry> newest(std::vector<OfferEntry> rows, Diagnostics& faults,
                               std::vector<std::string>& notes) {
  std::vector<OfferEntry> kept;
  for (OfferEntry& row : rows) {
    const auto twin = std::find_if(kept.begin(), kept.end(),
                                   [&](const OfferEntry& other) { return same_row(other.offer, row.offer); });
    if (twin == kept.end()) {
      kept.push_back(std::move(row));
      continue;
    }
    const double price = row.offer.usd_per_node_hour, other_price = twin->offer.usd_per_node_hour;
    if (row.offer.as_of == twin->offer.as_of && price != other_price) {
      faults.add({row.file, row.at, "usd_per_node_hour",
                  fmt::format("{} has a second price of the same date; {} says {}", describe(row.offer),
                              place(*twin), other_price),
                  fmt::format("{}", price), "one price for a place, instance, price model and date", ""});
      continue;
    }
    const bool newer = row.offer.as_of > twin->offer.as_of;
    const OfferEntry& winner = newer ? row : *twin;
    const OfferEntry& loser = newer ? *twin : row;
    if (price != other_price)
      notes.push_back(fmt::format("{}: {}: {} $/h of {} stands, newer than {} $/h of {} in {}", place(winner),
                                  describe(winner.offer), winner.offer.usd_per_node_hour, winner.offer.as_of,
                                  loser.offer.usd_per_node_hour,
                                  loser.offer.as_of.empty() ? "no date" : loser.offer.as_of, place(loser)));
    if (newer) *twin = std::move(row);
  }
  return kept;
}

void note_odd_spot_prices(const Catalog& catalog, const std::vector<OfferEntry>& rows,
                          std::vector<std::string>& notes) {
  std::set<std::string> said;
  for (const OfferEntry& spot : catalog.offers) {
    if (spot.offer.price_model != PriceModel::kSpot) continue;
    for (const OfferEntry& list : catalog.offers) {
      const bool concerns_rows = std::any_of(rows.begin(), rows.end(), [&](const OfferEntry& row) {
        return same_row(row.offer, spot.offer) || same_row(row.offer, list.offer);
      });
      if (!concerns_rows || list.offer.price_model != PriceModel::kOnDemand ||
          !same_place(spot.offer, list.offer))
        continue;
      if (spot.offer.usd_per_node_hour < list.offer.usd_per_node_hour) continue;
      std::string note = fmt::format(
          "{}: warning: {}: spot at {} $/h is not below on-demand at {} $/h ({}): it is dominated, and often "
          "means that "
          "nothing is for sale",
          place(spot), describe(spot.offer), spot.offer.usd_per_node_hour, list.offer.usd_per_node_hour,
          place(list));
      if (said.insert(note).second) notes.push_back(std::move(note));
    }
  }
}

}  // namespace

bool is_date(std::string_view text) {
  static constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !digit : text[i] != '-') return false;
  }
  const auto two = [&](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  return (text.size() < 7 || (two(5) >= 1 && two(5) <= 12)) &&
         (text.size() < 10 || (two(8) >= 1 && two(8) <= 31));
}

std::string place(const OfferEntry& entry) {
  return fmt::format("{}:{}", entry.file, entry.at.line);
}

std::string describe(const Offer& offer) {
  std::string text = offer.provider + " " + offer.region;
  if (!offer.zone.empty()) text += "/" + offer.zone;
  return text + " " + offer.instance + " " + std::string(price_model_name(offer.price_model));
}

void merge_offers(Catalog& catalog, std::vector<OfferEntry> rows, Diagnostics& faults,
                  std::vector<std::string>& notes) {
  const std::vector<OfferEntry> fresh = newest(std::move(rows), faults, notes);
  for (const OfferEntry& row : fresh) {
    const auto old = std::find_if(catalog.offers.begin(), catalog.offers.end(),
                                  [&](const OfferEntry& entry) { return same_row(entry.offer, row.offer); });
    if (old == catalog.offers.end()) {
      catalog.offers.push_back(row);
      continue;
    }
    if (differ(old->offer.usd_per_node_hour, row.offer.usd_per_node_hour))
      notes.push_back(fmt::format("{}: {}: {} $/h replaces {} $/h of {}", place(row), describe(row.offer),
                                  row.offer.usd_per_node_hour, old->offer.usd_per_node_hour, place(*old)));
    *old = row;
  }
  note_odd_spot_prices(catalog, fresh, notes);
}

}  // namespace trainfront::inputs
