#include "costmodel/legality.hpp"

#include <doctest/doctest.h>

#include <set>

#include "reference_models.hpp"

namespace trainfront::costmodel {

using namespace reference;

namespace {

Hardware h100_node() {
  Hardware hardware;
  hardware.device.id = "h100-sxm";
  hardware.device.fp8_flops_per_s = 1979e12;
  hardware.device.memory_bytes = 80e9;
  hardware.network.kind = "InfiniBand NDR";
  return hardware;
}

Recipe recipe_of(int sequence_length) {
  Recipe recipe;
  recipe.tokens = 1e12;
  recipe.sequence_length = sequence_length;
  return recipe;
}

Rule check(const Model& model, const Layout& layout, int sequence_length = 8192) {
  return check_layout(model, recipe_of(sequence_length), layout, h100_node());
}

Layout pipeline(int pp, int vpp = 1) {
  Layout layout;
  layout.pp = pp;
  layout.vpp = vpp;
  layout.schedule = vpp > 1 ? Schedule::kInterleaved : Schedule::k1f1b;
  return layout;
}

Model layers(int count) {
  return dense(count, 4096, 32, 32, 16384, 32000);
}
Model heads(int attention, int key_value) {
  Model model = dense(32, attention * 128, attention, key_value, 40320, 32000);
  return model;
}

Layout tensor(int tp, bool sp = false) {
  Layout layout;
  layout.tp = tp;
  layout.sp = sp;
  return layout;
}

Rule batch_rule(const Layout& layout, std::int64_t global_batch) {
  return check_batch(layers(32), recipe_of(4096), layout, global_batch);
}

}  // namespace

TEST_CASE("layers over stages: what Megatron cannot spread is refused, never rounded") {
  CHECK(check(layers(80), pipeline(16, 2)) == Rule::kLayersByStages);
  CHECK(check(layers(40), pipeline(16)) == Rule::kLayersByStages);
  CHECK(check(layers(40), pipeline(8, 2)) == Rule::kLayersByStages);
  CHECK(check(layers(80), pipeline(16, 5)) == Rule::kNone);
  CHECK(check(layers(32), pipeline(8)) == Rule::kNone);
}

TEST_CASE("more stages than pipelines are timed with are refused, with the nearest that are not") {
  CHECK(check(layers(375), pipeline(375)) == Rule::kLayersByStages);
  CHECK(check(layers(512), pipeline(256)) == Rule::kNone);
  const std::string words =
      explain_rule(Rule::kLayersByStages, layers(375), recipe_of(8192), pipeline(375), h100_node(), 1);
  CHECK(words.find("256 stages") != std::string::npos);
  CHECK(words.find("125") != std::string::npos);
}

TEST_CASE("uneven splits that Megatron can launch are accepted") {
  CHECK(check(layers(30), pipeline(4)) == Rule::kNone);       // 7 8 8 7
  CHECK(check(layers(61), pipeline(9)) == Rule::kNone);       // embedding and loss count: 63 = 9 x 7
  CHECK(check(layers(126), pipeline(8, 16)) == Rule::kNone);  // 128 = 8 x 16
  CHECK(check(layers(126), pipeline(16, 8)) == Rule::kNone);
  CHECK(check(layers(126), pipeline(16, 3)) == Rule::kLayersByStages);
  CHECK(check(layers(61), pipeline(16)) == Rule::kNone);  // first 3, last 2, fourteen of 4
  CHECK(check(layers(61), pipeline(16, 2)) ==
        Rule::kNone);  // no number of chunks divides them: a written layout
  CHECK(check(layers(61), pipeline(16, 4)) ==
        Rule::kLayersByStages);  // 64 chunks for 61 layers, embedding and loss
}

TEST_CASE("chunks without layers are refused unless they hold the embedding or the loss") {
  CHECK(check(layers(5), pipeline(8)) == Rule::kLayersByStages);
  CHECK(check(layers(1), pipeline(4)) == Rule::kLayersByStages);
  CHECK(check(layers(6), pipeline(8)) == Rule::kNone);
  CHECK(check(layers(126), pipeline(8, 16)) == Rule::kNone);  // as Llama 3.1 405B is trained
}

TEST_CASE("interleaving needs stages and whole groups of micro-batches") {
  Layout layout = pipeline(4, 2);
  layout.dp = 1;
  CHECK(batch_rule(layout, 10) == Rule::kInterleaving);
  CHECK(batch_rule(layout, 12) == Rule::kNone);
  CHECK(batch_rule(pipeline(6, 2), 3) == Rule::kInterleaving);
  CHECK(check(layers(32), pipeline(1, 2)) == Rule::kInterleaving);
  CHECK(check(layers(32), pipeline(2, 2)) == Rule::kNone);
  CHECK(batch_rule(pipeline(8), 1) == Rule::kNone);  // one micro-batch over eight stages: slow, but it runs
  layout.schedule = Schedule::k1f1b;
  CHECK(check(layers(32), layout) == Rule::kInterleaving);
}

TEST_CASE("torchtitan's interleaved stages are timed in rounds of as many micro-batches as stages") {
  Layout layout = pipeline(4, 2);
  layout.framework = Framework::kTorchtitan;
  layout.zero = 2;
  CHECK(batch_rule(layout, 12) == Rule::kNone);
  CHECK(batch_rule(layout, 2) == Rule::kInterleaving);
  CHECK(batch_rule(layout, 10) == Rule::kInterleaving);  // torchtitan would run 2 rounds of 5
}

TEST_CASE("heads over tensor parallelism") {
  CHECK(check(heads(28, 28), tensor(8)) == Rule::kHeadsByTp);
  CHECK(check(heads(52, 52), tensor(8)) == Rule::kHeadsByTp);
  CHECK(check(heads(25, 25), tensor(4)) == Rule::kHeadsByTp);
  CHECK(check(heads(128, 8), tensor(16)) == Rule::kNone);
  CHECK(check(heads(24, 8), tensor(12)) == Rule::kKvHeadsByTp);
  CHECK(check(heads(64, 4), tensor(8)) == Rule::kNone);
}

TEST_CASE("torchtitan splits key-value heads, never replicates them") {
  Layout layout = tensor(16, true);
  layout.framework = Framework::kTorchtitan;
  layout.zero = 3;
  CHECK(check(heads(128, 8), layout) == Rule::kKvHeadsByTp);
  layout.tp = 8;
  CHECK(check(heads(128, 8), layout) == Rule::kNone);
}

TEST_CASE("Ulysses exchanges heads over context-parallel ranks") {
  Layout layout;
  layout.framework = Framework::kDeepspeed;
  layout.cp_type = ContextExchange::kAllToAll;
  layout.cp = 40;
  CHECK(check(heads(40, 8), layout, 40 * 1024) == Rule::kNone);
  layout.cp = 16;
  CHECK(check(heads(40, 8), layout, 40 * 1024) == Rule::kHeadsByCp);
}

TEST_CASE("the MLP's width divides over tensor parallelism") {
  Model model = llama2_7b();  // 11008 = 2^8 x 43
  model.heads = model.kv_heads = 512;
  CHECK(check(model, tensor(256)) == Rule::kNone);
  CHECK(check(model, tensor(512)) == Rule::kFfnByTp);
}

TEST_CASE("the vocabulary is padded to 128 times tp") {
  CHECK(padded_vocabulary(50257, 1) == 50304);
  CHECK(padded_vocabulary(50257, 2) == 50432);
  CHECK(padded_vocabulary(50257, 4) == 50688);
  CHECK(padded_vocabulary(50257, 8) == 51200);
  CHECK(padded_vocabulary(32000, 2) == 32000);
  CHECK(padded_vocabulary(32000, 4) == 32256);
  CHECK(padded_vocabulary(32000, 8) == 32768);
  CHECK(padded_vocabulary(32002, 2) == 32256);
  CHECK(padded_vocabulary(128256, 4) == 128512);
  CHECK(padded_vocabulary(128256, 8) == 129024);
  CHECK(padded_vocabulary(151936, 1) == 151936);
  CHECK(padded_vocabulary(151936, 2) == 152064);
  CHECK(padded_vocabulary(151552, 6) == 152064);
}

TEST_CASE("sequences divide over context and sequence parallelism") {
  Layout layout;
  layout.cp = 3;
  CHECK(check(layers(32), layout, 8192) == Rule::kSequenceByCp);
  layout = tensor(8, false);
  layout.cp = 2;
  CHECK(check(layers(32), layout, 4100) == Rule::kNone);
  layout.sp = true;
  CHECK(check(layers(32), layout, 4100) == Rule::kSequenceByTp);
}

TEST_CASE("the least legal sequence multiple") {
  const auto multiple = [](int cp, int tp) {
    Layout layout = tensor(tp, true);
    layout.cp = cp;
    return sequence_multiple(layout);
  };
  CHECK(multiple(4, 2) == 8);
  CHECK(multiple(2, 8) == 16);
  CHECK(multiple(3, 4) == 12);
  CHECK(multiple(1, 1) == 1);
}

TEST_CASE("a mixture of experts with tensor parallelism needs sequence parallelism, a dense model does not") {
  Layout layout = tensor(4);
  CHECK(check(mixtral_8x7b(), layout) == Rule::kSequenceParallel);
  layout.sp = true;
  CHECK(check(mixtral_8x7b(), layout) == Rule::kNone);
  layout.sp = false;
  CHECK(check(llama3_8b(), layout) == Rule::kNone);
}

TEST_CASE("batches divide over data parallelism and micro-batches") {
  Layout layout = tensor(8);
  layout.pp = 8;
  layout.dp = 23;  // 1472 GPUs
  CHECK(batch_rule(layout, 32) == Rule::kBatch);
  layout = Layout{};
  layout.dp = 128;
  CHECK(batch_rule(layout, 192) == Rule::kBatch);
  CHECK(batch_rule(layout, 768) == Rule::kNone);
  CHECK(batch_rule(layout, 64) == Rule::kBatch);
  CHECK(batch_rule(layout, 0) == Rule::kBatch);
  layout.dp = 7;
  layout.micro_batch = 2;
  CHECK(batch_rule(layout, 256) == Rule::kBatch);
  layout.micro_batch = 0;
  CHECK(check(layers(32), layout) == Rule::kBatch);
}

TEST_CASE("experts divide over their own grid, which covers the same ranks") {
  Layout layout;
  layout.ep = 3;
  CHECK(check(mixtral_8x7b(), layout) == Rule::kExperts);
  layout.ep = 8;
  CHECK(check(mixtral_8x7b(), layout) == Rule::kNone);
  CHECK(check(llama3_8b(), layout) == Rule::kExperts);
  layout.dp = 4;
  CHECK(check_batch(mixtral_8x7b(), recipe_of(8192), layout, 4) == Rule::kExperts);
  layout.dp = 16;
  CHECK(check_batch(mixtral_8x7b(), recipe_of(8192), layout, 16) == Rule::kNone);
  layout = tensor(2, true);
  layout.etp = 2;
  CHECK(check(gpt_oss_20b(), layout) == Rule::kExpertTensor);  // experts with biases
  CHECK(check(llama3_8b(), layout) == Rule::kExpertTensor);
  layout.etp = 3;
  CHECK(check(mixtral_8x7b(), layout) == Rule::kExpertTensor);
}

TEST_CASE("ZeRO stages by framework") {
  Layout layout = pipeline(4);
  layout.zero = 1;
  CHECK(check(layers(32), layout) == Rule::kNone);
  layout.zero = 3;
  CHECK(check(layers(32), layout) == Rule::kZero);
  layout.framework = Framework::kDeepspeed;
  CHECK(check(layers(32), layout) == Rule::kZero);
  layout.framework = Framework::kTorchtitan;
  CHECK(check(layers(32), layout) == Rule::kZero);  // under a pipeline what was gathered stays
  layout.zero = 2;
  CHECK(check(layers(32), layout) == Rule::kNone);
  layout.zero = 1;
  CHECK(check(layers(32), layout) == Rule::kZero);
  layout.pp = 1;
  layout.zero = 3;
  CHECK(check(layers(32), layout) == Rule::kNone);
  layout.pp = 4;
  layout.zero = 4;
  layout.framework = Framework::kMegatron;
  CHECK(check(layers(32), layout) == Rule::kZero);
}

TEST_CASE("shard groups divide the replicas") {
  Layout layout;
  layout.zero = 3;
  layout.dp = 64;
  layout.shard_group = 8;
  CHECK(batch_rule(layout, 64) == Rule::kNone);
  layout.shard_group = 7;
  CHECK(batch_rule(layout, 64) == Rule::kShardGroup);
}

TEST_CASE("fp8 needs units for it") {
  Hardware a100 = h100_node();
  a100.device.fp8_flops_per_s = 0;
  Recipe recipe = recipe_of(4096);
  recipe.precision = Precision::kFp8;
  CHECK(check_layout(llama3_8b(), recipe, Layout{}, a100) == Rule::kPrecision);
  CHECK(check_layout(llama3_8b(), recipe, Layout{}, h100_node()) == Rule::kNone);
}

TEST_CASE("without RDMA model parallelism stays inside a node") {
  Hardware hardware = h100_node();
  hardware.network.rdma = false;
  const auto rule = [&](const Layout& layout) {
    return check_layout(layers(32), recipe_of(4096), layout, hardware);
  };
  CHECK(rule(tensor(8)) == Rule::kNone);
  CHECK(rule(tensor(16)) == Rule::kNetwork);
  Layout layout = tensor(4);
  layout.pp = 4;
  CHECK(rule(layout) == Rule::kNetwork);
}

TEST_CASE("degrees below one are no layout") {
  Layout layout;
  layout.tp = 0;
  CHECK(check(layers(32), layout) == Rule::kGpusNotDivisible);
  layout.tp = -8;
  CHECK(check(layers(32), layout) == Rule::kGpusNotDivisible);
}

TEST_CASE("every rule has a name of its own") {
  std::set<std::string_view> names;
  for (int rule = 0; rule < kRules; ++rule) names.insert(rule_name(static_cast<Rule>(rule)));
  CHECK(names.size() == kRules);
  CHECK(names.count("") == 0);
  CHECK(rule_name(Rule::kFfnByTp) == "ffn_by_tp");
  CHECK(rule_name(Rule::kIslands) == "islands");
  CHECK(rule_name(Rule::kBatch) == "batch");
}

TEST_CASE("a broken rule is told with its values and the nearest legal ones") {
  const Recipe recipe = recipe_of(8192);
  const auto words = [&](Rule rule, const Model& model, const Layout& layout, std::int64_t batch) {
    return explain_rule(rule, model, recipe, layout, h100_node(), batch);
  };
  const auto contains = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  std::string text = words(Rule::kHeadsByTp, heads(28, 28), tensor(8), 1);
  CHECK(contains(text, "heads_by_tp"));
  CHECK(contains(text, "28 attention heads"));
  CHECK(contains(text, "tp may be 1, 2, 4, 7, 14, 28"));

  Layout layout;
  layout.dp = 128;
  text = words(Rule::kBatch, layers(32), layout, 192);
  CHECK(contains(text, "128, 256"));
  CHECK(contains(text, "dp up to 128: 96"));
  text = words(Rule::kBatch, layers(32), layout, 64);
  CHECK(contains(text, "dp up to 128: 64"));

  text = words(Rule::kLayersByStages, layers(80), pipeline(16, 2), 1);
  CHECK(contains(text, "32 chunks"));
  CHECK(contains(text, "legal vpp: 5"));

  layout = Layout{};
  layout.cp = 3;
  text = words(Rule::kSequenceByCp, layers(32), layout, 1);
  CHECK(contains(text, "multiple of 6"));
  CHECK(contains(text, "8190, 8196"));

  CHECK(words(Rule::kNone, layers(32), Layout{}, 1).empty());
  for (int rule = 1; rule < kRules; ++rule) {
    CHECK(words(static_cast<Rule>(rule), mixtral_8x7b(), tensor(4), 100).size() >
          rule_name(static_cast<Rule>(rule)).size() + 2);
  }
}

TEST_CASE("values that the words call legal are legal") {
  // 24 heads, 8 key-value heads: tp 1, 2, 4, 8, 24 pass; 3, 6, 12 do not.
  const std::string text =
      explain_rule(Rule::kKvHeadsByTp, heads(24, 8), recipe_of(8192), tensor(12), h100_node(), 1);
  CHECK(text.find("legal tp: 1, 2, 4, 8, 24") != std::string::npos);
}

}  // namespace trainfront::costmodel
