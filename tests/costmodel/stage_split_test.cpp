#include "costmodel/stage_split.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace trainfront::costmodel {
namespace {

Model with_layers(int layers) {
  Model model;
  model.layers = layers;
  model.hidden = 1024;
  model.ffn = 4096;
  model.vocab = 32000;
  return model;
}

std::vector<int> counts(const Model& model, const Layout& layout, SplitPolicy policy = SplitPolicy::kEven) {
  const StageSplit split = split_layers(model, layout, policy);
  std::vector<int> result;
  for (int chunk = 0; chunk < split.chunks; ++chunk) result.push_back(split.layers(chunk));
  return result;
}

Layout pipeline(int pp, int vpp = 1, Framework framework = Framework::kMegatron) {
  Layout layout;
  layout.framework = framework;
  layout.pp = pp;
  layout.vpp = vpp;
  return layout;
}

TEST_CASE("layers that divide are shared evenly") {
  CHECK(counts(with_layers(32), pipeline(4)) == std::vector<int>{8, 8, 8, 8});
  CHECK(counts(with_layers(32), pipeline(2, 2)) == std::vector<int>{8, 8, 8, 8});
  CHECK(counts(with_layers(7), pipeline(1)) == std::vector<int>{7});
}

TEST_CASE("126 layers over 8 stages of 8 chunks count the embedding and the loss as layers") {
  const StageSplit split = split_layers(with_layers(126), pipeline(8, 8));
  CHECK(split.kind == SplitKind::kAccounted);
  CHECK(split.layers(0) == 1);
  CHECK(split.layers(1) == 2);
  CHECK(split.layers(63) == 1);
}

TEST_CASE("61 layers over 9 stages: 63 over 9 is 7, the ends hold 6") {
  CHECK(counts(with_layers(61), pipeline(9)) == std::vector<int>{6, 7, 7, 7, 7, 7, 7, 7, 6});
}

TEST_CASE("30 layers over 4 stages are 7 8 8 7") {
  CHECK(counts(with_layers(30), pipeline(4)) == std::vector<int>{7, 8, 8, 7});
  CHECK(counts(with_layers(30), pipeline(4, 1, Framework::kTorchtitan)) == std::vector<int>{7, 8, 8, 7});
}

TEST_CASE("80 layers over 16 stages of 2 chunks need a layout string on Megatron") {
  CHECK(split_layers(with_layers(80), pipeline(16, 2)).kind == SplitKind::kBalanced);
}

TEST_CASE("a split by cost gives the last stage fewer layers, for it has the head") {
  // A layer costs 4 h^2 + 3 h f = 16 h^2, the head 31.25 h^2: 33.95 layers in all, 8.49 a stage.
  CHECK(counts(with_layers(32), pipeline(4), SplitPolicy::kByCost) == std::vector<int>{9, 8, 9, 6});
}

TEST_CASE("a block that ends just at a stage's share of the cost stays in it") {
  // hidden 2048, MLP 8192: a layer costs 16 h^2, the head of 131,072 words 64 h^2 = 4 layers; 20 in all, 5 a
  // stage.
  Model model = with_layers(16);
  model.hidden = 2048;
  model.ffn = 8192;
  model.vocab = 131072;
  CHECK(counts(model, pipeline(4), SplitPolicy::kByCost) == std::vector<int>{5, 5, 5, 1});
}

TEST_CASE("whatever the numbers, the chunks' layers sum to the model's and none is negative") {
  for (const Framework framework : {Framework::kMegatron, Framework::kTorchtitan, Framework::kDeepspeed}) {
    for (const SplitPolicy policy : {SplitPolicy::kEven, SplitPolicy::kByCost}) {
      for (int layers = 1; layers <= 130; ++layers) {
        for (int pp = 1; pp <= 32; ++pp) {
          for (int vpp = 1; vpp <= 4; ++vpp) {
            int sum = 0;
            int least = layers;
            for (const int count : counts(with_layers(layers), pipeline(pp, vpp, framework), policy)) {
              sum += count;
              least = std::min(least, count);
            }
            REQUIRE(sum == layers);
            REQUIRE(least >= 0);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace trainfront::costmodel
