#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "inputs/catalog.hpp"

using namespace trainfront;
using namespace trainfront::inputs;

namespace {

const Catalog& shipped() {
  static const Catalog catalog = builtin_catalog();
  return catalog;
}

struct Read {
  Catalog catalog;
  std::string faults;
  std::vector<std::string> notes;
};

Read read(const std::string& text) {
  Read result{shipped(), "", {}};
  Diagnostics faults;
  add_catalog_toml(result.catalog, text, "mine.toml", faults, result.notes);
  for (const Fault& fault : faults.faults()) result.faults += to_string(fault) + "\n";
  return result;
}

bool mentions(const Read& read, std::string_view words) {
  return read.faults.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("every shipped entry names its source, date and evidence") {
  const Catalog& catalog = shipped();
  const auto whole = [](const Origin& origin) {
    return !origin.source.empty() && !origin.as_of.empty() && !origin.evidence.empty();
  };
  for (const auto& entry : catalog.devices) CHECK_MESSAGE(whole(entry.origin), entry.device.id);
  for (const auto& entry : catalog.networks) CHECK_MESSAGE(whole(entry.origin), entry.network.kind);
  for (const auto& node : catalog.nodes) CHECK_MESSAGE(whole(node.origin), node.instance);
  for (const auto& entry : catalog.models) CHECK_MESSAGE(whole(entry.origin), entry.name);
  for (const auto& rate : catalog.failures) CHECK(whole(rate.origin));
  for (const auto& rate : catalog.spot) CHECK(whole(rate.origin));
  for (const auto& figure : catalog.recovery) CHECK_MESSAGE(whole(figure.origin), figure.key);
  for (const auto& entry : catalog.offers)
    CHECK_MESSAGE(whole({entry.offer.source, entry.offer.as_of, entry.evidence}), entry.offer.instance);
}

TEST_CASE("shipped names are unique, and every spelling leads to one device") {
  const Catalog& catalog = shipped();
  for (const auto& entry : catalog.devices) {
    CHECK(catalog.find_device(entry.device.id) == &entry);
    CHECK(catalog.resolve_device(entry.device.id) == &entry);
    for (const std::string& also : entry.also) CHECK_MESSAGE(catalog.resolve_device(also) == &entry, also);
  }
  CHECK(catalog.resolve_device("h100-80gb-hbm3")->device.id == "h100-sxm");
  CHECK(catalog.resolve_device("MI300X")->device.id == "mi300x");
  CHECK(catalog.resolve_device("RTX 4090") == nullptr);
  for (const auto& node : catalog.nodes)
    CHECK_MESSAGE(catalog.find_node(node.provider, node.instance) == &node, node.instance);
  for (const auto& entry : catalog.models)
    CHECK_MESSAGE(catalog.find_model(entry.name) == &entry, entry.name);
}

TEST_CASE("shipped devices hold figures of the right size, dense and one way") {
  const Catalog& catalog = shipped();
  for (const auto& entry : catalog.devices) {
    const costmodel::Device& device = entry.device;
    INFO(device.id);
    CHECK(device.bf16_flops_per_s > 1e14);
    CHECK(device.bf16_flops_per_s < 3e15);
    // fp8 units run twice as fast as bf16 ones where there are any.
    if (device.fp8_flops_per_s > 0)
      CHECK(device.fp8_flops_per_s == doctest::Approx(2 * device.bf16_flops_per_s).epsilon(0.02));
    CHECK(device.memory_bytes > 32e9);
    CHECK(device.memory_bytes < 320e9);
    CHECK(device.memory_bytes_per_s > 0.8e12);
    CHECK(device.memory_bytes_per_s <= 8e12);
    CHECK(device.link_bytes_per_s >= 32e9);
    CHECK(device.link_bytes_per_s <= 900e9);
    CHECK(device.profile.bf16.flops_per_s > 0);
    CHECK(device.profile.bf16.flops_per_s < device.bf16_flops_per_s);
  }
  // The H100 SXM5: dense peak of the data sheet, memory as nvidia-smi has it, half of 900 GB/s both ways.
  const costmodel::Device& h100 = catalog.find_device("h100-sxm")->device;
  CHECK(h100.bf16_flops_per_s == 989.4e12);
  CHECK(h100.memory_bytes == 81559.0 * 1024 * 1024);
  CHECK(h100.link_bytes_per_s == 450e9);
}

TEST_CASE("shipped nodes are wired as their instances are") {
  const Catalog& catalog = shipped();
  const NodeType* p5 = catalog.find_node("aws", "p5.48xlarge");
  REQUIRE(p5 != nullptr);
  CHECK(p5->network.kind == "efa-v2");
  CHECK(p5->network.nic_bytes_per_s == 50e9);  // 3200 Gb/s over 8 GPUs
  CHECK(p5->network.latency_scale == 4);
  CHECK(p5->domain_gpus == 8);
  const NodeType* tray = catalog.find_node("anybody", "gb200-nvl72");
  REQUIRE(tray != nullptr);
  CHECK(tray->gpus_per_node == 4);
  CHECK(tray->domain_gpus == 72);
  CHECK(!catalog.find_node("lambda", "gpu_8x_h100_sxm5")->network.rdma);
  CHECK(catalog.find_node("aws", "p6.48xlarge") == nullptr);
  for (const NodeType& node : catalog.nodes) {
    INFO(node.instance);
    CHECK(catalog.find_device(node.device) != nullptr);
    CHECK((node.domain_gpus % node.gpus_per_node == 0 || node.gpus_per_node % node.domain_gpus == 0));
    CHECK(node.network.nic_bytes_per_s <= 100e9);
  }
}

TEST_CASE("shipped spot offers are below on-demand at the same place, and prices are of whole nodes") {
  for (const auto& entry : shipped().offers) {
    const double per_gpu = entry.offer.usd_per_node_hour / entry.offer.gpus_per_node;
    CHECK_MESSAGE(per_gpu > 0.2, entry.offer.instance);
    CHECK_MESSAGE(per_gpu < 20, entry.offer.instance);
  }
}

TEST_CASE("failure defaults: a rate per 1000 node-days becomes a node's mean time between failures") {
  const Catalog& catalog = shipped();
  // Llama 3: 419 interruptions of 2048 nodes in 54 days: 3.79 per 1000 node-days, 263 days or 6,333 h a node.
  const double measured = 419.0 / (2048.0 * 54) * 1000;
  CHECK(catalog.find_failures("h100-sxm")->base == doctest::Approx(measured).epsilon(0.01));
  CHECK(node_mtbf_s(measured, 8) / 3600 == doctest::Approx(6333).epsilon(0.001));
  CHECK(node_mtbf_s(measured, 4) == doctest::Approx(2 * node_mtbf_s(measured, 8)));
  CHECK(catalog.find_failures("b200")->base > catalog.find_failures("h200-sxm")->base);
  CHECK(catalog.find_failures("mi300x")->devices.empty());  // the entry for all others
  CHECK(catalog.find_spot("aws")->base == doctest::Approx(1 / 16.7).epsilon(0.01));
  CHECK(catalog.find_spot("somebody")->provider == "");
  CHECK(catalog.find_recovery("storage_bandwidth")->base == 2e12);
  CHECK(catalog.find_recovery("replace")->high == 4 * 3600.0);
  CHECK(catalog.find_recovery("nothing") == nullptr);
}

TEST_CASE("a user's file changes only what it names of a known entry") {
  const Read r = read(
      "[[device]]\nid = \"h100-sxm\"\nbf16_tflops = 800\n"
      "[[network]]\nkind = \"efa-v2\"\nlatency_scale = 2\n"
      "[[node]]\nprovider = \"aws\"\ninstance = \"p5.48xlarge\"\nnetwork_gbps = 1600\n");
  CHECK(r.faults == "");
  const DeviceEntry* h100 = r.catalog.find_device("h100-sxm");
  CHECK(h100->device.bf16_flops_per_s == 800e12);
  CHECK(h100->device.memory_bytes == shipped().find_device("h100-sxm")->device.memory_bytes);
  CHECK(r.catalog.devices.size() == shipped().devices.size());
  CHECK(r.catalog.find_node("aws", "p5.48xlarge")->network.nic_bytes_per_s == 25e9);
  // Nodes on a network that changes change with it.
  CHECK(r.catalog.find_node("aws", "p5.48xlarge")->network.latency_scale == 2);
  CHECK(r.catalog.find_node("aws", "p5e.48xlarge")->network.latency_scale == 2);
  CHECK(r.catalog.find_node("aws", "p5e.48xlarge")->network.nic_bytes_per_s == 50e9);
}

TEST_CASE(
    "a user's file can add a device, a network, a node, an offer and a model that build on one another") {
  const Read r = read(R"(
[[device]]
id = "h100-custom"
bf16_tflops = 900
memory = "94 GB"
memory_tb_per_s = 3.0
link_gb_per_s = 450
domain_gpus = 4
compute_units = 132

[[network]]
kind = "my-ethernet"
latency_scale = 3
efficiency = 0.8
rdma = true

[[node]]
instance = "my-box"
device = "h100-custom"
gpus = 4
network = "my-ethernet"
network_gbps = 800

[[offer]]
provider = "own"
region = "lab"
instance = "my-box"
price_model = "owned"
usd_per_node_hour = 0
max_nodes = 16

[[model]]
name = "tiny"
layers = 2
hidden = 64
heads = 4
ffn = 256
vocab = 1000
)");
  CHECK(r.faults == "");
  const DeviceEntry* device = r.catalog.find_device("h100-custom");
  REQUIRE(device != nullptr);
  CHECK(!device->measured);
  CHECK(device->device.profile.bf16.flops_per_s > 0);  // scaled from the data sheet
  const NodeType* node = r.catalog.find_node("own", "my-box");
  REQUIRE(node != nullptr);
  CHECK(node->network.nic_bytes_per_s == 25e9);
  CHECK(node->domain_gpus == 4);
  const OfferEntry& offer = r.catalog.offers.back();
  CHECK(offer.offer.provider == "own");
  CHECK(offer.offer.device == "h100-custom");
  CHECK(offer.offer.max_nodes == 16);
  CHECK(r.catalog.find_model("tiny") != nullptr);
}

TEST_CASE("what a new entry needs and lacks is named") {
  const Read r = read("[[device]]\nid = \"new\"\nbf16_tflops = 1\n[[node]]\ninstance = \"box\"\n");
  for (const char* key :
       {"memory", "memory_tb_per_s", "link_gb_per_s", "domain_gpus", "compute_units", "network_gbps"})
    CHECK_MESSAGE(mentions(r, key), key);
}

TEST_CASE("faults name file, line, key, what was found and the nearest name") {
  const Read r = read(
      "[[device]]\nid = \"h100-sxm\"\nbf16_tflop = 1\n"
      "[[node]]\ninstance = \"box\"\ndevice = \"h100-smx\"\ngpus = 0\nnetwork = \"infinband\"\nnetwork_gbps "
      "= -1\n"
      "[[devices]]\nid = \"x\"\n");
  CHECK(mentions(r, "mine.toml:3:1: device[1].bf16_tflop: unknown key"));
  CHECK(mentions(r, "did you mean \"bf16_tflops\""));
  CHECK(mentions(r, "mine.toml:6:"));
  CHECK(mentions(r, "did you mean \"h100-sxm\""));
  CHECK(mentions(r, "mine.toml:7:"));
  CHECK(mentions(r, "did you mean \"infiniband\""));
  CHECK(mentions(r, "mine.toml:9:"));
  CHECK(mentions(r, "did you mean \"device\""));
}

TEST_CASE("sizes need their unit: GB and GiB differ by 7 percent") {
  const auto memory = [](const std::string& text) {
    const Read r = read("[[device]]\nid = \"h100-sxm\"\nmemory = " + text + "\n");
    return r.faults == "" ? r.catalog.find_device("h100-sxm")->device.memory_bytes : -1;
  };
  CHECK(memory("\"80 GB\"") == 80e9);
  CHECK(memory("\"80 GiB\"") == 80.0 * 1024 * 1024 * 1024);
  CHECK(memory("80") == -1);
  CHECK(memory("\"80\"") == -1);
}

TEST_CASE("numbers that are not of this world are refused") {
  for (const char* value : {"0", "-1", "nan", "inf", "1e400", "\"80\"", "true", "9223372036854775808"}) {
    const Read r = read(std::string("[[device]]\nid = \"h100-sxm\"\nbf16_tflops = ") + value + "\n");
    CHECK_MESSAGE(!r.faults.empty(), value);
    CHECK(mentions(r, "mine.toml:3:"));
  }
}

TEST_CASE("a model whose shape does not meet its stated parameters is refused with the count") {
  const std::string shape =
      "[[model]]\nname = \"tiny\"\nlayers = 2\nhidden = 64\nheads = 4\nffn = 256\nvocab = 1000\n";
  // Embedding and head 2 x 64,000; a layer: 4 x 64^2 attention, 3 x 64 x 256 MLP, 2 x 64 norms; the last
  // norm 64.
  constexpr int kTotal = 2 * 64000 + 2 * (4 * 64 * 64 + 3 * 64 * 256 + 2 * 64) + 64;
  CHECK(read(shape + "parameters = " + std::to_string(kTotal) + "\n").faults == "");
  const Read wrong = read(shape + "parameters = 1000000\n");
  CHECK(mentions(wrong, "the shape has " + std::to_string(kTotal) + " parameters"));
}

TEST_CASE("a user's failure rates go before the shipped ones, and must be in order") {
  const Read r = read(
      "[[node_failures]]\ndevices = [\"h100-sxm\"]\nbase = 1.5\n[[spot]]\nprovider = \"aws\"\nbase = 0.2\n"
      "[[recovery]]\nkey = \"detect\"\nbase = \"30s\"\n");
  CHECK(r.faults == "");
  CHECK(r.catalog.find_failures("h100-sxm")->base == 1.5);
  CHECK(r.catalog.find_failures("h200-sxm")->base == shipped().find_failures("h200-sxm")->base);
  CHECK(r.catalog.find_spot("aws")->base == 0.2);
  CHECK(r.catalog.find_recovery("detect")->base == 30);
  CHECK(mentions(read("[[node_failures]]\ndevices = []\nlow = 5\nbase = 4\nhigh = 6\n"),
                 "must lie between low and high"));
  CHECK(mentions(read("[[node_failures]]\ndevices = [\"h100\"]\nbase = 4\n"), "unknown device"));
  CHECK(mentions(read("[[recovery]]\nkey = \"detct\"\nbase = \"30s\"\n"), "did you mean \"detect\""));
}

TEST_CASE("offers in TOML obey the rules of the table") {
  const std::string row =
      "[[offer]]\nprovider = \"aws\"\nregion = \"us-east-1\"\ninstance = \"p5.48xlarge\"\nprice_model = ";
  const Read good = read(row + "\"reserved\"\nusd_per_node_hour = \"35.5\"\n");
  CHECK(good.faults == "");
  CHECK(good.catalog.offers.size() == shipped().offers.size() + 1);
  CHECK(mentions(read(row + "\"on_demand\"\nusd_per_node_hour = 0\n"), "usd_per_node_hour"));
  CHECK(mentions(read(row + "\"on-demand\"\nusd_per_node_hour = 1\n"), "did you mean \"on_demand\""));
  CHECK(mentions(read("[[offer]]\nprovider = \"own\"\nregion = \"x\"\ninstance = \"dgx-h10\"\nprice_model = "
                      "\"owned\"\nusd_per_node_hour = 1\n"),
                 "did you mean \"dgx-h100\""));
  // It replaces the shipped price of the same name, which is noted.
  const Read replaced = read(row + "\"on_demand\"\nusd_per_node_hour = 40\n");
  CHECK(replaced.catalog.offers.size() == shipped().offers.size());
  CHECK(replaced.notes.size() == 1);
}

TEST_CASE("broken TOML, an empty file and marks of other systems") {
  CHECK(mentions(read("[[device]]\nid = \"x\n"), "mine.toml:2:"));
  CHECK(read("").faults == "");
  CHECK(read("\xEF\xBB\xBF[[device]]\r\nid = \"h100-sxm\"\r\nbf16_tflops = 800\r\n").faults == "");
}

TEST_CASE("a catalogue file is told by its ending, and SkyPilot's lists by their header") {
  const auto folder = std::filesystem::temp_directory_path() / "trainfront-catalog-test" / "aws";
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  };
  Catalog catalog = shipped();
  catalog.offers.clear();
  Diagnostics faults;
  std::vector<std::string> notes;
  add_catalog_file(catalog, write("a.toml", "[[device]]\nid = \"h100-sxm\"\nbf16_tflops = 800\n"), faults,
                   notes);
  add_catalog_file(
      catalog,
      write("b.CSV", "provider,region,instance,price_model,usd_per_node_hour\nown,lab,dgx-h100,owned,0\n"),
      faults, notes);
  add_catalog_file(catalog,
                   write("vms.csv",
                         "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\n"
                         "p5.48xlarge,H100,8,55.04,20,us-east-1\n"),
                   faults, notes);
  CHECK(faults.empty());
  CHECK(catalog.find_device("h100-sxm")->device.bf16_flops_per_s == 800e12);
  CHECK(catalog.offers.size() == 3);
  add_catalog_file(catalog, write("c.yaml", "x"), faults, notes);
  add_catalog_file(catalog, folder / "missing.toml", faults, notes);
  CHECK(faults.faults().size() == 2);
  std::filesystem::remove_all(folder.parent_path());
}
