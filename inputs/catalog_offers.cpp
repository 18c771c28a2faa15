#include "inputs/catalog_offers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace trainfront::inputs {
namespace {

using costmodel::Offer;
using costmodel::PriceModel;

// Rounding apart: lists give four to six decimals.
bool differ(double a, double b) {
  return std::abs(a - b) > 1e-5 * std::abs(b);
}

// Where rows stand in a list, by name.
std::map<OfferName, std::size_t> positions(const std::vector<OfferEntry>& rows) {
  std::map<OfferName, std::size_t> at;
  for (std::size_t i = 0; i < rows.size(); ++i) at.emplace(name_of(rows[i].offer), i);
  return at;
}

// Keeps the newest of rows of the same name.
std::vector<OfferEntry> newest(std::vector<OfferEntry> rows, Diagnostics& faults,
                               std::vector<std::string>& notes) {
  std::vector<OfferEntry> kept;
  std::map<OfferName, std::size_t> at;
  for (OfferEntry& row : rows) {
    const auto [found, is_new] = at.emplace(name_of(row.offer), kept.size());
    if (is_new) {
      kept.push_back(std::move(row));
      continue;
    }
    OfferEntry* const twin = &kept[found->second];
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

// On-demand prices that hold where a spot price does: of its zone, of its region, or, for one of the whole
// region, of any zone.
std::vector<std::size_t> prices_beside(const Offer& spot, const std::map<OfferName, std::size_t>& on_demand) {
  std::vector<std::size_t> beside;
  OfferName name = name_of(spot);
  name.price_model = PriceModel::kOnDemand;
  const bool any_zone = spot.zone.empty();
  for (const std::string& zone : {std::string(), spot.zone}) {
    name.zone = zone;
    auto at = on_demand.lower_bound(name);
    for (; at != on_demand.end() && at->first.is_beside(name) && (any_zone || at->first.zone == zone); ++at)
      beside.push_back(at->second);
    if (any_zone) break;
  }
  return beside;
}

void note_odd_spot_prices(const Catalog& catalog, const std::vector<OfferEntry>& rows,
                          std::vector<std::string>& notes) {
  const std::map<OfferName, std::size_t> fresh = positions(rows);
  std::map<OfferName, std::size_t> on_demand;
  for (std::size_t i = 0; i < catalog.offers.size(); ++i)
    if (catalog.offers[i].offer.price_model == PriceModel::kOnDemand)
      on_demand.emplace(name_of(catalog.offers[i].offer), i);
  for (const OfferEntry& spot : catalog.offers) {
    if (spot.offer.price_model != PriceModel::kSpot) continue;
    for (const std::size_t at : prices_beside(spot.offer, on_demand)) {
      const OfferEntry& list = catalog.offers[at];
      const bool concerns_rows = fresh.contains(name_of(spot.offer)) || fresh.contains(name_of(list.offer));
      if (!concerns_rows || spot.offer.usd_per_node_hour < list.offer.usd_per_node_hour) continue;
      notes.push_back(fmt::format(
          "{}: warning: {}: spot at {} $/h is not below on-demand at {} $/h ({}): it is dominated, and often "
          "means that "
          "nothing is for sale",
          place(spot), describe(spot.offer), spot.offer.usd_per_node_hour, list.offer.usd_per_node_hour,
          place(list)));
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

OfferName name_of(const Offer& offer) {
  return {offer.provider, offer.region, offer.instance, offer.price_model, offer.zone};
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
  const std::map<OfferName, std::size_t> known = positions(catalog.offers);
  for (const OfferEntry& row : fresh) {
    const auto at = known.find(name_of(row.offer));
    if (at == known.end()) {
      catalog.offers.push_back(row);
      continue;
    }
    OfferEntry* const old = &catalog.offers[at->second];
    if (differ(old->offer.usd_per_node_hour, row.offer.usd_per_node_hour))
      notes.push_back(fmt::format("{}: {}: {} $/h replaces {} $/h of {}", place(row), describe(row.offer),
                                  row.offer.usd_per_node_hour, old->offer.usd_per_node_hour, place(*old)));
    *old = row;
  }
  note_odd_spot_prices(catalog, fresh, notes);
}

}  // namespace trainfront::inputs
