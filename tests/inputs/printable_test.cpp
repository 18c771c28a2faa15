#include "inputs/printable.hpp"

#include <doctest/doctest.h>

#include <string>

#include "inputs/diagnostics.hpp"

using namespace trainfront::inputs;

TEST_CASE("what is printable stays, in any language; the rest is shown as its code") {
  CHECK(printable("中文 é 🙂 \"a\\b\"") == "中文 é 🙂 \"a\\b\"");
  CHECK(printable("a\nb\tc\x1b[2J\x7f") == "a\\nb\\tc\\x1b[2J\\x7f");
  CHECK(printable(std::string("nul\0!", 5)) == "nul\\x00!");
  CHECK(printable("\xC2\x9B") == "\\x9b");                // a control character of two bytes
  CHECK(printable("\xFF\xC0\xAF") == "\\xff\\xc0\\xaf");  // no UTF-8
  CHECK(printable("\xED\xA0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("") == "");
}

TEST_CASE("the length of a character is what RFC 3629 says") {
  CHECK(utf8_length("") == 0);
  CHECK(utf8_length("a") == 1);
  CHECK(utf8_length("\xC3\xA9") == 2);
  CHECK(utf8_length("\xE4\xB8\xAD") == 3);
  CHECK(utf8_length("\xF0\x9F\x99\x82") == 4);
  CHECK(utf8_length("\xC3") == 0);
  CHECK(utf8_length("\xF4\x90\x80\x80") == 0);  // beyond U+10FFFF
}

TEST_CASE("a fault is one line, whatever names the file has") {
  const Fault fault{"a\x1b[2J.toml", {1, 1}, "k\ney", "unknown key", "", "", ""};
  const std::string text = to_string(fault);
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
}
