#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"

using namespace trainfront::tests;
using nlohmann::json;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

json json_of(const std::vector<std::string>& words) {
  const Ended ended = run_program(words);
  CHECK(ended.status == 0);
  return json::parse(ended.out);
}

}  // namespace

TEST_CASE("the catalogue lists what it knows, for people and as JSON") {
  const Ended overview = run_program({"catalog"});
  CHECK(overview.status == 0);
  CHECK(contains(overview.out, "h100-sxm"));
  CHECK(overview.err.empty());
  const json all = json_of({"catalog", "--json"});
  CHECK(all["schema"] == 1);
  for (const char* list : {"devices", "networks", "nodes", "offers", "models", "egress"}) {
    INFO(list);
    CHECK(all[list].size() > (list == std::string("egress") ? 3 : 10));
    for (const json& entry : all[list]) {
      CHECK(!entry["source"].get<std::string>().empty());
      CHECK(!entry["as_of"].get<std::string>().empty());
    }
  }
  CHECK(all["failures"]["per_1000_node_days_of_8_gpus"].size() > 1);
}

TEST_CASE("filters and names narrow a list, wherever they stand") {
  const json offers = json_of(
      {"catalog", "--device", "h200-sxm", "offers", "--provider", "aws", "--provider", "nebius", "--json"});
  CHECK(!offers.contains("devices"));
  REQUIRE(!offers["offers"].empty());
  for (const json& offer : offers["offers"]) {
    CHECK(offer["device"] == "h200-sxm");
    CHECK((offer["provider"] == "aws" || offer["provider"] == "nebius"));
  }
  // Llama 3.1 405B has 405,853,388,800 parameters.
  const json model = json_of({"catalog", "models", "llama-3.1-405b", "--json"});
  REQUIRE(model["models"].size() == 1);
  CHECK(model["models"][0]["parameters"] == 405853388800);
  CHECK(contains(run_program({"catalog", "devices", "h100-sxm"}).out, "data sheet"));
}

TEST_CASE("names that are not known end with status 2 and the nearest known one") {
  struct Case {
    std::vector<std::string> words;
    std::string meant;
  };
  for (const Case& each :
       {Case{{"catalog", "ofers"}, "offers"}, Case{{"catalog", "devices", "h100-smx"}, "h100-sxm"},
        Case{{"catalog", "--provider", "asw"}, "aws"},
        Case{{"catalog", "offers", "--price-model", "on-demand"}, "on_demand"},
        Case{{"catalog", "import", "x.csv", "--cloud", "aqs"}, "aws"}}) {
    const Ended ended = run_program(each.words);
    CHECK(ended.status == 2);
    CHECK(ended.out.empty());
    CHECK(contains(ended.err, "did you mean \"" + each.meant + "\""));
  }
  CHECK(run_program({"catalog", "offers", "--as-of", "2026"}).status == 2);
  const Ended unheard = run_program({"catalog", "devices", "--provider", "aws"});
  CHECK(unheard.status == 2);
  CHECK(contains(unheard.err, "--provider does not apply to catalog devices; it does to nodes, offers"));
  CHECK(run_program({"catalog", "--catalog", "no-such-file.toml"}).status == 2);
}

TEST_CASE("small prices are not shown as nothing") {
  const Folder folder;
  spew(folder / "own.csv",
       "provider,region,instance,price_model,usd_per_node_hour\nown,lab,dgx-h100,reserved,0.004\n");
  const Ended ended =
      run_program({"catalog", "offers", "--provider", "own", "--catalog", (folder / "own.csv").string()});
  CHECK(ended.status == 0);
  CHECK(contains(ended.out, "0.00400"));
  CHECK(!contains(ended.out, " 0.00 "));
}

TEST_CASE("the catalogue says how many nodes a preemption takes at once") {
  const json failures = json_of({"catalog", "failures", "--json"})["failures"];
  for (const json& rate : failures["preemptions_per_node_hour"]) CHECK(rate["preempted_together"] >= 1);
  CHECK(failures["preemptions_per_node_hour"][0]["preempted_together"] > 5);  // AWS, by the traces
  CHECK(contains(run_program({"catalog", "failures"}).out, "nodes together"));
  const json offers =
      json_of({"catalog", "offers", "--provider", "aws", "--price-model", "spot", "--json"})["offers"];
  CHECK(offers[0]["preempted_together"] == failures["preemptions_per_node_hour"][0]["preempted_together"]);
}

TEST_CASE("an imported price list is a catalogue file, and says what it left out") {
  const Folder folder;
  spew(folder / "vms.csv",
       "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region,AvailabilityZone\n"
       "p5.48xlarge,H100,8,50.00,20.00,us-east-1,use1-az2\n"
       "p5.48xlarge,H100,8,,,us-east-2,use2-az2\n");
  const std::string list = (folder / "vms.csv").string(), table = (folder / "aws.csv").string();
  CHECK(run_program({"catalog", "import", list}).status == 2);  // of which cloud?
  const Ended imported =
      run_program({"catalog", "import", list, "--cloud", "aws", "--as-of", "2026-11-20", "-o", table});
  CHECK(imported.status == 0);
  CHECK(imported.out.empty());
  CHECK(contains(imported.err, "1 price left out: no price"));
  const json offers = json_of({"catalog", "offers", "--catalog", table, "--region", "us-east-1", "--provider",
                               "aws", "--device", "h100-sxm", "--json"});
  bool seen = false;
  for (const json& offer : offers["offers"])
    if (offer["price_model"] == "on_demand") {
      seen = true;
      CHECK(offer["usd_per_node_hour"] == 50);
      CHECK(offer["as_of"] == "2026-11-20");
    }
  CHECK(seen);
  CHECK(offers["notes"].size() >= 1);  // the shipped price of that place was replaced

  spew(folder / "broken.csv",
       "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\np5.48xlarge,H100,8,x,,r\n");
  const Ended broken = run_program({"catalog", "import", (folder / "broken.csv").string(), "--cloud", "aws"});
  CHECK(broken.status == 2);
  CHECK(contains(broken.err, "broken.csv:2:"));
}
