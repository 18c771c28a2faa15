#include "inputs/diagnostics.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "inputs/suggest.hpp"

using namespace trainfront::inputs;

TEST_CASE("a fault is one line with its place, key, finding, rule and suggestion") {
  const Fault fault{"a.toml",           {12, 5},    "market.bandwith", "unknown key", "3 (text)",
                    "price, bandwidth", "bandwidth"};
  CHECK(to_string(fault) ==
        "a.toml:12:5: market.bandwith: unknown key; found 3 (text); allowed: price, bandwidth; did you mean "
        "\"bandwidth\"?");
  CHECK(to_string(Fault{"a.toml", {}, "", "does not exist", "", "", ""}) == "a.toml: does not exist");
}

TEST_CASE("all faults come out at once, by file and place, each once") {
  Diagnostics faults;
  CHECK_NOTHROW(faults.throw_if_any());
  faults.add({"b.toml", {9, 1}, "", "late", "", "", ""});
  faults.add({"a.json", {1, 1}, "", "other file", "", "", ""});
  faults.add({"b.toml", {2, 7}, "", "early", "", "", ""});
  faults.add({"b.toml", {2, 7}, "", "early", "", "", ""});
  try {
    faults.throw_if_any();
    FAIL("no exception");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()) == "b.toml:2:7: early\nb.toml:9:1: late\na.json:1:1: other file");
    CHECK(error.faults().size() == 3);
  }
}

TEST_CASE("a flood of faults is cut, and the message says so") {
  Diagnostics faults;
  for (int line = 1; line <= 5000; ++line) faults.add({"a.toml", {line, 1}, "", "wrong", "", "", ""});
  const std::string text = InputError(faults.faults()).what();
  CHECK(std::count(text.begin(), text.end(), '\n') == 100);
  CHECK(text.ends_with("... and 900 more"));
}

TEST_CASE("text in quotes is safe to print whatever the user wrote") {
  CHECK(in_quotes("a\"b\\c\n\t\x1b[31m") == R"("a\"b\\c\n\t\x1b[31m")");
  CHECK(in_quotes("中文 é 🙂") == R"("中文 é 🙂")");
  CHECK(in_quotes("\xff\xc0\xaf ok") == R"("\xff\xc0\xaf ok")");
  CHECK(in_quotes("\xed\xa0\x80") == R"("\xed\xa0\x80")");  // a surrogate is no character
  const std::string cut = in_quotes(std::string(100, 'y'));
  CHECK(cut.size() == 80 + 5);
  CHECK(cut.ends_with("y...\""));
  std::string wide;
  for (int i = 0; i < 50; ++i) wide += "中";
  const std::string cut_wide = in_quotes(wide);
  CHECK(cut_wide == fmt::format("\"{}...\"", wide.substr(0, 78)));
}

TEST_CASE("distances count insertions, deletions, changes and swaps") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("bandwith", "bandwidth") == 1);
  CHECK(edit_distance("kv_haeds", "kv_heads") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("H100-SXM", "h100_sxm") == 0);
}

TEST_CASE("distance is a symmetric measure") {
  const std::string words[] = {"", "a", "tp", "pp", "vpp", "recompute", "rceompute", "global_batch", "batch"};
  for (const std::string& a : words)
    for (const std::string& b : words) {
      CHECK(edit_distance(a, b) == edit_distance(b, a));
      CHECK(edit_distance(a, b) <= std::max(a.size(), b.size()));
      CHECK((edit_distance(a, b) == 0) == (a == b));
    }
}

TEST_CASE("the nearest name is suggested only if it is near") {
  const std::string known[] = {"tp", "pp", "recompute", "micro_batch", "h100-sxm"};
  CHECK(nearest("recompte", known) == "recompute");
  CHECK(nearest("microbatch", known) == "micro_batch");
  CHECK(nearest("H100_SXM", known) == "h100-sxm");
  CHECK(nearest("zzz", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest(std::string(100000, 'r'), known).empty());
}

TEST_CASE("long lists of names are cut with their count") {
  const std::string names[] = {"a", "b", "c"};
  CHECK(join(names) == "a, b, c");
  CHECK(join(names, 2) == "a, b, ... (3 in all)");
}
