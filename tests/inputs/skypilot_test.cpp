#include "inputs/skypilot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <tuple>

#include "inputs/csv.hpp"

using namespace trainfront;
using namespace trainfront::inputs;
using costmodel::PriceModel;

namespace {

struct Read {
  std::vector<OfferEntry> offers;
  std::vector<Fault> faults;
  std::string notes;

  const OfferEntry* find(std::string_view instance, PriceModel price_model, std::string_view region) const {
    const auto at = std::find_if(offers.begin(), offers.end(), [&](const OfferEntry& entry) {
      return entry.offer.instance == instance && entry.offer.price_model == price_model &&
             entry.offer.region == region;
    });
    return at == offers.end() ? nullptr : &*at;
  }
};

Read read(const std::string& text, const std::string& cloud, const std::string& as_of = "2026-01") {
  static const Catalog catalog = builtin_catalog();
  Diagnostics faults;
  std::vector<std::string> notes;
  Read result;
  result.offers = read_skypilot(catalog, text, "vms.csv", {cloud, as_of}, faults, notes);
  result.faults = faults.faults();
  for (const std::string& note : notes) result.notes += note + "\n";
  return result;
}

const std::string kAws =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,"
    "AvailabilityZone,Arch\n";
const std::string kGcp =
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,Price,"
    "SpotPrice\n";

}  // namespace

TEST_CASE("columns are told by name: the same row in another order gives the same offers") {
  const Read a = read(kAws + "p5.48xlarge,H100,8.0,192,2048,,55.04,20.5,us-east-1,use1-az2,x86_64\n", "aws");
  const Read b = read(
      "Region,SpotPrice,Price,AvailabilityZone,AcceleratorCount,AcceleratorName,InstanceType\n"
      "us-east-1,20.5,55.04,use1-az2,8,H100,p5.48xlarge\n",
      "aws");
  REQUIRE(a.offers.size() == 2);
  REQUIRE(b.offers.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) CHECK(a.offers[i].offer == b.offers[i].offer);
  const OfferEntry* on_demand = a.find("p5.48xlarge", PriceModel::kOnDemand, "us-east-1");
  REQUIRE(on_demand != nullptr);
  CHECK(on_demand->offer.usd_per_node_hour == 55.04);
  CHECK(on_demand->offer.device == "h100-sxm");
  CHECK(on_demand->offer.zone == "");  // an on-demand price holds for the region
  CHECK(on_demand->offer.as_of == "2026-01");
  const OfferEntry* spot = a.find("p5.48xlarge", PriceModel::kSpot, "us-east-1");
  REQUIRE(spot != nullptr);
  CHECK(spot->offer.zone == "use1-az2");
}

TEST_CASE("missing, zero and NaN prices are left out and counted; they are not zero dollars") {
  const Read r = read(kAws +
                          "p5e.48xlarge,H200,8,192,2048,,,18.7,us-east-2,use2-az3,x86_64\n"
                          "p5.48xlarge,H100,8,192,2048,,0.0,,us-east-2,use2-az1,x86_64\n"
                          "p5.48xlarge,H100,8,192,2048,,nan,NaN,us-east-2,use2-az2,x86_64\n",
                      "aws");
  REQUIRE(r.offers.size() == 1);
  CHECK(r.offers[0].offer.price_model == PriceModel::kSpot);
  CHECK(r.notes.find("2 prices left out: no price") != std::string::npos);
}

TEST_CASE("spot that costs as much as on-demand, or sits on a tenth of it, is no market") {
  const Read r = read(kAws +
                          "p5.48xlarge,H100,8,192,2048,,55.04,55.04,us-east-1,use1-az1,x86_64\n"
                          "p5.48xlarge,H100,8,192,2048,,55.04,60,us-east-1,use1-az2,x86_64\n"
                          "p5.48xlarge,H100,8,192,2048,,55.04,5.504,us-east-1,use1-az3,x86_64\n"
                          "p5.48xlarge,H100,8,192,2048,,55.04,30,us-east-1,use1-az4,x86_64\n",
                      "aws");
  REQUIRE(r.offers.size() == 2);  // one on-demand price for all zones, one spot price
  CHECK(r.find("p5.48xlarge", PriceModel::kSpot, "us-east-1")->offer.zone == "use1-az4");
  CHECK(r.notes.find("2 prices left out: spot is as dear as on-demand") != std::string::npos);
  CHECK(r.notes.find("1 price left out: spot lies on the floor") != std::string::npos);
}

TEST_CASE("a GCP offer is the host and its accelerators of the same zone, never of two zones") {
  const std::string rows =
      "a3-highgpu-8g,208,1872,,,,us-east4,us-east4-a,9.46006,2.15966\n"
      "a3-highgpu-8g,208,1872,,,,us-east5,us-east5-a,10.65,2.4\n"
      ",,,H100,8,{'Gpus': [{'MemoryInfo': {'SizeInMiB': 81920}}]},us-east4,us-east4-a,78.37241,17.8848\n"
      ",,,H100,8,{'Gpus': [{'MemoryInfo': {'SizeInMiB': 81920}}]},us-east4,us-east4-b,1.0,0.5\n"
      ",,,H100-MEGA,8,{'Gpus': [{'MemoryInfo': {'SizeInMiB': 81920}}]},us-east5,us-east5-a,2.0,1.0\n";
  const Read r = read(kGcp + rows, "gcp");
  REQUIRE(r.offers.size() == 2);
  // 9.46006 + 78.37241, 2.15966 + 17.8848.
  CHECK(r.find("a3-highgpu-8g", PriceModel::kOnDemand, "us-east4")->offer.usd_per_node_hour ==
        doctest::Approx(87.83247));
  CHECK(r.find("a3-highgpu-8g", PriceModel::kSpot, "us-east4")->offer.usd_per_node_hour ==
        doctest::Approx(20.04446));
  CHECK(r.find("a3-highgpu-8g", PriceModel::kOnDemand, "us-east4")->evidence == "derived");
  CHECK(r.notes.find(
            "1 price left out: a host without a price for its accelerators in the same zone (us-east5-a") !=
        std::string::npos);
  CHECK(r.notes.find("2 prices left out: accelerators without a host") != std::string::npos);
}

TEST_CASE("a host that costs nothing has no price, and neither has its sum") {
  const Read r = read(kGcp +
                          "a4-highgpu-8g,224,3968,,,,us-east4,us-east4-b,0.0,0.0\n"
                          ",,,B200,8,,us-east4,us-east4-b,100,40\n",
                      "gcp");
  CHECK(r.offers.empty());
  CHECK(r.notes.find("no price for the host or for its accelerators") != std::string::npos);
}

TEST_CASE("a low price that several continents share beside dearer ones is another product") {
  const std::string hosts =
      "a3-highgpu-8g,208,1872,,,,us-east4,us-east4-a,9,2\n"
      "a3-highgpu-8g,208,1872,,,,us-central1,us-central1-a,9,2\n"
      "a3-highgpu-8g,208,1872,,,,asia-northeast1,asia-northeast1-b,12,3\n";
  const Read r = read(kGcp + hosts +
                          ",,,H100,8,,us-east4,us-east4-a,78.4,17.9\n"
                          ",,,H100,8,,us-central1,us-central1-a,33.6,23.9\n"
                          ",,,H100,8,,asia-northeast1,asia-northeast1-b,33.6,28.5\n",
                      "gcp");
  CHECK(r.find("a3-highgpu-8g", PriceModel::kOnDemand, "us-east4") != nullptr);
  CHECK(r.find("a3-highgpu-8g", PriceModel::kOnDemand, "us-central1") == nullptr);
  CHECK(r.find("a3-highgpu-8g", PriceModel::kOnDemand, "asia-northeast1") == nullptr);
  CHECK(r.find("a3-highgpu-8g", PriceModel::kSpot, "us-central1") != nullptr);
  CHECK(r.notes.find("flex-start") != std::string::npos);
  // The same price everywhere, and no other to tell it from, is simply the price.
  const Read flat = read(kGcp + hosts +
                             ",,,H100,8,,us-central1,us-central1-a,33.6,23.9\n"
                             ",,,H100,8,,asia-northeast1,asia-northeast1-b,33.6,28.5\n",
                         "gcp");
  CHECK(flat.find("a3-highgpu-8g", PriceModel::kOnDemand, "us-central1") != nullptr);
}

TEST_CASE("rows whose accelerators contradict the node type are left out") {
  const auto row = [](const char* accelerator, const char* count, const char* info) {
    return std::string("p5.48xlarge,") + accelerator + "," + count + ",192,2048,\"" + info +
           "\",55.04,,us-east-1,,x86_64\n";
  };
  CHECK(read(kAws + row("H100", "8", ""), "aws").offers.size() == 1);
  CHECK(read(kAws + row("A100", "8", ""), "aws").offers.empty());
  CHECK(read(kAws + row("H100", "4", ""), "aws").offers.empty());
  CHECK(read(kAws + row("H100", "8", "{'Gpus': [{'MemoryInfo': {'SizeInMiB': 81920}}]}"), "aws")
            .offers.size() == 1);
  CHECK(read(kAws + row("H100", "8", "{'Gpus': [{'MemoryInfo': {'SizeInMiB': 40960}}]}"), "aws")
            .offers.empty());
  // GB in the column of MiB, and the sum over all GPUs: known habits of some clouds.
  CHECK(read(kAws + row("H100", "8", "{'Gpus': [{'MemoryInfo': {'SizeInMiB': 80}}]}"), "aws").offers.size() ==
        1);
  CHECK(read(kAws + row("H100", "8", "{'Gpus': [{'MemoryInfo': {'SizeInMiB': 655360}}]}"), "aws")
            .offers.size() == 1);
}

TEST_CASE("GpuInfo is read in Python's and in JSON's notation, null and all") {
  CHECK(gpu_memory_mib(
            "{'Gpus': [{'Name': 'H100', 'Manufacturer': null, 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': "
            "81920}}], 'TotalGpuMemoryInMiB': 655360}") == 81920);
  CHECK(gpu_memory_mib("{\"Gpus\": [{\"MemoryInfo\": {\"SizeInMiB\": 144384.0}}]}") == 144384);
  CHECK(!gpu_memory_mib(""));
  CHECK(!gpu_memory_mib("{'Gpus': [{'MemoryInfo': {'SizeInMiB': null}}]}"));
  CHECK(!gpu_memory_mib("SizeInMiB"));
}

TEST_CASE("instances that the catalogue does not know are counted, not dropped in silence") {
  const Read r = read(kAws +
                          "m5.large,,,2,8,,0.096,0.04,us-east-1,use1-az1,x86_64\n"
                          "p5.4xlarge,H100,1,16,256,,6.88,,us-east-1,use1-az1,x86_64\n",
                      "aws");
  CHECK(r.offers.empty());
  CHECK(r.notes.find("1 price left out: neither device nor node type is in the catalogue (m5.large)") !=
        std::string::npos);
  CHECK(
      r.notes.find(
          "1 price left out: the catalogue has a device of that name, but no such node type (p5.4xlarge)") !=
      std::string::npos);
}

TEST_CASE("broken lists are faults with their place") {
  const Read r =
      read(kAws + "p5.48xlarge,H100,8,192,2048,,cheap,,us-east-1,,x86_64\np5.48xlarge,H100\n", "aws");
  REQUIRE(r.faults.size() == 2);
  CHECK(to_string(r.faults[0]).find("vms.csv:2:30") != std::string::npos);
  CHECK(to_string(r.faults[1]).find("vms.csv:3") != std::string::npos);
  CHECK(read("InstanceType,Price\nx,1\n", "aws").faults.size() == 1);
  CHECK(read("", "aws").faults.size() == 1);
}

TEST_CASE("the cloud is told from a file's or folder's name") {
  const Catalog catalog = builtin_catalog();
  CHECK(guess_cloud(catalog, "catalogs/v8/aws/vms.csv") == "aws");
  CHECK(guess_cloud(catalog, "nebius_vms.csv") == "nebius");
  CHECK(guess_cloud(catalog, "gcp.csv") == "gcp");
  CHECK(!guess_cloud(catalog, "vms.csv"));
  CHECK(!guess_cloud(catalog, "/tmp/prices.csv"));
}

TEST_CASE("an import written as our table reads back as the same offers") {
  const Read r = read(kAws + "p5.48xlarge,H100,8.0,192,2048,,55.04,20.5,us-east-1,use1-az2,x86_64\n", "aws");
  Catalog catalog = builtin_catalog();
  catalog.offers.clear();
  Diagnostics faults;
  std::vector<std::string> notes;
  add_offers_csv(catalog, write_offers_csv(r.offers), "import.csv", faults, notes);
  CHECK(faults.empty());
  REQUIRE(catalog.offers.size() == r.offers.size());
  for (std::size_t i = 0; i < r.offers.size(); ++i) CHECK(catalog.offers[i].offer == r.offers[i].offer);
}

TEST_CASE("real lists give the node prices that a by-hand merge of them gives") {
  const std::filesystem::path folder = std::filesystem::path(TRAINFRONT_DATA_DIR) / "hardware";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no folder " << folder.string());
    return;
  }
  // prices.csv was merged by another program; it rounds to four decimals and keeps zones of GCP's on-demand
  // prices.
  std::map<std::tuple<std::string, std::string, std::string, std::string>, double> by_hand;
  CsvFile csv = CsvFile::open((folder / "prices.csv").string());
  const std::size_t cloud = csv.column("cloud"), region = csv.column("region"), zone = csv.column("zone"),
                    instance = csv.column("instance_type"), model = csv.column("price_model"),
                    price = csv.column("usd_per_node_hour");
  while (csv.next()) {
    if (csv[cloud] != "aws" && csv[cloud] != "gcp") continue;
    const bool spot = csv[model] == "spot";
    by_hand[{std::string(csv[instance]), std::string(csv[model]), std::string(csv[region]),
             spot ? std::string(csv[zone]) : ""}] = csv_number(csv[price]).value();
  }
  int compared = 0;
  for (const char* name : {"aws", "gcp"}) {
    const auto path = folder / "skypilot" / (std::string(name) + "_vms_gpu_filtered.csv");
    std::ifstream file(path);
    const Read r = read(std::string(std::istreambuf_iterator<char>(file), {}), name);
    CHECK(r.faults.empty());
    for (const OfferEntry& entry : r.offers) {
      const auto at =
          by_hand.find({entry.offer.instance, std::string(price_model_name(entry.offer.price_model)),
                        entry.offer.region, entry.offer.zone});
      if (at == by_hand.end()) continue;
      ++compared;
      CHECK_MESSAGE(std::abs(entry.offer.usd_per_node_hour - at->second) < 1e-4, entry.offer.instance, " ",
                    entry.offer.region);
    }
  }
  CHECK(compared > 150);
}
