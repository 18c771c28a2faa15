#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainfront::engine {

// Shortest decimal that reads back as the same double, whatever the locale; "inf", "-inf", "nan" where JSON
// and CSV have no number.
std::string exact_decimal(double value);

// Builds JSON text in the order of the calls, so that the same values give the same bytes. Numbers read back
// exactly; what is not finite becomes null. Unbalanced calls are a bug and are caught by assertions.
//
//   JsonWriter json;
//   json.begin_object().field("rows", rows).begin_array("by_source");
//   for (...) json.begin_object().field("source", name).end_object();
//   std::string text = json.end_array().end_object().take();
class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& begin_object(std::string_view key);
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& begin_array(std::string_view key);
  JsonWriter& end_array();

  JsonWriter& value(double number);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth);
  JsonWriter& value(std::integral auto number) { return raw(std::to_string(number)); }
  JsonWriter& null() { return raw("null"); }

  JsonWriter& key(std::string_view name);
  template <typename T>
  JsonWriter& field(std::string_view name, const T& content) {
    key(name);
    return value(content);
  }

  // The text so far, ended by a newline.
  std::string take();

 private:
  JsonWriter& raw(std::string_view text);
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void quote(std::string_view text);

  std::string text_;
  std::string stack_;  // open brackets
  bool first_ = true;  // nothing stands in the innermost bracket yet
  bool after_key_ = false;
};

}  // namespace trainfront::engine
