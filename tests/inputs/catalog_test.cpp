#include "inputs/catalog.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "costmodel/parameters.hpp"
#include "inputs/csv.hpp"

using namespace trainfront;
using namespace trainfront::inputs;

TEST_CASE("the shipped catalogue can be read, and holds what users will name") {
  std::vector<std::string> notes;
  const Catalog catalog = builtin_catalog(&notes);
  for (const std::string& note : notes) MESSAGE(note);
  CHECK(notes.empty());
  for (const char* id :
       {"a100-40gb-sxm", "a100-80gb-sxm", "a100-pcie", "h100-sxm", "h100-pcie", "h200-sxm", "h800-sxm",
        "b200", "b300", "gb200", "gb300", "l40s", "mi250x", "mi300x", "mi325x", "mi355x", "v100-sxm2"})
    CHECK_MESSAGE(catalog.find_device(id) != nullptr, id);
  CHECK(catalog.models.size() >= 30);
  CHECK(catalog.find_model("llama-3.1-405b") != nullptr);
}

TEST_CASE("every device of the table of GPUs is known, with its peak and its memory") {
  const std::filesystem::path table = std::filesystem::path(TRAINFRONT_DATA_DIR) / "hardware" / "gpus.csv";
  if (!std::filesystem::exists(table)) {
    MESSAGE("skipped: the table of GPUs is not beside the sources");
    return;
  }
  const Catalog catalog = builtin_catalog();
  CsvFile rows = CsvFile::open(table.string(), {.delimiter = ',', .comment = '#'});
  int count = 0;
  while (rows.next()) {
    const std::string name(rows[rows.column("gpu")]);
    CAPTURE(name);
    const DeviceEntry* entry = catalog.resolve_device(name);
    if (entry == nullptr) entry = catalog.find_unmodelled(name);
    REQUIRE(entry != nullptr);
    const double parts = name == "MI250X" ? 2 : 1;  // the table has the module, frameworks see its two dies
    CHECK(parts * entry->device.bf16_flops_per_s / 1e12 ==
          doctest::Approx(std::stod(std::string(rows[rows.column("bf16_tflops")]))));
    CHECK(parts * entry->device.memory_bytes_per_s / 1e12 ==
          doctest::Approx(std::stod(std::string(rows[rows.column("hbm_tb_s")]))));
    ++count;
  }
  CHECK(count >= 23);
}
