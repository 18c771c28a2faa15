#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "inputs/catalog_sections.hpp"
#include "inputs/quantity.hpp"

namespace trainfront::inputs {
namespace {

// A key that holds one value or a list of them.
std::vector<const Value*> values_of(Section& section, std::string_view key) {
  const Value* value = section.find(key);
  if (value == nullptr) return {};
  if (value->kind != Value::Kind::kList) return {value};
  std::vector<const Value*> values;
  for (const Value& item : value->items) values.push_back(&item);
  return values;
}

void read_egress_price(Section& section, Catalog& catalog) {
  constexpr double kBytesPerGb = 1e9;
  EgressPrice price;
  for (const char* key : {"provider", "usd_per_gb"}) section.require(key);
  price.provider = section.text("provider").value_or("");
  for (const Value* value : values_of(section, "up_to")) {
    const auto bytes = value->kind == Value::Kind::kText ? parse_size_bytes(value->text) : std::nullopt;
    const double before = price.up_to_bytes.empty() ? 0 : price.up_to_bytes.back();
    if (!bytes || !(*bytes > before)) {
      section.fault(*value, section.path("up_to"), "is no volume above those before it",
                    std::string(kSizeForm));
      continue;
    }
    price.up_to_bytes.push_back(*bytes);
  }
  for (const Value* value : values_of(section, "usd_per_gb"))
    if (const auto usd = section.number(*value, section.path("usd_per_gb"), kNotNegative))
      price.usd_per_byte.push_back(*usd / kBytesPerGb);
  read_origin(section, price.origin);
  section.finish();
  if (price.usd_per_byte.size() != price.up_to_bytes.size() + 1) {
    section.fault("usd_per_gb",
                  fmt::format("has {} prices, and up_to {} ends of steps", price.usd_per_byte.size(),
                              price.up_to_bytes.size()),
                  "one price more than ends: the last step has none");
    return;
  }
  std::erase_if(catalog.egress, [&](const EgressPrice& old) { return old.provider == price.provider; });
  catalog.egress.push_back(std::move(price));
}

}  // namespace

void read_egress_prices(Section& root, Catalog& catalog) {
  for (Section& section : root.sections("egress")) read_egress_price(section, catalog);
}

}  // namespace trainfront::inputs
