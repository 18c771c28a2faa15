#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "inputs/catalog_offers.hpp"
#include "inputs/csv_records.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Offer;
using costmodel::PriceModel;

// Reads one record of our offers table.
class OfferReader {
 public:
  OfferReader(const Catalog& catalog, const CsvFile& csv, Diagnostics& faults,
              std::vector<std::string>& notes)
      : catalog_(&catalog), csv_(&csv), faults_(&faults), notes_(&notes) {}

  // Nothing if the row cannot be used: then there is a fault, or a note where only the price is missing.
  std::optional<OfferEntry> read() {
    good_ = true;
    OfferEntry entry;
    Offer& offer = entry.offer;
    entry.file = csv_->name();
    entry.at = {static_cast<int>(csv_->line()), 1};
    offer.provider = needed("provider");
    offer.region = needed("region");
    offer.zone = field("zone");
    offer.instance = needed("instance");
    if (const auto model = choice("price_model", price_model_names()))
      offer.price_model = static_cast<PriceModel>(*model);
    offer.source = field("source");
    offer.as_of = field("as_of");
    if (!offer.as_of.empty() && !is_date(offer.as_of))
      fault("as_of", "is no date", "YYYY, YYYY-MM or YYYY-MM-DD");
    if (const auto nodes = number("max_nodes", "a whole number of 1 or more, or nothing"))
      offer.max_nodes = read_nodes(*nodes);
    if (const auto rate = number("preemptions_per_node_hour", "a number of 0 or more, or nothing"))
      offer.preemptions_per_node_hour = read_rate(*rate);
    if (const auto nodes = number("preempted_together", "a number of 1 or more, or nothing"))
      offer.preempted_together = read_together(*nodes);
    entry.evidence = field("evidence");
    entry.note = field("note");
    read_hardware(offer);
    if (!read_price(offer) || !good_) return std::nullopt;
    return entry;
  }

 private:
  std::string field(std::string_view column) const {
    const auto at = csv_->find_column(column);
    return at ? std::string((*csv_)[*at]) : std::string();
  }

  std::string needed(std::string_view column) {
    std::string text = field(column);
    if (text.empty()) fault(column, "is empty");
    return text;
  }

  void fault(std::string_view column, std::string problem, std::string allowed = {},
             std::string suggestion = {}) {
    good_ = false;
    const auto at = csv_->find_column(column);
    const Position position =
        at ? Position{static_cast<int>(csv_->line_of(*at)), static_cast<int>(csv_->column_of(*at))}
           : Position{static_cast<int>(csv_->line()), 1};
    const std::string found = at && !(*csv_)[*at].empty() ? in_quotes((*csv_)[*at]) : std::string();
    faults_->add({csv_->name(), position, std::string(column), std::move(problem), found, std::move(allowed),
                  std::move(suggestion)});
  }

  std::optional<std::size_t> choice(std::string_view column, const std::vector<std::string>& names) {
    const std::string text = needed(column);
    if (text.empty()) return std::nullopt;
    const auto found = std::find(names.begin(), names.end(), text);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    fault(column, "unknown name", join(names), nearest(text, names));
    return std::nullopt;
  }

  std::optional<double> number(std::string_view column, std::string_view allowed) {
    const std::string text = field(column);
    if (text.empty()) return std::nullopt;
    const auto value = csv_number(text);
    if (!value) fault(column, "is no finite number", std::string(allowed));
    return value;
  }

  std::int64_t read_nodes(double value) {
    if (value >= 1 && value <= 1e9 && value == std::floor(value)) return static_cast<std::int64_t>(value);
    fault("max_nodes", "is out of range", "a whole number from 1 to 1000000000, or nothing");
    return 0;
  }

  double read_rate(double value) {
    if (value >= 0) return value;
    fault("preemptions_per_node_hour", "is out of range", "a number of 0 or more, or nothing");
    return 0;
  }

  double read_together(double value) {
    if (value >= 1 && value <= 1e6) return value;
    fault("preempted_together", "is out of range", "a number from 1 to 1000000, or nothing");
    return 1;
  }

  void read_hardware(Offer& offer) {
    if (offer.instance.empty()) return;
    const NodeType* node = catalog_->find_node(offer.provider, offer.instance);
    if (node == nullptr) {
      const std::vector<std::string> known = catalog_->instances(offer.provider);
      fault("instance", "unknown instance: describe it under [[node]] in a catalogue file", join(known),
            nearest(offer.instance, known));
      return;
    }
    offer.device = node->device;
    offer.gpus_per_node = node->gpus_per_node;
    check_stated("device", node->device);
    check_stated("gpus_per_node", std::to_string(node->gpus_per_node));
  }

  // Columns that people may add for themselves must not contradict the node type.
  void check_stated(std::string_view column, const std::string& known) {
    const std::string text = field(column);
    if (!text.empty() && text != known) fault(column, "differs from the node type's", known);
  }

  // False: no usable price, which is noted or a fault.
  bool read_price(Offer& offer) {
    constexpr std::string_view kPrice = "usd_per_node_hour";
    const std::string text = field(kPrice);
    std::string letters = text;
    std::transform(letters.begin(), letters.end(), letters.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (letters.empty() || letters == "nan" || letters == "n/a" || letters == "na" || letters == "null") {
      notes_->push_back(fmt::format("{}: {}: no price ({}); the row is left out", csv_->position(),
                                    describe(offer), text.empty() ? "empty" : text));
      return false;
    }
    const auto price = csv_number(text);
    if (!price) {
      fault(kPrice, "is no finite number", "dollars per node and hour");
      return false;
    }
    if (*price < 0 || (*price == 0 && offer.price_model != PriceModel::kOwned)) {
      fault(kPrice, "is out of range", "a number above 0; 0 only with price model owned");
      return false;
    }
    offer.usd_per_node_hour = *price;
    return true;
  }

  const Catalog* catalog_;
  const CsvFile* csv_;
  Diagnostics* faults_;
  std::vector<std::string>* notes_;
  bool good_ = true;
};

}  // namespace

void add_offers_csv(Catalog& catalog, std::string text, const std::string& name, Diagnostics& faults,
                    std::vector<std::string>& notes) {
  std::vector<OfferEntry> rows;
  try {
    CsvFile csv(name, std::move(text), {.comment = '#'});
    static const std::vector<std::string> kColumns = {"provider",
                                                      "region",
                                                      "zone",
                                                      "instance",
                                                      "device",
                                                      "gpus_per_node",
                                                      "price_model",
                                                      "usd_per_node_hour",
                                                      "max_nodes",
                                                      "preemptions_per_node_hour",
                                                      "preempted_together",
                                                      "as_of",
                                                      "evidence",
                                                      "source",
                                                      "note"};
    for (const std::string& column : csv.header())
      if (std::find(kColumns.begin(), kColumns.end(), column) == kColumns.end())
        faults.add({name, {1, 1}, column, "unknown column", "", join(kColumns), nearest(column, kColumns)});
    bool complete = true;
    for (const char* column : {"provider", "region", "instance", "price_model", "usd_per_node_hour"})
      if (!csv.find_column(column)) {
        faults.add({name, {1, 1}, column, "this column is missing", join(csv.header()), "", ""});
        complete = false;
      }
    if (!complete) return;
    OfferReader reader(catalog, csv, faults, notes);
    while (next_record(csv, faults))
      if (auto row = reader.read()) rows.push_back(std::move(*row));
  } catch (const CsvError& error) {
    return faults.add(to_fault(error));
  }
  merge_offers(catalog, std::move(rows), faults, notes);
}

}  // namespace trainfront::inputs
