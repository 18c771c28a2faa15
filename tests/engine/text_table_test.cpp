#include "engine/reports/text_table.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace trainfront::engine;

TEST_CASE("columns line up, numbers to the right, and lines end without blanks") {
  const TextTable table{{"name", "n", "note"}, {{"a", "1", "x"}, {"longer", "100", ""}}, {false, true}};
  CHECK(table.str() ==
        "name      n  note\n"
        "a         1  x\n"
        "longer  100\n");
}

TEST_CASE("widths count characters, not bytes") {
  const TextTable table{{"name", "x"}, {{"Zürich", "1"}, {"Berlin", "2"}}, {}};
  CHECK(table.str() == "name    x\nZürich  1\nBerlin  2\n");
}

TEST_CASE("control characters are escaped, and widths count what is shown") {
  const TextTable table{{"name", "x"}, {{"a\nb\x1b[2J", "1"}, {"Zürich", "2"}, {"\xC2\x9B", "3"}}, {}};
  CHECK(table.str() ==
        "name         x\n"
        "a\\nb\\x1b[2J  1\n"
        "Zürich       2\n"
        "\\x9b         3\n");
}

TEST_CASE("figures keep to a column's width") {
  using trainfront::engine::figure;
  CHECK(figure(12.345, 1) == "12.3");
  CHECK(figure(-1234567.8, 1) == "-1234567.8");
  CHECK(figure(1e300, 1) == "1.0e+300");
  CHECK(figure(std::nan(""), 2) == "-");
}

TEST_CASE("prices show cents, and below a dollar three digits") {
  CHECK(price_text(0) == "0.00");
  CHECK(price_text(55.04) == "55.04");
  CHECK(price_text(1) == "1.00");
  CHECK(price_text(0.995) == "0.995");
  CHECK(price_text(0.9999) == "1.00");
  CHECK(price_text(0.004) == "0.00400");
  CHECK(price_text(0.0000123) == "0.0000123");
}
