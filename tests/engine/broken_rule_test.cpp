#include "engine/broken_rule.hpp"

#include <doctest/doctest.h>

#include "tests/costmodel/test_device.hpp"

namespace trainfront::engine {
namespace {

search::Problem qwen_like() {
  search::Problem problem;
  problem.model.layers = 28;
  problem.model.hidden = 3584;
  problem.model.heads = 28;
  problem.model.kv_heads = 4;
  problem.model.head_dim = 128;
  problem.model.ffn = 18944;
  problem.model.vocab = 152064;
  problem.recipe.sequence_length = 4096;
  problem.global_batches = {256};
  problem.gpus = {64};
  problem.hardware = {{.hardware = costmodel::h100_cluster(), .offers = {}}};
  return problem;
}

TEST_CASE("a layout that no plan has is told by the rule it breaks, with the nearest legal values") {
  search::Problem problem = qwen_like();
  problem.layout.tp = {8};
  const auto broken = broken_rule(problem);
  REQUIRE(broken);
  CHECK(broken->rule == costmodel::Rule::kHeadsByTp);
  CHECK(broken->words.find("28 attention heads do not divide by tp 8") != std::string::npos);
  problem.layout.tp = {4};
  CHECK_FALSE(broken_rule(problem));
  problem.layout.pp = {3};
  CHECK(broken_rule(problem)->rule == costmodel::Rule::kGpusNotDivisible);
  problem.layout.pp = {4};
  problem.layout.micro_batch = {3};
  CHECK(broken_rule(problem)->rule == costmodel::Rule::kBatch);
}

}  // namespace
}  // namespace trainfront::engine
