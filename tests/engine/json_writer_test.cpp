#include "engine/reports/json_writer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

using trainfront::engine::exact_decimal;
using trainfront::engine::JsonWriter;

TEST_CASE("objects and arrays are indented and separated") {
  JsonWriter json;
  json.begin_object().field("a", 1).field("b", true).begin_array("c").value(1.5).value("x").end_array();
  json.begin_object("empty").end_object().key("nothing").null().end_object();
  CHECK(json.take() ==
        "{\n  \"a\": 1,\n  \"b\": true,\n  \"c\": [\n    1.5,\n    \"x\"\n  ],\n  \"empty\": {},\n  "
        "\"nothing\": null\n}\n");
}

TEST_CASE("text is escaped, other languages pass") {
  JsonWriter json;
  json.value("q\" b\\ n\n t\t \x01 \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x9a\x80");
  CHECK(json.take() == "\"q\\\" b\\\\ n\\n t\\t \\u0001 \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x9a\x80\"\n");
}

TEST_CASE("bytes that are no UTF-8 become replacement characters, so that the text stays JSON") {
  JsonWriter json;
  json.value(
      "a\xff"
      "b\xc3");  // a lone byte, a sequence cut short
  CHECK(json.take() ==
        "\"a\xef\xbf\xbd"
        "b\xef\xbf\xbd\"\n");
  json.value("\xed\xa0\x80");  // half of a surrogate pair
  CHECK(json.take() == "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n");
}

TEST_CASE("numbers read back exactly; what is not finite is null") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    REQUIRE(std::strtod(exact_decimal(value).c_str(), nullptr) == value);
  }
  JsonWriter json;
  json.begin_array().value(std::numeric_limits<double>::infinity()).value(std::nan("")).end_array();
  CHECK(json.take() == "[\n  null,\n  null\n]\n");
  json.value(std::numeric_limits<std::uint64_t>::max());
  CHECK(json.take() == "18446744073709551615\n");
}
