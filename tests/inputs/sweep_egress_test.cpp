#include <doctest/doctest.h>

#include <map>
#include <string>

#include "sweep_text.hpp"

using namespace trainfront;
using namespace trainfront::inputs;

namespace {

const char* const kProviders = "providers = [\"aws\", \"coreweave\"]";

// Transfers by provider.
std::map<std::string, double> transfers(const Attempt& read) {
  std::map<std::string, double> usd;
  for (const auto& entry : read.sweep.problem.hardware)
    for (const auto& offer : entry.offers) usd[offer.provider] = offer.transfer_usd;
  return usd;
}

}  // namespace

TEST_CASE("2.3 TB that leave at 0.09 $/GB add 207 $ to the bill") {
  const Attempt read = attempt(changed(kProviders, std::string(kProviders) + "\negress = \"2.3TB\""));
  CHECK(read.faults == "");
  CHECK(transfers(read).at("aws") == doctest::Approx(207).epsilon(1e-12));
  CHECK(transfers(read).at("coreweave") == 0);
  CHECK(any_has(read.sweep.notes, "2300 GB that leave are billed: aws 207.00 $, coreweave 0.00 $"));
  const costmodel::Offer& offer = read.problem().hardware[0].offers[0];
  CHECK(costmodel::bill_usd(offer, 4, 7200) == costmodel::rent_usd(offer, 4, 7200) + offer.transfer_usd);
  CHECK(transfers(attempt(kGoodSweep)).at("aws") == 0);
}

TEST_CASE("larger volumes pay the list's steps one by one") {
  // AWS: 10 TB at 0.09, 40 at 0.085, 100 at 0.07, the rest at 0.05.
  const EgressPrice& aws = *shipped().find_egress("aws");
  CHECK(egress_usd(aws, 0) == 0);
  CHECK(egress_usd(aws, 10e12) == doctest::Approx(900));
  CHECK(egress_usd(aws, 200e12) == doctest::Approx(900 + 3400 + 7000 + 2500));
  // OCI: the first 10 TB are free.
  CHECK(egress_usd(*shipped().find_egress("oci"), 12e12) == doctest::Approx(17));
  for (const EgressPrice& price : shipped().egress)
    for (double bytes = 1e9; bytes < 1e16; bytes *= 3)
      CHECK(egress_usd(price, 1.5 * bytes) >= egress_usd(price, bytes));
}

TEST_CASE("the user's own price goes before the list's, for all or by provider") {
  const std::string with = std::string(kProviders) + "\negress = \"1TB\"\negress_usd_per_gb = ";
  CHECK(transfers(attempt(changed(kProviders, with + "0.02"))) ==
        std::map<std::string, double>{{"aws", 20}, {"coreweave", 20}});
  CHECK(transfers(attempt(changed(kProviders, with + "{aws = 0.05}"))) ==
        std::map<std::string, double>{{"aws", 50}, {"coreweave", 0}});
  CHECK(has(attempt(changed(kProviders, with + "{asw = 0.05}")).faults, "did you mean \"aws\"?"));
  CHECK(has(attempt(changed(kProviders, with + "-1")).faults, "egress_usd_per_gb: is out of range"));
  CHECK(has(attempt(changed(kProviders, with + "\"cheap\"")).faults, "egress_usd_per_gb"));
}

TEST_CASE("a price that is not known is not zero: the offers are left out and named") {
  const char* const with = "providers = [\"aws\", \"crusoe\"]\negress = \"1TB\"";
  const Attempt read = attempt(changed(kProviders, with));
  CHECK(read.faults == "");
  CHECK_FALSE(transfers(read).contains("crusoe"));
  CHECK(any_has(read.sweep.notes, "no price is known for data that leaves crusoe"));
  CHECK(has(attempt(changed(kProviders, "providers = [\"crusoe\"]\negress = \"1TB\"")).faults,
            "no price is known for data that leaves crusoe; allowed: egress_usd_per_gb = {crusoe = ...}"));
}

TEST_CASE("what is owned has its own way out, unless the file says what that costs") {
  const std::string own = R"(catalog = []
egress = "1TB"
[[market.offer]]
provider = "own"
instance = "dgx-h100"
usd_per_node_hour = 16)";
  CHECK(transfers(attempt(changed(kProviders, own))).at("own") == 0);
  CHECK(transfers(attempt(changed(kProviders, "egress_usd_per_gb = {own = 0.01}\n" + own))).at("own") == 10);
}

TEST_CASE("a volume needs its unit and must be above zero; a price alone has no effect") {
  for (const char* bad : {"5", "0", "-1", "\"0GB\"", "\"-1TB\"", "\"much\"", "nan", "1e400", "\"1e300TB\""})
    CHECK_MESSAGE(
        has(attempt(changed(kProviders, std::string(kProviders) + "\negress = " + bad)).faults, "egress"),
        bad);
  const Attempt idle = attempt(changed(kProviders, std::string(kProviders) + "\negress_usd_per_gb = 0.1"));
  CHECK(idle.faults == "");
  CHECK(any_has(idle.sweep.notes, "has no effect without market.egress"));
}

TEST_CASE("a catalogue's egress prices must be steps") {
  const auto faults_of = [](const std::string& text) {
    Catalog catalog = shipped();
    Diagnostics faults;
    std::vector<std::string> notes;
    add_catalog_toml(catalog, "[[egress]]\nprovider = \"x\"\n" + text, "mine.toml", faults, notes);
    std::string said;
    for (const Fault& fault : faults.faults()) said += to_string(fault) + "\n";
    return said;
  };
  CHECK(faults_of("usd_per_gb = 0.1\n") == "");
  CHECK(has(faults_of("usd_per_gb = [0.1, 0.05]\n"), "has 2 prices"));
  CHECK(has(faults_of("up_to = [\"2TB\", \"1TB\"]\nusd_per_gb = [0.1, 0.05, 0.01]\n"),
            "above those before it"));
  CHECK(has(faults_of("usd_per_gb = -1\n"), "usd_per_gb"));
  CHECK(has(faults_of(""), "usd_per_gb: is missing"));
}
