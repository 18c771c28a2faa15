#include "engine/reports/json_writer.hpp"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <utility>

#include "inputs/printable.hpp"

namespace trainfront::engine {

std::string exact_decimal(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

JsonWriter& JsonWriter::begin_object() {
  return open('{');
}
JsonWriter& JsonWriter::begin_object(std::string_view name) {
  return key(name).open('{');
}
JsonWriter& JsonWriter::end_object() {
  return close('{');
}
JsonWriter& JsonWriter::begin_array() {
  return open('[');
}
JsonWriter& JsonWriter::begin_array(std::string_view name) {
  return key(name).open('[');
}
JsonWriter& JsonWriter::end_array() {
  return close('[');
}

JsonWriter& JsonWriter::value(double number) {
  return raw(std::isfinite(number) ? exact_decimal(number) : "null");
}

JsonWriter& JsonWriter::value(bool truth) {
  return raw(truth ? "true" : "false");
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  assert(!stack_.empty() && stack_.back() == '{' && !after_key_);
  separate();
  quote(name);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

std::string JsonWriter::take() {
  assert(stack_.empty());
  text_ += '\n';
  first_ = true;
  return std::exchange(text_, {});
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  text_ += text;
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  stack_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close([[maybe_unused]] char bracket) {
  assert(!stack_.empty() && stack_.back() == bracket && !after_key_);
  const char closing = stack_.back() == '{' ? '}' : ']';
  stack_.pop_back();
  if (!first_) text_.append("\n").append(2 * stack_.size(), ' ');
  text_ += closing;
  first_ = false;
  return *this;
}

// Comma, new line and indentation before a key, or before a value that has none.
void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (stack_.empty()) return;
  if (!first_) text_ += ',';
  text_.append("\n").append(2 * stack_.size(), ' ');
  first_ = false;
}

void JsonWriter::quote(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  text_ += '"';
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t length = inputs::utf8_length(text.substr(at));
    if (length == 0) {
      text_ += "\xef\xbf\xbd";  // U+FFFD
      ++at;
      continue;
    }
    if (length > 1) {
      text_ += text.substr(at, length);
    } else if (c == '"' || c == '\\') {
      (text_ += '\\') += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (c == '\t') {
      text_ += "\\t";
    } else if (c == '\r') {
      text_ += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      text_.append("\\u00").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    } else {
      text_ += c;
    }
    at += length;
  }
  text_ += '"';
}

}  // namespace trainfront::engine
