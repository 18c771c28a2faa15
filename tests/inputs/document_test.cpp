#include "inputs/document.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "inputs/section.hpp"

using namespace trainfront::inputs;

namespace {

Document toml(std::string_view text, Diagnostics& faults) {
  return parse_toml(text, "a.toml", faults);
}
Document json(std::string_view text, Diagnostics& faults) {
  return parse_json(text, "a.json", faults);
}

std::string said(const Diagnostics& faults) {
  std::string text;
  for (const Fault& fault : faults.faults()) text += to_string(fault) + "\n";
  return text;
}

// A file of its own that is gone afterwards.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes, const std::string& name = "trainfront-document-test.toml")
      : path_(std::filesystem::temp_directory_path() / name) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string repeated(std::string_view first, std::string_view part, int times, std::string_view last) {
  std::string text(first);
  for (int i = 0; i < times; ++i) text += part;
  return text += last;
}

}  // namespace

TEST_CASE("values of TOML know their line and column") {
  Diagnostics faults;
  const Document document = toml("[model]\n  layers = 12\nname = \"x\"\n[layout]\ntp = [1, 2.5]\n", faults);
  CHECK(faults.empty());
  const Value& model = *document.root.find("model");
  CHECK(model.members.front().key == "layers");
  CHECK(model.find("layers")->at == Position{2, 12});
  CHECK(model.members.front().at == Position{2, 3});
  const Value& tp = *document.root.find("layout")->find("tp");
  CHECK(tp.items[1].at == Position{5, 10});
  CHECK(tp.items[1].real == 2.5);
  CHECK(tp.items[0].integer == 1);
}

TEST_CASE("CRLF line ends and a byte order mark change nothing") {
  Diagnostics faults;
  const TemporaryFile file("\xEF\xBB\xBF[model]\r\nlayers = 12\r\n");
  const auto text = read_text(file.path(), faults);
  REQUIRE(text);
  const Document document = toml(*text, faults);
  CHECK(said(faults) == "");
  CHECK(document.root.find("model")->find("layers")->integer == 12);
  CHECK(document.root.find("model")->find("layers")->at == Position{2, 10});
}

TEST_CASE("UTF-16 is named as such") {
  Diagnostics faults;
  const TemporaryFile file(std::string_view("\xFF\xFE[\0m\0]\0", 8));
  CHECK(!read_text(file.path(), faults));
  CHECK(said(faults).find("UTF-16") != std::string::npos);
}

TEST_CASE("a file that is not there, or is no file, is refused with the nearest name") {
  const TemporaryFile file("x", "trainfront-sweep-of-a-test.toml");
  Diagnostics faults;
  CHECK(!read_text(file.path().parent_path() / "trainfront-swep-of-a-test.toml", faults));
  CHECK(faults.faults().front().suggestion == "trainfront-sweep-of-a-test.toml");
  CHECK(!read_text(file.path().parent_path(), faults));
  CHECK(said(faults).find("is a folder") != std::string::npos);
  CHECK(!read_text("", faults));
  CHECK(!read_text("/dev/zero", faults));
  CHECK(said(faults).find("is not a regular file") != std::string::npos);
}

TEST_CASE("a syntax error is told by line, column and key, and later faults are found too") {
  Diagnostics faults;
  const Document document =
      toml("[recipe]\ntokens = 1e400\nbatch = = 5\nsteps = 9223372036854775808\nok = 1\n", faults);
  CHECK(document.damaged);
  const auto list = faults.faults();
  REQUIRE(list.size() == 3);
  CHECK(list[0].at.line == 2);
  CHECK(list[0].key == "tokens");
  CHECK(list[1].at.line == 3);
  CHECK(list[2].at.line == 4);
  CHECK(list[2].key == "steps");
  CHECK(list[2].problem.find("9223372036854775808") != std::string::npos);
  CHECK(document.root.find("recipe")->find("ok")->integer == 1);
}

TEST_CASE("a key that stands twice is a fault and the first value stays") {
  Diagnostics faults;
  const Document document = toml("a = 1\na = 2\nb = 3\n", faults);
  REQUIRE(faults.faults().size() == 1);
  CHECK(faults.faults()[0].at.line == 2);
  CHECK(faults.faults()[0].key == "a");
  CHECK(document.root.find("a")->integer == 1);
  CHECK(document.root.find("b")->integer == 3);
}

TEST_CASE("a broken table header ends the reading: what follows it belongs nowhere") {
  Diagnostics faults;
  const Document document = toml("[model]\na = 1\n[model]\nb = 2\n", faults);
  CHECK(faults.faults().size() == 1);
  CHECK(document.damaged);
  CHECK(document.root.members.empty());
}

TEST_CASE("nesting without end is refused, not followed") {
  for (const std::string& text :
       {repeated("a", ".a", 200000, " = 1"), repeated("[a", ".a", 200000, "]"),
        repeated("a = ", "[", 200000, ""), repeated("a = ", "[", 40, std::string(40, ']')),
        repeated("x = 1\n\na = ", "{a=", 100000, "")}) {
    Diagnostics faults;
    const Document document = toml(text, faults);
    CHECK(document.damaged);
    CHECK(said(faults).find("nest deeper") != std::string::npos);
  }
  Diagnostics faults;
  json(std::string(1000000, '['), faults);
  CHECK(said(faults).find("nest deeper") != std::string::npos);
}

TEST_CASE("dots in numbers and texts are no nesting") {
  const std::string list = repeated("a = [0.5", ", 1.5", 1000, "");
  const std::string dots(1000, '.');
  Diagnostics faults;
  toml(fmt::format("{}]\nb = \"{}\"\n# {}\nc = '''\n{}'''\n", list, dots, dots, dots), faults);
  CHECK(said(faults) == "");
}

TEST_CASE("values of JSON know their line and column") {
  Diagnostics faults;
  const Document document =
      json("{\n  \"layers\" : 12,\n  \"é\": [1, -2.5e1,true , null], \"x\": {\"y\": \"z\"}\n}\n", faults);
  CHECK(said(faults) == "");
  CHECK(document.root.find("layers")->at == Position{2, 14});
  CHECK(document.root.members[0].at == Position{2, 3});
  const Value& list = *document.root.find("é");
  CHECK(list.at == Position{3, 8});
  CHECK(list.items[0].at == Position{3, 9});
  CHECK(list.items[1].at == Position{3, 12});
  CHECK(list.items[1].real == -25.0);
  CHECK(list.items[2].at == Position{3, 19});
  CHECK(list.items[3].at == Position{3, 26});
  CHECK(document.root.find("x")->find("y")->at == Position{3, 44});
}

TEST_CASE("JSON may hold what Python writes for numbers that are none") {
  Diagnostics faults;
  const Document document =
      json("{\"a\": [NaN, Infinity, -Infinity], \"b\": \"NaN and Infinity \\\" NaN\"}", faults);
  CHECK(said(faults) == "");
  const Value& list = *document.root.find("a");
  CHECK(std::isnan(list.items[0].real));
  CHECK(list.items[1].real == HUGE_VAL);
  CHECK(list.items[2].real == -HUGE_VAL);
  CHECK(document.root.find("b")->text == "NaN and Infinity \" NaN");
}

TEST_CASE("faults of JSON have their place") {
  Diagnostics faults;
  json("{\"a\": 1,\n \"a\": 2}", faults);
  REQUIRE(faults.faults().size() == 1);
  CHECK(faults.faults()[0].at == Position{2, 2});
  CHECK(faults.faults()[0].key == "a");

  for (const char* text : {"", "[]", "{\"a\": }", "{\"a\": 1", "nonsense", "{\"a\": 1e999}",
                           "{\"a\": \"\xff\"}", "\"a\"", "{} {}"}) {
    Diagnostics others;
    CHECK_MESSAGE(json(text, others).damaged, text);
    CHECK_MESSAGE(!others.empty(), text);
  }
}

TEST_CASE("a section reports wrong types, ranges, missing and unknown keys together") {
  Diagnostics faults;
  const Document document = toml(
      "heads = \"80\"\nlayers = 2.5\nhidden = -3\ngated = \"yes\"\nrate = nan\ndeadline = \"soon\"\nsize = "
      "80\nbandwith = 1\n",
      faults);
  Section section(document, document.root, "", faults);
  CHECK(!section.integer("heads", 1, 100));
  CHECK(!section.integer("layers", 1, 100));
  CHECK(!section.integer("hidden", 1, 100));
  CHECK(!section.boolean("gated"));
  CHECK(!section.number("rate"));
  CHECK(!section.duration_s("deadline"));
  CHECK(!section.size_bytes("size"));
  section.require("vocab");
  section.number("bandwidth");
  section.finish();
  const auto list = faults.faults();
  REQUIRE(list.size() == 9);
  const auto about = [&](std::string_view key) {
    for (const Fault& fault : list)
      if (fault.key == key) return to_string(fault);
    return std::string("nothing");
  };
  CHECK(about("heads") ==
        "a.toml:1:9: heads: must be a whole number, not text; write it without quotes; found \"80\" (text); "
        "allowed: a whole number from 1 to 100");
  CHECK(about("layers").find("found 2.5") != std::string::npos);
  CHECK(about("hidden").find("is out of range; found -3") != std::string::npos);
  CHECK(about("gated").find("true or false") != std::string::npos);
  CHECK(about("rate").find("found nan") != std::string::npos);
  CHECK(about("deadline").find("\"30d\"") != std::string::npos);
  CHECK(about("size").find("needs its unit") != std::string::npos);
  CHECK(about("size").find("GiB") != std::string::npos);
  CHECK(about("vocab").find("is missing") != std::string::npos);
  CHECK(about("bandwith").find("did you mean \"bandwidth\"?") != std::string::npos);
}

TEST_CASE("whole numbers may be written as reals") {
  Diagnostics faults;
  const Document document = toml("a = 2e3\nb = 1e18\n", faults);
  Section section(document, document.root, "", faults);
  CHECK(section.integer("a", 1, 1000000) == 2000);
  CHECK(!section.integer("b", 1, 1000000));
}
