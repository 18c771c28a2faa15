#include "inputs/profile_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "costmodel/data_sheet_profile.hpp"

namespace trainfront::inputs {
namespace {

costmodel::DeviceProfile base_profile() {
  costmodel::Device device;
  device.id = "h100-sxm";
  device.bf16_flops_per_s = 989.4e12;
  device.fp8_flops_per_s = 1978.9e12;
  device.memory_bytes_per_s = 3.35e12;
  return costmodel::data_sheet_profile(device);
}

std::string only_fault(std::string_view text) {
  Diagnostics faults;
  parse_profile(text, "p.toml", base_profile(), faults);
  REQUIRE(faults.faults().size() == 1);
  return to_string(faults.faults().front());
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a profile that is written and read again is the same text") {
  costmodel::DeviceProfile profile = base_profile();
  profile.bf16.evidence = costmodel::Evidence::kCalibrated;
  profile.bf16.table.axes = {std::vector<double>{0, 10}, {5, 6, 7}, {4}};
  profile.bf16.table.log_values = {-9.5, -9.25, -9, -8.5, -8.25, -8};
  costmodel::GemmTree tree;
  for (std::size_t i = 0; i < tree.questions.size(); ++i)
    tree.questions[i] = {static_cast<costmodel::GemmTrait>(4 * i), 1234.5 * static_cast<double>(i) / 7};
  for (std::size_t i = 0; i < tree.log_thousandths.size(); ++i)
    tree.log_thousandths[i] = static_cast<std::int16_t>(30 - 2 * static_cast<int>(i));
  profile.bf16.steps = {tree, tree};
  profile.attention.evidence = costmodel::Evidence::kInterpolated;
  profile.network = {.latency_scale = 2.5,
                     .efficiency = 0.9,
                     .most_domains = 4,
                     .kind = "roce-v2",
                     .of_collective = {true, false, true}};
  const std::string text = write_profile(profile, "h100-sxm");
  Diagnostics faults;
  const costmodel::DeviceProfile again = parse_profile(text, "p.toml", base_profile(), faults);
  for (const Fault& fault : faults.faults()) FAIL_CHECK(to_string(fault));
  CHECK(write_profile(again, "h100-sxm") == text);
  CHECK(again.bf16.table == profile.bf16.table);
  CHECK(again.bf16.steps == profile.bf16.steps);
  CHECK(again.network.most_domains == 4);
  CHECK(again.network.kind == "roce-v2");
  CHECK(again.network.of_collective == std::array{true, false, true, false, false});
  CHECK(profile_device(text) == "h100-sxm");
  CHECK(profile_device("[[device]]\nid = \"x\"\n").empty());
  CHECK(text.find("memory_bound") == std::string::npos);  // data-sheet values are not written
}

TEST_CASE("a table with the wrong number of values, or an axis that falls, is a fault") {
  const std::string head =
      "schema = 1\n[collective.all_gather]\n[collective.all_gather.table]\nranks = [2, 8]\n";
  CHECK(has(only_fault(head + "bytes = [1024, 4096]\nlog_thousandths = [[-1, -2], [-3]]\n"), "3 numbers"));
  CHECK(has(only_fault(head + "bytes = [4096, 1024]\nlog_thousandths = [[-1, -2], [-3, -4]]\n"), "p.toml:5"));
}

TEST_CASE("steps that are no trees, ask what nobody knows, or stand over no table are faults") {
  const auto text = [](std::string_view question, std::string_view last_leaf) {
    std::string tree = "schema = 1\n[gemm.bf16]\nsteps = [\n  \"";
    for (int i = 0; i < 5; ++i) tree += "m n > 65536; ";
    tree += std::string(question) + ": ";
    for (int i = 0; i < 63; ++i) tree += "-1 ";
    return tree + std::string(last_leaf) + "\",\n]\n";
  };
  const std::string table =
      "[gemm.bf16.table]\nm = [1, 64]\nn = [64]\nk = [64]\nlog_thousandths = [[-9000], [-8000]]\n";
  Diagnostics faults;
  const auto profile =
      parse_profile(text("blocks 128x256 > 108", "-7") + table, "p.toml", base_profile(), faults);
  CHECK(faults.empty());
  REQUIRE(profile.bf16.steps.size() == 1);
  CHECK(profile.bf16.steps[0].questions[5] == costmodel::GemmQuestion{costmodel::GemmTrait::kTiles, 108});
  CHECK(profile.bf16.steps[0].log_thousandths[63] == -7);
  CHECK(has(only_fault(text("blocks 100x100 > 108", "-7") + table),
            "not a question: \"blocks 100x100 > 108\""));
  CHECK(has(only_fault(text("m > many", "-7") + table), "p.toml:4"));
  CHECK(has(only_fault(text("m > nan", "-7") + table), "not a question"));
  CHECK(has(only_fault(text("m > 1; n > 1", "-7") + table), "too many questions"));
  CHECK(has(only_fault(text("m > 1", "-7 -7") + table), "too many numbers"));
  for (const char* leaf : {"-7000", "0.5", ""})
    CHECK(has(only_fault(text("m > 1", leaf) + table), "not a logarithm of a factor"));
  CHECK(has(only_fault(text("m > 1", "-7")), "steps over a table"));
  CHECK(has(only_fault("schema = 1\n[gemm.bf16]\nsteps = 3\n" + table), "a list of texts"));
  CHECK(has(only_fault("schema = 1\n[gemm.bf16]\nsteps = [3]\n" + table), "not the text of a tree"));
}

TEST_CASE("what a profile does not state stays as in the base") {
  Diagnostics faults;
  const auto profile = parse_profile(
      "schema = 1\nname = \"mine\"\n[gemm.bf16]\nevidence = \"calibrated\"\nflops_per_s = 700e12\n", "p.toml",
      base_profile(), faults);
  CHECK(faults.empty());
  CHECK(profile.name == "mine");
  CHECK(profile.bf16.flops_per_s == 700e12);
  CHECK(profile.bf16.evidence == costmodel::Evidence::kCalibrated);
  CHECK(profile.bf16.bytes_per_s == base_profile().bf16.bytes_per_s);
  CHECK(profile.fp8.evidence == costmodel::Evidence::kDataSheet);
}

TEST_CASE("faults name file, line and key") {
  const std::string unknown = only_fault("schema = 1\n[gemm.bf16]\nflops_per_sec = 1e12\n");
  CHECK(has(unknown, "p.toml:3"));
  CHECK(has(unknown, "gemm.bf16.flops_per_sec"));
  CHECK(has(unknown, "flops_per_s\""));  // the nearest known name
  CHECK(has(only_fault("schema = 1\n[gemm.bf16]\nflops_per_s = \"fast\"\n"), "p.toml:3"));
  CHECK(has(only_fault("schema = 1\n[gemm.bf16]\nflops_per_s = -1\n"), "out of range"));
  CHECK(has(only_fault("schema = 1\n[gemm.bf16]\nevidence = \"guessed\"\n"), "data sheet"));
  CHECK(has(only_fault("schema = 2\n"), "schema = 1"));
  CHECK(has(only_fault("schema = 1\n[gemm\n"), "p.toml:2"));
  const std::string network =
      "schema = 1\n[network]\nlatency_scale = 2.0\nefficiency = 0.9\nmost_domains = 4\n";
  CHECK(has(only_fault(network), "kind of network"));
  CHECK(has(only_fault(network + "kind = \"infiniband\"\ncollectives = [\"all_reduce\", \"gather\"]\n"),
            "p.toml:7"));
  CHECK(has(only_fault("schema = 1\n[colective.all_reduce]\nbase_s = 1e-6\n"), "colective"));
}

TEST_CASE("the shipped profiles read without a fault") {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(TRAINFRONT_SOURCE_DIR "/inputs/catalog/profiles")) {
    Diagnostics faults;
    const auto profile = read_profile(entry.path(), base_profile(), faults);
    for (const Fault& fault : faults.faults()) FAIL_CHECK(to_string(fault));
    CHECK(profile.name.starts_with(entry.path().stem().string()));
    ++files;
  }
  CHECK(files > 0);
}

}  // namespace trainfront::inputs
