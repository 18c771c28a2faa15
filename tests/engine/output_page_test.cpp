#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "costmodel/legality.hpp"
#include "engine/reports/front_files.hpp"

using namespace trainfront;

namespace {

std::string page() {
  std::ifstream file(TRAINFRONT_SOURCE_DIR "/docs/output.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the page on output has every rule that plans are counted by") {
  const std::string text = page();
  for (int rule = 1; rule < costmodel::kRules; ++rule) {
    const std::string_view name = costmodel::rule_name(static_cast<costmodel::Rule>(rule));
    CHECK_MESSAGE(text.find("\n| `" + std::string(name) + "` |") != std::string::npos, name);
  }
}

TEST_CASE("the page on output has every column of the front") {
  const std::string text = page();
  const std::string header = engine::front_csv({});
  // The layout's columns are named as in the sweep file.
  const std::size_t first = header.find("framework"), last = header.find(",schedule");
  REQUIRE(first < last);
  std::istringstream names(header.substr(0, first) + header.substr(last + 1, header.size() - last - 2));
  for (std::string name; std::getline(names, name, ',');)
    CHECK_MESSAGE(text.find('`' + name + '`') != std::string::npos, name);
}
