#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/document.hpp"

namespace trainfront::inputs {

// Numbers a key may hold; both ends belong to it unless `above` is set, which leaves out the lower one.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above = false;
};
inline constexpr Range kPositive{0, std::numeric_limits<double>::infinity(), true};
inline constexpr Range kNotNegative{0, std::numeric_limits<double>::infinity(), false};

// "a number above 0", "a whole number from 1 to 8".
std::string describe(const Range& range, std::string_view noun);

// One table of a document while it is read. Each look-up names a known key; what is wrong with its value is
// reported, and nothing is returned then, as for a key that is not there. finish() reports the keys that
// nobody asked for.
class Section {
 public:
  // `path` names the table in messages ("market.offer[2]"; empty for the root). Outlived by all arguments.
  Section(const Document& document, const Value& table, std::string path, Diagnostics& faults);

  const Value* find(std::string_view key);
  // The same for a key that must be there.
  const Value* require(std::string_view key);

  std::optional<double> number(std::string_view key, Range range = {});
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t min, std::int64_t max);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::string> text(std::string_view key);  // not empty
  // Position in `names`.
  std::optional<std::size_t> choice(std::string_view key, std::span<const std::string> names);
  std::optional<double> duration_s(std::string_view key, Range range = kNotNegative);
  std::optional<double> money_usd(std::string_view key, Range range = kNotNegative);
  std::optional<double> size_bytes(std::string_view key, Range range = kPositive);
  std::optional<double> rate_bytes_per_s(std::string_view key, Range range = kPositive);
  // A text or a list of texts, without repetitions.
  std::optional<std::vector<std::string>> texts(std::string_view key);
  // A table below this one; nothing if absent or no table.
  std::optional<Section> section(std::string_view key);
  // The tables of an array of tables ([[path.key]]).
  std::vector<Section> sections(std::string_view key);

  // Of a single value, wherever it stands; `key` is its full path.
  std::optional<double> number(const Value& value, const std::string& key, Range range);
  std::optional<std::int64_t> integer(const Value& value, const std::string& key, std::int64_t min,
                                      std::int64_t max);
  std::optional<std::size_t> choice(const Value& value, const std::string& key,
                                    std::span<const std::string> names);

  // Whether a look-up has named the key.
  bool knows(std::string_view key) const;
  // Takes the known keys of another reading of the same table.
  void learn(const Section& other);

  // Reports the keys that no look-up named. To be called last.
  void finish();

  // A fault of the value at `at`.
  void fault(const Value& at, const std::string& key, std::string problem, std::string allowed = {},
             std::string suggestion = {});
  // The same where there is no value to show: of the key, or of the section where the key is absent.
  void fault(std::string_view key, std::string problem, std::string allowed = {},
             std::string suggestion = {});

  std::string path(std::string_view key) const;  // "market.offer[2].device"
  const Value& table() const { return *table_; }
  const Document& document() const { return *document_; }
  Diagnostics& faults() { return *faults_; }

 private:
  using Parser = std::optional<double> (*)(std::string_view);
  std::optional<double> quantity(std::string_view key, Range range, Parser parse, std::string_view form,
                                 bool bare_number);

  const Document* document_;
  const Value* table_;
  std::string path_;
  Diagnostics* faults_;
  std::vector<std::string> known_;
};

}  // namespace trainfront::inputs
