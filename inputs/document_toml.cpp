#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "inputs/document.hpp"

#include <toml++/toml.h>

namespace trainfront::inputs {
namespace {

constexpr int kMaxDepth = 32;

// Broken lines that are stepped over; a text with more is no sweep file.
constexpr int kMaxBrokenLines = 20;
constexpr std::size_t kMaxRereadBytes = 1u << 20;

Position position(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

// Steps over strings and comments; the places that remain are structure.
class Structure {
 public:
  explicit Structure(std::string_view text) : text_(text) {}

  // The next character outside strings and comments ('\0' at the end); place() is its offset.
  char next() {
    while (i_ < text_.size()) {
      place_ = i_;
      const char c = text_[i_];
      if (c == '#') {
        while (i_ < text_.size() && text_[i_] != '\n') ++i_;
      } else if (c == '"' || c == '\'') {
        skip_string(c);
        return 's';
      } else {
        ++i_;
        return c;
      }
    }
    place_ = text_.size();
    return '\0';
  }
  std::size_t place() const { return place_; }

 private:
  void skip_string(char quote) {
    const std::string fence(3, quote);
    const bool block = text_.substr(i_).starts_with(fence);
    const std::string_view end = block ? std::string_view(fence) : std::string_view(fence).substr(0, 1);
    i_ += end.size();
    while (i_ < text_.size() && !text_.substr(i_).starts_with(end)) {
      if (!block && text_[i_] == '\n') return;
      if (quote == '"' && text_[i_] == '\\') ++i_;
      ++i_;
    }
    i_ = std::min(text_.size(), i_ + end.size());
  }

  std::string_view text_;
  std::size_t i_ = 0;
  std::size_t place_ = 0;
};

// Line on which a dotted key has more parts, or brackets nest deeper, than kMaxDepth: toml++ builds and frees
// what it reads recursively.
std::optional<int> find_deep_line(std::string_view text) {
  Structure structure(text);
  int dots = 0, open = 0;
  while (const char c = structure.next()) {
    if (c == '.') ++dots;
    if (c == '[' || c == '{') ++open;
    if (c == ']' || c == '}') open = std::max(0, open - 1);
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
    if (dots <= kMaxDepth && open <= kMaxDepth) continue;
    const std::string_view before = text.substr(0, structure.place());
    return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  }
  return std::nullopt;
}

struct Line {
  std::size_t begin = 0;
  std::size_t end = 0;  // of its text, without the line break
};

std::optional<Line> find_line(std::string_view text, int number) {
  std::size_t begin = 0;
  for (int i = 1; i < number; ++i) {
    const std::size_t stop = text.find('\n', begin);
    if (stop == std::string_view::npos) return std::nullopt;
    begin = stop + 1;
  }
  return Line{begin, std::min(text.find('\n', begin), text.size())};
}

// What stands left of the first '=' of a line, if it looks like a key.
std::string key_on(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return {};
  std::string_view key = line.substr(0, equals);
  while (!key.empty() && (key.back() == ' ' || key.back() == '\t')) key.remove_suffix(1);
  while (!key.empty() && (key.front() == ' ' || key.front() == '\t')) key.remove_prefix(1);
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  return plain ? std::string(key) : std::string();
}

// A line whose loss changes the meaning of no other: "key = value" with all its brackets closed.
bool stands_alone(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line[first] == '[') return false;
  if (line.find("\"\"\"") != std::string_view::npos || line.find("'''") != std::string_view::npos)
    return false;
  int open = 0;
  bool assigns = false;
  Structure structure(line);
  while (const char c = structure.next()) {
    if (c == '[' || c == '{') ++open;
    if (c == ']' || c == '}') --open;
    assigns = assigns || c == '=';
  }
  return assigns && open == 0;
}

std::string in_plain_words(std::string_view description) {
  std::string text(description);
  for (const std::string_view lead : {"Error while parsing ", "Error while "})
    if (text.starts_with(lead)) {
      text.erase(0, lead.size());
      break;
    }
  return "syntax error in TOML: " + text;
}

Value convert(const toml::node& node, int depth, const std::string& file, Diagnostics& faults) {
  Value value;
  value.at = position(node.source());
  if (depth > kMaxDepth) {
    faults.add({file, value.at, "", fmt::format("values nest deeper than {}", kMaxDepth), "", "", ""});
    return value;
  }
  if (const auto* table = node.as_table()) {
    value.kind = Value::Kind::kTable;
    for (const auto& [key, member] : *table)
      value.members.push_back(
          {std::string(key.str()), position(key.source()), convert(member, depth + 1, file, faults)});
    std::stable_sort(value.members.begin(), value.members.end(),
                     [](const auto& a, const auto& b) { return a.value.at < b.value.at; });
  } else if (const auto* array = node.as_array()) {
    value.kind = Value::Kind::kList;
    for (const toml::node& item : *array) value.items.push_back(convert(item, depth + 1, file, faults));
  } else if (const auto* text = node.as_string()) {
    value.kind = Value::Kind::kText;
    value.text = text->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.kind = Value::Kind::kBoolean;
    value.boolean = boolean->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = Value::Kind::kInteger;
    value.integer = integer->get();
    value.real = static_cast<double>(value.integer);
  } else if (const auto* real = node.as_floating_point()) {
    value.kind = Value::Kind::kReal;
    value.real = real->get();
  } else {
    value.kind = Value::Kind::kDate;
    std::ostringstream written;
    node.visit([&](const auto& date) { written << date; });
    value.text = written.str();
  }
  return value;
}

}  // namespace

Document parse_toml(std::string_view text, std::string file, Diagnostics& faults) {
  Document document{std::move(file), {}, false};
  document.root.kind = Value::Kind::kTable;
  std::string rest(text);
  if (const auto line = find_deep_line(rest)) {
    faults.add(
        {document.file, {*line, 1}, "", fmt::format("values nest deeper than {}", kMaxDepth), "", "", ""});
    document.damaged = true;
    return document;
  }
  for (int broken = 0; broken <= kMaxBrokenLines; ++broken) {
    try {
      const toml::table table = toml::parse(std::string_view(rest), std::string_view(document.file));
      document.root = convert(table, 0, document.file, faults);
      return document;
    } catch (const toml::parse_error& error) {
      document.damaged = true;
      const Position at = position(error.source());
      const auto line = find_line(rest, at.line);
      const std::string_view written =
          line ? std::string_view(rest).substr(line->begin, line->end - line->begin) : std::string_view();
      faults.add({document.file, at, key_on(written), in_plain_words(error.description()), "", "", ""});
      if (!line || !stands_alone(written) || rest.size() > kMaxRereadBytes) return document;
      std::fill(rest.begin() + static_cast<std::ptrdiff_t>(line->begin),
                rest.begin() + static_cast<std::ptrdiff_t>(line->end), ' ');
    }
  }
  return document;
}

}  // namespace trainfront::inputs
