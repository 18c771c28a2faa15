#include <doctest/doctest.h>
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "sweep_text.hpp"

using namespace trainfront;
using namespace trainfront::inputs;

TEST_CASE("what is sold everywhere passes every filter on regions, and a note says so") {
  const auto regions = [](const Attempt& read) {
    std::set<std::string> all;
    for (const auto& entry : read.sweep.problem.hardware)
      for (const auto& offer : entry.offers) all.insert(offer.region);
    return all;
  };
  const Attempt read = attempt(changed("providers = [\"aws\", \"coreweave\"]", "regions = [\"us-east-1\"]"));
  CHECK(read.faults == "");
  CHECK(regions(read) == std::set<std::string>{"all", "us-east-1"});
  CHECK(any_has(read.sweep.notes, "are in any region"));
  CHECK(any_has(read.sweep.notes, "coreweave"));
  const Attempt only = attempt(
      changed("providers = [\"aws\", \"coreweave\"]", "providers = [\"aws\"]\nregions = [\"us-east-1\"]"));
  CHECK(regions(only) == std::set<std::string>{"us-east-1"});
  CHECK(!any_has(only.sweep.notes, "are in any region"));
}

TEST_CASE("who filters by the names of offers of the file gets no others") {
  const Attempt mine = attempt(changed("providers = [\"aws\", \"coreweave\"]", R"(providers = ["own"]
regions = ["lab"]
[[market.offer]]
provider = "own"
region = "lab"
instance = "dgx-h100"
usd_per_node_hour = 16)"));
  CHECK(mine.faults == "");
  REQUIRE(mine.problem().hardware.size() == 1);
  CHECK(mine.problem().hardware[0].offers.size() == 1);
  const std::string none =
      attempt(changed("providers = [\"aws\", \"coreweave\"]", "providers = [\"own\"]")).faults;
  CHECK(has(none, "catalog = []"));
  CHECK(!has(none, "did you mean"));
}

TEST_CASE("if nothing is left, rows without a price are named: they may be what is missing") {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "trainfront-no-price.csv";
  std::ofstream(file) << "provider,region,instance,price_model,usd_per_node_hour\n"
                         "aws,us-east-1,p5.48xlarge,on_demand,nan\n";
  const std::string faults = attempt(changed("providers = [\"aws\", \"coreweave\"]",
                                             fmt::format("catalog = [\"{}\"]", file.string())))
                                 .faults;
  std::filesystem::remove(file);
  CHECK(has(faults, "no offer is left"));
  CHECK(has(faults, "trainfront-no-price.csv:2: aws us-east-1 p5.48xlarge on_demand: no price (nan)"));
}
