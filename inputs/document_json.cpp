#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "inputs/document.hpp"

namespace trainfront::inputs {
namespace {

constexpr std::size_t kMaxDepth = 32;

// Python writes NaN and Infinity bare. They become strings of the same length, which the text has nowhere
// else.
struct Extended {
  std::string_view written;
  std::string_view stand_in;
  double value;
};
constexpr Extended kExtended[] = {
    {"-Infinity", "\"\x7F-infty\"", -std::numeric_limits<double>::infinity()},
    {"Infinity", "\"\x7Finfty\"", std::numeric_limits<double>::infinity()},
    {"NaN", "\"\x7F\"", std::numeric_limits<double>::quiet_NaN()},
};

std::string with_stand_ins(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '"') {
      for (++i; i < out.size() && out[i] != '"'; ++i)
        if (out[i] == '\\') ++i;
      continue;
    }
    for (const Extended& extended : kExtended)
      if (std::string_view(out).substr(i).starts_with(extended.written)) {
        out.replace(i, extended.written.size(), extended.stand_in);
        i += extended.stand_in.size() - 1;
        break;
      }
  }
  return out;
}

// Reads bytes and counts them: the parser's own events tell no positions.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    *furthest_ = std::max(*furthest_, at_);
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

class Builder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  Builder(std::string_view text, const char* const* furthest, Document& document, Diagnostics& faults)
      : text_(text), furthest_(furthest), document_(document), faults_(faults) {}

  bool null() { return put({}); }
  bool boolean(bool boolean) {
    Value value;
    value.kind = Value::Kind::kBoolean;
    value.boolean = boolean;
    return put(std::move(value));
  }
  bool number_integer(number_integer_t integer) {
    Value value;
    value.kind = Value::Kind::kInteger;
    value.integer = integer;
    value.real = static_cast<double>(integer);
    return put(std::move(value));
  }
  bool number_unsigned(number_unsigned_t integer) {
    if (integer <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return number_integer(static_cast<number_integer_t>(integer));
    return number_float(static_cast<double>(integer), {});
  }
  bool number_float(number_float_t real, const string_t&) {
    Value value;
    value.kind = Value::Kind::kReal;
    value.real = real;
    return put(std::move(value));
  }
  bool string(string_t& text) {
    for (const Extended& extended : kExtended)
      if (text == extended.stand_in.substr(1, extended.stand_in.size() - 2))
        return number_float(extended.value, {});
    Value value;
    value.kind = Value::Kind::kText;
    value.text = std::move(text);
    return put(std::move(value));
  }
  bool binary(binary_t&) { return false; }
  bool key(string_t& key) {
    key_ = std::move(key);
    key_at_ = advance();
    return true;
  }
  bool start_object(std::size_t) { return open(Value::Kind::kTable); }
  bool start_array(std::size_t) { return open(Value::Kind::kList); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t offset, const std::string&, const nlohmann::json::exception& error) {
    fault(place(offset > 0 ? offset - 1 : 0), in_plain_words(error.what()));
    return false;
  }

 private:
  struct Open {
    Value value;
    std::string key;
    Position key_at;
    std::unordered_set<std::string> keys;
  };

  static std::string in_plain_words(std::string_view what) {
    const std::size_t dash = what.find(" - ");
    const std::size_t colon = what.find(": ");
    const std::size_t from = dash != std::string_view::npos    ? dash + 3
                             : colon != std::string_view::npos ? colon + 2
                                                               : 0;
    // The library repeats all it has read of the token: cut, and nothing a terminal could act on.
    const std::string shown = in_quotes(what.substr(from));
    return "syntax error in JSON: " + shown.substr(1, shown.size() - 2);
  }

  Position place(std::size_t offset) {
    for (; counted_ < std::min(offset, text_.size()); ++counted_) {
      if (text_[counted_] == '\n') {
        ++line_;
        column_ = 1;
      } else if ((static_cast<unsigned char>(text_[counted_]) & 0xC0) != 0x80) {
        ++column_;
      }
    }
    return {line_, column_};
  }

  // Where the event's token begins: the first byte behind the event before it that is no separator.
  Position advance() {
    while (begin_ < text_.size() &&
           std::string_view(" \t\r\n,:]}").find(text_[begin_]) != std::string_view::npos)
      ++begin_;
    const Position at = place(begin_);
    // A number ends one byte before what has been read.
    begin_ = static_cast<std::size_t>(*furthest_ - text_.data());
    return at;
  }

  bool put(Value value) {
    value.at = advance();
    return attach(std::move(value), std::move(key_), key_at_);
  }

  bool attach(Value value, std::string key, Position key_at) {
    if (open_.empty()) {
      document_.root = std::move(value);
      return true;
    }
    Open& parent = open_.back();
    if (parent.value.kind == Value::Kind::kList) {
      parent.value.items.push_back(std::move(value));
      return true;
    }
    if (!parent.keys.insert(key).second) {
      faults_.add(
          {document_.file, key_at, key, "the key stands here a second time", describe(value), "", ""});
      document_.damaged = true;
      return true;
    }
    parent.value.members.push_back({std::move(key), key_at, std::move(value)});
    return true;
  }

  bool open(Value::Kind kind) {
    Open opened;
    opened.value.kind = kind;
    opened.value.at = advance();
    opened.key = std::move(key_);
    opened.key_at = key_at_;
    if (open_.size() >= kMaxDepth) {
      fault(opened.value.at, fmt::format("values nest deeper than {}", kMaxDepth));
      return false;
    }
    open_.push_back(std::move(opened));
    return true;
  }

  bool close() {
    begin_ = static_cast<std::size_t>(*furthest_ - text_.data());
    Open closed = std::move(open_.back());
    open_.pop_back();
    return attach(std::move(closed.value), std::move(closed.key), closed.key_at);
  }

  void fault(Position at, std::string problem) {
    faults_.add({document_.file, at, "", std::move(problem), "", "", ""});
    document_.damaged = true;
  }

  std::string_view text_;
  const char* const* furthest_;
  Document& document_;
  Diagnostics& faults_;
  std::vector<Open> open_;
  std::string key_;
  Position key_at_;
  std::size_t begin_ = 0;    // offset behind the last event
  std::size_t counted_ = 0;  // bytes before it are in line_ and column_
  int line_ = 1;
  int column_ = 1;
};

}  // namespace

Document parse_json(std::string_view text, std::string file, Diagnostics& faults) {
  Document document{std::move(file), {}, false};
  const std::string bytes = with_stand_ins(text);
  const char* furthest = bytes.data();
  Builder builder(bytes, &furthest, document, faults);
  nlohmann::json::sax_parse(CountingIterator(bytes.data(), &furthest),
                            CountingIterator(bytes.data() + bytes.size(), &furthest), &builder);
  if (document.root.kind != Value::Kind::kTable) {
    if (!document.damaged)
      faults.add(
          {document.file, {1, 1}, "", "the file holds no JSON object", describe(document.root), "", ""});
    document.damaged = true;
    document.root = {};
    document.root.kind = Value::Kind::kTable;
  }
  return document;
}

}  // namespace trainfront::inputs
