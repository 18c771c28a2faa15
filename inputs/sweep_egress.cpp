#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inputs/suggest.hpp"
#include "inputs/sweep_sections.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Offer;
using costmodel::PriceModel;

constexpr double kBytesPerGb = 1e9;
constexpr Range kUsdPerGb{0, 1e6, false};

// market.egress_usd_per_gb: one price for all providers, or a table by provider.
struct OwnPrices {
  std::optional<double> of_all;
  std::map<std::string, double> of_provider;
};

OwnPrices read_own_prices(Section& market, const std::vector<std::string>& providers) {
  constexpr std::string_view kKey = "egress_usd_per_gb";
  OwnPrices prices;
  const Value* value = market.find(kKey);
  if (value == nullptr) return prices;
  if (value->kind != Value::Kind::kTable) {
    prices.of_all = market.number(kKey, kUsdPerGb);
    return prices;
  }
  auto table = market.section(kKey);
  for (const std::string& provider : providers)
    if (const auto usd = table->number(provider, kUsdPerGb)) prices.of_provider[provider] = *usd;
  table->finish();
  return prices;
}

std::vector<std::string> providers_of(const Catalog& catalog,
                                      const std::vector<search::HardwareClass>& classes) {
  std::vector<std::string> providers = catalog.providers();
  for (const search::HardwareClass& entry : classes)
    for (const Offer& offer : entry.offers) providers.push_back(offer.provider);
  std::sort(providers.begin(), providers.end());
  providers.erase(std::unique(providers.begin(), providers.end()), providers.end());
  return providers;
}

// Dollars for `bytes` out of the offer's provider; nothing where the price is not known. What is owned has
// its own way out.
std::optional<double> transfer_usd(const Offer& offer, const OwnPrices& own, const Catalog& catalog,
                                   double bytes) {
  const double gb = bytes / kBytesPerGb;
  if (const auto at = own.of_provider.find(offer.provider); at != own.of_provider.end())
    return at->second * gb;
  if (offer.price_model == PriceModel::kOwned) return 0.0;
  if (own.of_all) return *own.of_all * gb;
  const EgressPrice* listed = catalog.find_egress(offer.provider);
  return listed != nullptr ? std::optional<double>(egress_usd(*listed, bytes)) : std::nullopt;
}

}  // namespace

void bill_egress(Section& market, const Catalog& catalog, std::vector<search::HardwareClass>& classes,
                 std::vector<std::string>& notes) {
  const auto bytes = market.size_bytes("egress", {0, 1e21, true});
  const OwnPrices own = read_own_prices(market, providers_of(catalog, classes));
  if (!bytes) {
    if (market.find("egress") == nullptr && market.find("egress_usd_per_gb") != nullptr)
      notes.push_back(
          "market.egress_usd_per_gb: has no effect without market.egress, the volume that leaves");
    return;
  }
  std::map<std::string, double> billed;
  std::vector<std::string> unknown;
  for (search::HardwareClass& entry : classes) {
    for (Offer& offer : entry.offers) {
      const auto usd = transfer_usd(offer, own, catalog, *bytes);
      offer.transfer_usd = usd.value_or(-1);
      if (usd) billed[offer.provider] = *usd;
      if (!usd && std::find(unknown.begin(), unknown.end(), offer.provider) == unknown.end())
        unknown.push_back(offer.provider);
    }
    std::erase_if(entry.offers, [](const Offer& offer) { return offer.transfer_usd < 0; });
  }
  std::erase_if(classes, [](const search::HardwareClass& entry) { return entry.offers.empty(); });
  if (!unknown.empty()) {
    const std::string gap = fmt::format("no price is known for data that leaves {}", join(unknown));
    const std::string way = fmt::format("egress_usd_per_gb = {{{} = ...}}", unknown.front());
    if (classes.empty()) {
      market.fault("egress", gap, way);
    } else {
      notes.push_back(fmt::format("market.egress: {}; its offers are left out, {} has them", gap, way));
    }
  }
  std::vector<std::string> bills;
  for (const auto& [provider, usd] : billed) bills.push_back(fmt::format("{} {:.2f} $", provider, usd));
  if (!bills.empty())
    notes.push_back(
        fmt::format("market.egress: {:g} GB that leave are billed: {}", *bytes / kBytesPerGb, join(bills)));
}

}  // namespace trainfront::inputs
