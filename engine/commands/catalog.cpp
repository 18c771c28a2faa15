#include "engine/commands/catalog.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "engine/atomic_file.hpp"
#include "engine/commands/catalog_view.hpp"
#include "engine/errors.hpp"
#include "engine/output_place.hpp"
#include "engine/terminal.hpp"
#include "inputs/catalog_offers.hpp"
#include "inputs/document.hpp"
#include "inputs/skypilot.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::engine {
namespace {

using inputs::Catalog;

using Names = std::vector<std::string>;

const Names kLists = {"devices", "networks", "nodes", "offers", "models", "failures", "egress"};

bool holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void unknown(std::string_view kind, const std::string& name, const Names& known) {
  const std::string meant = inputs::nearest(name, known);
  throw UsageError(fmt::format("unknown {} {}; {}", kind, inputs::in_quotes(name),
                               meant.empty() ? fmt::format("one of {}", inputs::join(known))
                                             : fmt::format("did you mean {}?", inputs::in_quotes(meant))));
}

void check(std::string_view kind, const Names& asked, const Names& known) {
  for (const std::string& name : asked)
    if (!holds(known, name)) unknown(kind, name, known);
}

bool lets(const Names& filter, std::string_view name) {
  return filter.empty() || holds(filter, name);
}

bool lets_offer(const CatalogOptions& options, const costmodel::Offer& offer) {
  return lets(options.devices, offer.device) && lets(options.providers, offer.provider) &&
         (lets(options.regions, offer.region) || offer.region == inputs::kAllRegions) &&
         lets(options.price_models, inputs::price_model_name(offer.price_model));
}

bool lets_node(const CatalogOptions& options, const inputs::NodeType& node) {
  return lets(options.devices, node.device) && lets(options.providers, node.provider);
}

// Entries that pass the filters; of one list, those of the given name.
CatalogView select(const Catalog& catalog, const CatalogOptions& options) {
  CatalogView view;
  view.catalog = &catalog;
  view.what = options.what;
  view.one = !options.name.empty();
  const auto wanted = [&](std::string_view list) { return options.what.empty() || options.what == list; };
  const auto named = [&](std::string_view name) { return options.name.empty() || options.name == name; };
  if (wanted("devices"))
    for (const auto* list : {&catalog.devices, &catalog.unmodelled})
      for (const auto& entry : *list)
        if (named(entry.device.id) && lets(options.devices, entry.device.id)) view.devices.push_back(&entry);
  if (wanted("networks"))
    for (const auto& entry : catalog.networks)
      if (named(entry.network.kind)) view.networks.push_back(&entry);
  if (wanted("nodes"))
    for (const auto& node : catalog.nodes)
      if (named(node.instance) && lets_node(options, node)) view.nodes.push_back(&node);
  if (wanted("offers"))
    for (const auto& entry : catalog.offers)
      if (named(entry.offer.instance) && lets_offer(options, entry.offer)) view.offers.push_back(&entry);
  if (wanted("models"))
    for (const auto& entry : catalog.models)
      if (named(entry.name)) view.models.push_back(&entry);
  view.failures = wanted("failures");
  if (wanted("egress"))
    for (const auto& price : catalog.egress)
      if (named(price.provider) && lets(options.providers, price.provider)) view.egress.push_back(&price);
  return view;
}

// The name that was asked for must be one.
void check_name(const Catalog& catalog, const CatalogOptions& options) {
  if (options.name.empty()) return;
  Names known;
  if (options.what == "devices")
    for (const auto* list : {&catalog.devices, &catalog.unmodelled})
      for (const auto& entry : *list) known.push_back(entry.device.id);
  if (options.what == "models") known = catalog.model_names();
  if (options.what == "networks")
    for (const auto& entry : catalog.networks) known.push_back(entry.network.kind);
  if (options.what == "nodes" || options.what == "offers")
    for (const auto& node : catalog.nodes) known.push_back(node.instance);
  if (options.what == "failures") throw UsageError("catalog failures takes no name");
  if (options.what == "egress")
    for (const auto& price : catalog.egress) known.push_back(price.provider);
  if (!holds(known, options.name))
    unknown(options.what == "egress" ? "provider" : options.what.substr(0, options.what.size() - 1),
            options.name, known);
}

// A filter that a list has nothing for would be left unheard.
void check_filters(const CatalogOptions& options) {
  struct Filter {
    const Names* asked;
    std::string_view flag;
    Names lists;  // that it applies to, beside the overview
  };
  for (const Filter& filter : {Filter{&options.devices, "--device", {"devices", "nodes", "offers", "import"}},
                               Filter{&options.providers, "--provider", {"nodes", "offers", "egress"}},
                               Filter{&options.regions, "--region", {"offers", "import"}},
                               Filter{&options.price_models, "--price-model", {"offers", "import"}}}) {
    if (filter.asked->empty() || options.what.empty() || holds(filter.lists, options.what)) continue;
    throw UsageError(fmt::format("{} does not apply to catalog {}; it does to {}", filter.flag, options.what,
                                 inputs::join(filter.lists)));
  }
}

Catalog read_catalogs(const CatalogOptions& options, std::vector<std::string>& notes) {
  Catalog catalog = inputs::builtin_catalog(&notes);
  inputs::Diagnostics faults;
  for (const std::string& file : options.files) inputs::add_catalog_file(catalog, file, faults, notes);
  faults.throw_if_any();
  return catalog;
}

int import_list(const CatalogOptions& options) {
  if (options.name.empty())
    throw UsageError("catalog import needs a file: trainfront catalog import FILE --cloud NAME");
  if (!options.as_of.empty() && !inputs::is_date(options.as_of))
    throw UsageError(fmt::format("--as-of {} is no date; write YYYY, YYYY-MM or YYYY-MM-DD",
                                 inputs::in_quotes(options.as_of)));
  std::vector<std::string> notes;
  Catalog catalog = read_catalogs(options, notes);
  Names clouds;
  for (const auto& node : catalog.nodes)
    if (!node.provider.empty() && !holds(clouds, node.provider)) clouds.push_back(node.provider);
  std::string cloud = options.cloud;
  if (cloud.empty()) cloud = inputs::guess_cloud(catalog, options.name).value_or("");
  if (cloud.empty())
    throw UsageError(fmt::format("the name of {} does not say of which cloud it is; add --cloud, one of {}",
                                 inputs::in_quotes(options.name), inputs::join(clouds)));
  if (!holds(clouds, cloud)) unknown("cloud", cloud, clouds);
  if (!options.output.empty()) check_output_place(options.output, "-o");

  inputs::Diagnostics faults;
  auto text = inputs::read_text(options.name, faults);
  faults.throw_if_any();
  auto rows =
      inputs::read_skypilot(catalog, std::move(*text), options.name, {cloud, options.as_of}, faults, notes);
  catalog.offers.clear();
  inputs::merge_offers(catalog, std::move(rows), faults, notes);
  faults.throw_if_any();
  check("device", options.devices, catalog.device_ids());
  check("region", options.regions, catalog.regions());
  check("price model", options.price_models, inputs::price_model_names());
  std::erase_if(catalog.offers, [&](const auto& entry) { return !lets_offer(options, entry.offer); });

  for (const std::string& note : notes) say(note);
  say(fmt::format("{} offers of {}", catalog.offers.size(), cloud));
  const std::string table = inputs::write_offers_csv(catalog.offers);
  if (!options.output.empty()) {
    write_file(options.output, table);
  } else if (!options.json) {
    print(table);
  }
  if (options.json) {
    CatalogOptions all = options;
    all.what = "offers";
    all.name.clear();
    CatalogView view = select(catalog, all);
    view.notes = notes;
    print(catalog_json(view));
  }
  return kDone;
}

}  // namespace

int run_catalog(const CatalogOptions& options) {
  const bool imports = options.what == "import";
  if (!options.what.empty() && !imports && !holds(kLists, options.what)) {
    Names known = kLists;
    known.emplace_back("import");
    unknown("list", options.what, known);
  }
  check_filters(options);
  if (imports) return import_list(options);
  for (const auto& [given, name] :
       {std::pair(&options.cloud, "--cloud"), std::pair(&options.as_of, "--as-of"),
        std::pair(&options.output, "--output")})
    if (!given->empty()) throw UsageError(fmt::format("{} belongs to trainfront catalog import", name));

  std::vector<std::string> notes;
  const Catalog catalog = read_catalogs(options, notes);
  check("device", options.devices, catalog.device_ids());
  check("provider", options.providers, catalog.providers());
  check("region", options.regions, catalog.regions());
  check("price model", options.price_models, inputs::price_model_names());
  check_name(catalog, options);
  CatalogView view = select(catalog, options);
  view.notes = notes;
  if (options.json) {
    print(catalog_json(view));
  } else {
    print(catalog_text(view));
  }
  for (const std::string& note : notes) say(note);
  return kDone;
}

}  // namespace trainfront::engine
