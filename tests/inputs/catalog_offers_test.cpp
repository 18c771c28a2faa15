#include "inputs/catalog_offers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

using namespace trainfront;
using namespace trainfront::inputs;
using costmodel::PriceModel;

namespace {

const std::string kHeader = "provider,region,zone,instance,price_model,usd_per_node_hour,max_nodes,as_of\n";

struct Read {
  Catalog catalog;
  std::vector<Fault> faults;
  std::vector<std::string> notes;

  const OfferEntry* find(std::string_view region, PriceModel price_model) const {
    const auto at = std::find_if(catalog.offers.begin(), catalog.offers.end(), [&](const OfferEntry& entry) {
      return entry.offer.region == region && entry.offer.price_model == price_model;
    });
    return at == catalog.offers.end() ? nullptr : &*at;
  }
};

// The shipped devices and nodes with these offers alone.
Read read(const std::string& text) {
  static const Catalog shipped = [] {
    Catalog catalog = builtin_catalog();
    catalog.offers.clear();
    return catalog;
  }();
  Read result{shipped, {}, {}};
  Diagnostics faults;
  add_offers_csv(result.catalog, text, "mine.csv", faults, result.notes);
  result.faults = faults.faults();
  return result;
}

bool said(const Read& read, std::string_view words) {
  return std::any_of(read.notes.begin(), read.notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

std::string all(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) text += to_string(fault) + "\n";
  return text;
}

}  // namespace

TEST_CASE("a missing or NaN price leaves the row out and says so; it is not zero") {
  for (const char* price : {"", "NaN", "nan", "n/a"}) {
    const Read r = read(kHeader + "aws,us-east-1,,p5.48xlarge,on_demand," + price + ",,2026-01\n" +
                        "aws,us-east-2,,p5.48xlarge,on_demand,55.04,,2026-01\n");
    CHECK(r.faults.empty());
    REQUIRE(r.catalog.offers.size() == 1);
    CHECK(r.catalog.offers[0].offer.region == "us-east-2");
    CHECK(said(r, "mine.csv:2: aws us-east-1 p5.48xlarge on_demand: no price"));
  }
}

TEST_CASE("a price of zero needs the price model owned") {
  CHECK(read(kHeader + "own,lab,,dgx-h100,owned,0,,2026-01\n").faults.empty());
  const Read r = read(kHeader + "aws,us-east-1,,p5.48xlarge,on_demand,0,,2026-01\n");
  REQUIRE(r.faults.size() == 1);
  CHECK(all(r.faults).find("mine.csv:2:38: usd_per_node_hour") != std::string::npos);
  CHECK(all(r.faults).find("owned") != std::string::npos);
  CHECK(r.catalog.offers.empty());
}

TEST_CASE("negative, infinite, overflowing and unreadable prices are faults that show what was found") {
  for (const char* price : {"-1", "inf", "1e400", "12 $", "1.2.3"}) {
    const Read r = read(kHeader + "aws,us-east-1,,p5.48xlarge,on_demand," + price + ",,2026-01\n");
    REQUIRE_MESSAGE(r.faults.size() == 1, price);
    CHECK(r.faults[0].found.find(price) != std::string::npos);
    CHECK(r.catalog.offers.empty());
  }
}

TEST_CASE("of two prices for one place the newest stands and is stated, in any order of rows") {
  const std::string old_row = "aws,us-east-1,,p5.48xlarge,on_demand,98.32,,2024\n";
  const std::string new_row = "aws,us-east-1,,p5.48xlarge,on_demand,55.04,,2025-12\n";
  for (const Read& r : {read(kHeader + old_row + new_row), read(kHeader + new_row + old_row)}) {
    CHECK(r.faults.empty());
    REQUIRE(r.catalog.offers.size() == 1);
    CHECK(r.catalog.offers[0].offer.usd_per_node_hour == 55.04);
    CHECK(said(r, "55.04 $/h of 2025-12 stands, newer than 98.32 $/h of 2024"));
  }
}

TEST_CASE("two prices of one date for one place are a fault; twice the same price is not") {
  const std::string row = "aws,us-east-1,,p5.48xlarge,on_demand,55.04,,2025-12\n";
  CHECK(read(kHeader + row + row).faults.empty());
  CHECK(read(kHeader + row + row).catalog.offers.size() == 1);
  const Read r = read(kHeader + row + "aws,us-east-1,,p5.48xlarge,on_demand,60,,2025-12\n");
  REQUIRE(r.faults.size() == 1);
  CHECK(r.faults[0].at.line == 3);
  CHECK(all(r.faults).find("mine.csv:2 says 55.04") != std::string::npos);
}

TEST_CASE("another zone, region, instance or price model is another offer") {
  const Read r = read(kHeader +
                      "aws,us-east-1,,p5.48xlarge,on_demand,55,,2026-01\n"
                      "aws,us-east-1,use1-az1,p5.48xlarge,spot,20,,2026-01\n"
                      "aws,us-east-1,use1-az2,p5.48xlarge,spot,21,,2026-01\n"
                      "aws,us-east-2,,p5.48xlarge,on_demand,56,,2026-01\n"
                      "aws,us-east-1,,p5en.48xlarge,on_demand,63,,2026-01\n");
  CHECK(r.faults.empty());
  CHECK(r.catalog.offers.size() == 5);
  CHECK(r.notes.empty());
}

TEST_CASE("spot that is not cheaper than on-demand at the same place is kept with a warning") {
  const std::string on_demand = "hyperstack,CANADA-1,,n3-H100-SXM5x8,on_demand,0.44,,2026-01\n";
  const Read dear = read(kHeader + on_demand + "hyperstack,CANADA-1,,n3-H100-SXM5x8,spot,0.49,,2026-01\n");
  CHECK(dear.faults.empty());
  CHECK(dear.catalog.offers.size() == 2);
  CHECK(said(dear, "spot at 0.49 $/h is not below on-demand at 0.44 $/h"));
  // A zone's spot price meets the region's on-demand price.
  CHECK(said(read(kHeader + on_demand + "hyperstack,CANADA-1,az1,n3-H100-SXM5x8,spot,0.49,,2026-01\n"),
             "not below"));
  // Another region's does not.
  CHECK(read(kHeader + on_demand + "hyperstack,US-1,,n3-H100-SXM5x8,spot,0.49,,2026-01\n").notes.empty());
  CHECK(read(kHeader + on_demand + "hyperstack,CANADA-1,,n3-H100-SXM5x8,spot,0.43,,2026-01\n").notes.empty());
}

TEST_CASE("a later file replaces an earlier one's price, whatever the dates, and says so") {
  Read r = read(kHeader + "aws,us-east-1,,p5.48xlarge,on_demand,55.04,,2025-12\n");
  Diagnostics faults;
  add_offers_csv(r.catalog, kHeader + "aws,us-east-1,,p5.48xlarge,on_demand,41.5,64,2025-01\n",
                 "negotiated.csv", faults, r.notes);
  CHECK(faults.empty());
  REQUIRE(r.catalog.offers.size() == 1);
  CHECK(r.catalog.offers[0].offer.usd_per_node_hour == 41.5);
  CHECK(r.catalog.offers[0].offer.max_nodes == 64);
  CHECK(said(
      r, "negotiated.csv:2: aws us-east-1 p5.48xlarge on_demand: 41.5 $/h replaces 55.04 $/h of mine.csv:2"));
}

TEST_CASE("the device and GPUs of an offer are the node type's, and may be stated only as they are") {
  const Read r = read(
      "provider,region,instance,price_model,usd_per_node_hour,device,gpus_per_node\n"
      "oci,all,BM.GPU.GB200.4,on_demand,64,gb200,4\n");
  CHECK(r.faults.empty());
  REQUIRE(r.catalog.offers.size() == 1);
  CHECK(r.catalog.offers[0].offer.device == "gb200");
  CHECK(r.catalog.offers[0].offer.gpus_per_node == 4);
  const Read wrong = read(
      "provider,region,instance,price_model,usd_per_node_hour,device,gpus_per_node\n"
      "oci,all,BM.GPU.GB200.4,on_demand,64,b200,8\n");
  CHECK(wrong.faults.size() == 2);
}

TEST_CASE("all faults of a file are reported at once, with line, column, value and the nearest name") {
  const Read r = read(
      "provider,region,instance,price_model,usd_per_node_hour,max_nodes,as_of,colour\n"
      "aws,us-east-1,p5.48xlrage,on_demand,55,,2026-01,\n"
      "aws,,p5.48xlarge,on-demand,55,,2026-01,\n"
      "aws,us-east-1,p5.48xlarge,on_demand,55,0,2026-13,\n"
      "aws,us-east-1,p5.48xlarge\n");
  const std::string text = all(r.faults);
  CHECK(text.find("mine.csv:1:1: colour: unknown column") != std::string::npos);
  CHECK(text.find("mine.csv:2:15: instance") != std::string::npos);
  CHECK(text.find("did you mean \"p5.48xlarge\"") != std::string::npos);
  CHECK(text.find("mine.csv:3:5: region") != std::string::npos);
  CHECK(text.find("did you mean \"on_demand\"") != std::string::npos);
  CHECK(text.find("mine.csv:4:40: max_nodes") != std::string::npos);
  CHECK(text.find("mine.csv:4:42: as_of") != std::string::npos);
  CHECK(text.find("mine.csv:5:1") != std::string::npos);
  CHECK(r.faults.size() == 7);
}

TEST_CASE("a table without a needed column, or empty, is a fault that names it") {
  CHECK(all(read("provider,region,instance,price_model\n").faults).find("usd_per_node_hour") !=
        std::string::npos);
  CHECK(read("").faults.size() == 1);
}

TEST_CASE("a provider's name in any script is kept as it is") {
  const Read r = read(kHeader + "\"研究室, α 🚀\",lab,,dgx-h100,owned,0,,\n");
  CHECK(r.faults.empty());
  REQUIRE(r.catalog.offers.size() == 1);
  CHECK(r.catalog.offers[0].offer.provider == "研究室, α 🚀");
}

TEST_CASE("the bill is nodes times hours times price: two nodes cost twice one") {
  const Read r = read(kHeader + "aws,us-east-1,,p5.48xlarge,on_demand,55.04,,2025-12\n");
  REQUIRE(r.catalog.offers.size() == 1);
  const costmodel::Offer& offer = r.catalog.offers[0].offer;
  CHECK(costmodel::bill_usd(offer, 1, 3600) == 55.04);
  CHECK(costmodel::bill_usd(offer, 2, 3600) == 2 * costmodel::bill_usd(offer, 1, 3600));
  CHECK(costmodel::nodes_for(9, offer.gpus_per_node) == 2);
}

TEST_CASE("dates are years, months or days, and nothing else") {
  for (const char* date : {"2026", "2026-01", "2026-12-31"}) CHECK_MESSAGE(is_date(date), date);
  for (const char* text : {"", "26", "2026-", "2026-1", "2026-13", "2026-00", "2026-01-32", "2026/01",
                           "2025-12..2026-01", "2026-01-01T00"})
    CHECK_MESSAGE(!is_date(text), text);
}

TEST_CASE("a long price list is read in time that grows with its rows alone") {
  const auto list = [](int rows) {
    std::string text = kHeader;
    for (int i = 0; i < rows; ++i)
      text += "aws,region-" + std::to_string(i) + ",,p5.48xlarge," + (i % 2 == 0 ? "spot" : "on_demand") +
              ",12.5,,2026-01\n";
    return text;
  };
  const auto seconds = [&](int rows) {
    const std::string text = list(rows);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(read(text).catalog.offers.size() == static_cast<std::size_t>(rows));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double few = seconds(4000), many = seconds(32'000);
  CHECK(many < 30 * few + 0.1);  // 64 times as long if every row looked at every other
}

TEST_CASE(
    "spot is held against on-demand of its own zone, of its region, and of any zone where it names none") {
  const auto warned = [](const std::string& spot_zone, const std::string& list_zone) {
    return said(read(kHeader + "aws,us-east-1," + spot_zone + ",p5.48xlarge,spot,60,,2026-01\n" +
                     "aws,us-east-1," + list_zone + ",p5.48xlarge,on_demand,55,,2026-01\n"),
                "is not below on-demand");
  };
  CHECK(warned("", ""));
  CHECK(warned("a", ""));
  CHECK(warned("", "b"));
  CHECK(warned("a", "a"));
  CHECK_FALSE(warned("a", "b"));
}
