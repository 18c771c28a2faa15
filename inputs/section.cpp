#include "inputs/section.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "inputs/quantity.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::inputs {
namespace {

bool holds(const Range& range, double value) {
  return std::isfinite(value) && value <= range.max && (range.above ? value > range.min : value >= range.min);
}

std::string shown(double bound) {
  return bound == std::floor(bound) && std::abs(bound) < 1e15 ? fmt::format("{:.0f}", bound)
                                                              : fmt::format("{}", bound);
}

// A number in quotes is the commonest wrong type; say what to do about it.
std::string wrong_type(const Value& value, std::string_view wanted) {
  if (value.kind == Value::Kind::kText && parse_money_usd(value.text))
    return fmt::format("must be {}, not text; write it without quotes", wanted);
  return fmt::format("must be {}", wanted);
}

}  // namespace

std::string describe(const Range& range, std::string_view noun) {
  const bool open_above = std::isinf(range.max), open_below = std::isinf(range.min);
  std::string text(noun);
  if (!open_below && !open_above)
    return text +
           (range.above ? " above " + shown(range.min) + " and at most "
                        : " from " + shown(range.min) + " to ") +
           shown(range.max);
  if (!open_below)
    text += range.above ? " above " + shown(range.min) : " of " + shown(range.min) + " or more";
  if (!open_above) text += fmt::format(" of at most {}", shown(range.max));
  return text;
}

Section::Section(const Document& document, const Value& table, std::string path, Diagnostics& faults)
    : document_(&document), table_(&table), path_(std::move(path)), faults_(&faults) {}

std::string Section::path(std::string_view key) const {
  return path_.empty() ? std::string(key) : key.empty() ? path_ : path_ + "." + std::string(key);
}

const Value* Section::find(std::string_view key) {
  if (!knows(key)) known_.emplace_back(key);
  return table_->find(key);
}

const Value* Section::require(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) fault(key, "is missing");
  return value;
}

std::optional<double> Section::number(const Value& value, const std::string& key, Range range) {
  if (value.is_number() && holds(range, value.real)) return value.real;
  fault(value, key, value.is_number() ? "is out of range" : wrong_type(value, "a number"),
        describe(range, "a number"));
  return std::nullopt;
}

std::optional<std::int64_t> Section::integer(const Value& value, const std::string& key, std::int64_t min,
                                             std::int64_t max) {
  const std::string allowed =
      describe(Range{static_cast<double>(min), static_cast<double>(max), false}, "a whole number");
  // A real that is whole (1e6) is fine as long as a double tells it from its neighbours.
  const bool whole = value.kind == Value::Kind::kReal && std::abs(value.real) <= 9007199254740992.0 &&
                     value.real == std::floor(value.real);
  if (value.kind != Value::Kind::kInteger && !whole) {
    fault(value, key, value.is_number() ? "must be a whole number" : wrong_type(value, "a whole number"),
          allowed);
    return std::nullopt;
  }
  const std::int64_t number = whole ? static_cast<std::int64_t>(value.real) : value.integer;
  if (number >= min && number <= max) return number;
  fault(value, key, "is out of range", allowed);
  return std::nullopt;
}

std::optional<std::size_t> Section::choice(const Value& value, const std::string& key,
                                           std::span<const std::string> names) {
  if (value.kind != Value::Kind::kText) {
    fault(value, key, "must be a name in quotes", join(names));
    return std::nullopt;
  }
  const auto found = std::find(names.begin(), names.end(), value.text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  fault(value, key, "unknown name", join(names), nearest(value.text, names));
  return std::nullopt;
}

std::optional<double> Section::number(std::string_view key, Range range) {
  const Value* value = find(key);
  return value != nullptr ? number(*value, path(key), range) : std::nullopt;
}

std::optional<std::int64_t> Section::integer(std::string_view key, std::int64_t min, std::int64_t max) {
  const Value* value = find(key);
  return value != nullptr ? integer(*value, path(key), min, max) : std::nullopt;
}

std::optional<std::size_t> Section::choice(std::string_view key, std::span<const std::string> names) {
  const Value* value = find(key);
  return value != nullptr ? choice(*value, path(key), names) : std::nullopt;
}

std::optional<bool> Section::boolean(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == Value::Kind::kBoolean) return value->boolean;
  fault(*value, path(key), "must be true or false, without quotes");
  return std::nullopt;
}

std::optional<std::string> Section::text(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == Value::Kind::kText && !value->text.empty()) return value->text;
  fault(*value, path(key), value->kind == Value::Kind::kText ? "is empty" : "must be text in quotes");
  return std::nullopt;
}

std::optional<double> Section::quantity(std::string_view key, Range range, Parser parse,
                                        std::string_view form, bool bare_number) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::optional<double> read;
  if (value->kind == Value::Kind::kText) {
    read = parse(value->text);
    if (!read) fault(*value, path(key), "cannot be read as a quantity", std::string(form));
  } else if (value->is_number() && bare_number) {
    read = value->real;
  } else {
    fault(*value, path(key), value->is_number() ? "needs its unit" : "must be a quantity", std::string(form));
  }
  if (!read || holds(range, *read)) return read;
  fault(*value, path(key), "is out of range", describe(range, std::string(form) + ","));
  return std::nullopt;
}

std::optional<double> Section::duration_s(std::string_view key, Range range) {
  return quantity(key, range, parse_duration_s, kDurationForm, true);
}

std::optional<double> Section::money_usd(std::string_view key, Range range) {
  return quantity(key, range, parse_money_usd, kMoneyForm, true);
}

std::optional<double> Section::size_bytes(std::string_view key, Range range) {
  return quantity(key, range, parse_size_bytes, kSizeForm, false);
}

std::optional<double> Section::rate_bytes_per_s(std::string_view key, Range range) {
  return quantity(key, range, parse_rate_bytes_per_s, kRateForm, false);
}

std::optional<std::vector<std::string>> Section::texts(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const bool list = value->kind == Value::Kind::kList;
  if (!list && value->kind != Value::Kind::kText) {
    fault(*value, path(key), "must be text in quotes or a list of such");
    return std::nullopt;
  }
  constexpr std::size_t kMaxTexts = 1000;
  if (value->items.size() > kMaxTexts) {
    fault(*value, path(key), "is too long", fmt::format("at most {} texts", kMaxTexts));
    return std::nullopt;
  }
  std::vector<std::string> texts;
  const std::size_t count = list ? value->items.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const Value& item = list ? value->items[i] : *value;
    const std::string item_key = list ? fmt::format("{}[{}]", path(key), i + 1) : path(key);
    if (item.kind != Value::Kind::kText || item.text.empty()) {
      fault(item, item_key, item.kind == Value::Kind::kText ? "is empty" : "must be text in quotes");
    } else if (std::find(texts.begin(), texts.end(), item.text) == texts.end()) {
      texts.push_back(item.text);
    }
  }
  return texts;
}

std::optional<Section> Section::section(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == Value::Kind::kTable) return Section(*document_, *value, path(key), *faults_);
  fault(*value, path(key), fmt::format("must be a table: [{}]", path(key)));
  return std::nullopt;
}

std::vector<Section> Section::sections(std::string_view key) {
  const Value* value = find(key);
  std::vector<Section> sections;
  if (value == nullptr) return sections;
  const bool tables = value->kind == Value::Kind::kList &&
                      std::all_of(value->items.begin(), value->items.end(),
                                  [](const Value& item) { return item.kind == Value::Kind::kTable; });
  if (!tables) {
    fault(*value, path(key), fmt::format("must be an array of tables: [[{}]]", path(key)));
    return sections;
  }
  for (std::size_t i = 0; i < value->items.size(); ++i)
    sections.emplace_back(*document_, value->items[i], fmt::format("{}[{}]", path(key), i + 1), *faults_);
  return sections;
}

bool Section::knows(std::string_view key) const {
  return std::find(known_.begin(), known_.end(), key) != known_.end();
}

void Section::learn(const Section& other) {
  for (const std::string& key : other.known_) find(key);
}

void Section::finish() {
  for (const Value::Member& member : table_->members) {
    if (faults_->full()) return;
    if (knows(member.key)) continue;
    const std::string shown_key = in_quotes(member.key);
    faults_->add({document_->file, member.at.line > 0 ? member.at : member.value.at,
                  path(shown_key.substr(1, shown_key.size() - 2)), "unknown key", "", join(known_),
                  nearest(member.key, known_)});
  }
}

void Section::fault(const Value& at, const std::string& key, std::string problem, std::string allowed,
                    std::string suggestion) {
  faults_->add({document_->file, at.at, key, std::move(problem), describe(at), std::move(allowed),
                std::move(suggestion)});
}

void Section::fault(std::string_view key, std::string problem, std::string allowed, std::string suggestion) {
  const Value* value = key.empty() ? nullptr : table_->find(key);
  // In a damaged document the key may stand on a line that could not be read, which is a fault already.
  if (value == nullptr && document_->damaged) return;
  faults_->add({document_->file, value != nullptr ? value->at : table_->at, path(key), std::move(problem), "",
                std::move(allowed), std::move(suggestion)});
}

}  // namespace trainfront::inputs
