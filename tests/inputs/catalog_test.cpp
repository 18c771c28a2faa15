#include "inputs/catalog.hpp"

#include <doctest/doctest.h>

#include "costmodel/parameters.hpp"

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
