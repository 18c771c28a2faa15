#include "inputs/hf_config.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "costmodel/parameters.hpp"

using namespace trainfront;
using namespace trainfront::inputs;

namespace {

struct Read {
  costmodel::Model model;
  std::string faults;
  std::vector<std::string> notes;

  std::int64_t total() const { return costmodel::count_parameters(model).total; }
  std::int64_t active() const { return costmodel::count_parameters(model).active; }
};

Read read(std::string_view text) {
  Read result;
  Diagnostics faults;
  result.model = parse_hf_config(text, "config.json", "test", faults, result.notes).model;
  for (const Fault& fault : faults.faults()) result.faults += to_string(fault) + "\n";
  return result;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kLlama8B = R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
  "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
  "tie_word_embeddings": false, "rope_scaling": {"factor": 8.0, "rope_type": "llama3"}, "hidden_act": "silu"})";

}  // namespace

// Counts: sizes of the published checkpoints.
TEST_CASE("Llama: published counts come out exactly") {
  const Read llama = read(kLlama8B);
  CHECK(llama.faults == "");
  CHECK(llama.total() == 8'030'261'248);
  CHECK(llama.model.head_dim == 128);

  const Read small = read(R"({"model_type": "llama", "num_hidden_layers": 16, "hidden_size": 2048,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 8192,
    "vocab_size": 128256, "tie_word_embeddings": true})");
  CHECK(small.total() == 1'235'814'400);

  const Read no_groups = read(R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
    "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000})");
  CHECK(no_groups.model.kv_heads == 32);
  CHECK(no_groups.total() == 6'738'415'616);
}

TEST_CASE("a dense architecture with experts is not read as a dense model") {
  const Read mixed = read(R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
    "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000, "num_local_experts": 8})");
  CHECK(has(mixed.faults, "num_local_experts"));
}

TEST_CASE("Qwen: biases of Qwen2 and head norms of Qwen3 are the class's, not the config's") {
  const Read qwen2 = read(R"({"model_type": "qwen2", "num_hidden_layers": 80, "hidden_size": 8192,
    "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 29568, "vocab_size": 152064,
    "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 131072, "max_window_layers": 80})");
  CHECK(qwen2.faults == "");
  CHECK(qwen2.total() == 72'706'203'648);
  CHECK(qwen2.model.sliding_window == 0);

  const Read qwen3 = read(R"({"model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 2560,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 9728,
    "vocab_size": 151936, "tie_word_embeddings": true, "attention_bias": false})");
  CHECK(qwen3.total() == 4'022'468'096);
}

TEST_CASE("Qwen MoE: which layers have experts") {
  const std::string base = R"({"model_type": "qwen3_moe", "num_hidden_layers": 48, "hidden_size": 2048,
    "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144,
    "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8, "vocab_size": 151936,
    "tie_word_embeddings": false)";
  const Read all = read(base + R"(, "decoder_sparse_step": 1, "mlp_only_layers": []})");
  CHECK(all.faults == "");
  CHECK(all.total() == 30'532'122'624);
  CHECK(all.active() == 3'353'032'704);
  CHECK(costmodel::moe_layers(all.model) == 48);

  CHECK(costmodel::moe_layers(read(base + R"(, "decoder_sparse_step": 2})").model) == 24);
  const Read leading = read(base + R"(, "mlp_only_layers": [1, 0]})");
  CHECK(leading.model.dense_layers == 2);
  CHECK(costmodel::moe_layers(leading.model) == 46);
  CHECK(has(read(base + R"(, "mlp_only_layers": [7]})").faults, "mlp_only_layers"));
}

TEST_CASE("Mixtral: total and active") {
  const Read mixtral = read(R"({"model_type": "mixtral", "num_hidden_layers": 32, "hidden_size": 4096,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "num_local_experts": 8,
    "num_experts_per_tok": 2, "vocab_size": 32000, "sliding_window": null, "tie_word_embeddings": false})");
  CHECK(mixtral.faults == "");
  CHECK(mixtral.total() == 46'702'792'704);
  CHECK(mixtral.active() == 12'879'925'248);
}

TEST_CASE("DeepSeek: latent attention, shared experts, leading dense layers, prediction blocks apart") {
  const Read v3 = read(R"({"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168,
    "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 18432,
    "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
    "first_k_dense_replace": 3, "moe_layer_freq": 1, "num_nextn_predict_layers": 1, "vocab_size": 129280})");
  CHECK(v3.faults == "");
  CHECK(v3.total() == 671'026'419'200);
  CHECK(v3.active() == doctest::Approx(37.55e9).epsilon(0.001));
  CHECK(costmodel::count_parameters(v3.model).mtp == doctest::Approx(11.6e9).epsilon(0.005));
  CHECK(v3.model.expert_groups == 0);

  // V2 has no bias in the router; V2-Lite projects queries directly.
  const Read v2_lite = read(R"({"model_type": "deepseek_v2", "num_hidden_layers": 27, "hidden_size": 2048,
    "num_attention_heads": 16, "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 10944, "moe_intermediate_size": 1408,
    "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
    "vocab_size": 102400})");
  CHECK(v2_lite.faults == "");
  CHECK(v2_lite.total() == 15'706'484'224);
  const Read v2 = read(R"({"model_type": "deepseek_v2", "num_hidden_layers": 60, "hidden_size": 5120,
    "num_attention_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536,
    "n_routed_experts": 160, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
    "vocab_size": 102400})");
  CHECK(v2.total() == 235'741'434'880);
}

TEST_CASE("DeepSeek: routing limited to groups of experts") {
  const auto with_groups = [](const std::string& groups) {
    return read(R"({"model_type": "deepseek_v2", "num_hidden_layers": 60, "hidden_size": 5120,
      "num_attention_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
      "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536,
      "n_routed_experts": 160, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
      )" + groups +
                R"("vocab_size": 102400})");
  };
  const Read limited = with_groups(R"("n_group": 8, "topk_group": 3, )");
  CHECK(limited.faults == "");
  CHECK(limited.model.expert_groups == 8);
  CHECK(limited.model.groups_per_token == 3);
  CHECK(with_groups(R"("n_group": 1, "topk_group": 1, )").model.expert_groups == 0);
  CHECK(with_groups(R"("n_group": 8, "topk_group": 8, )").model.expert_groups == 0);
  CHECK(has(with_groups(R"("n_group": 7, "topk_group": 3, )").faults, "160 experts"));
}

// arXiv 2508.10925, table 1: 116.83 B and 20.91 B in all.
TEST_CASE("GPT-OSS: sinks, biases, every other layer windowed") {
  const Read oss =
      read(R"({"model_type": "gpt_oss", "num_hidden_layers": 4, "hidden_size": 2880, "head_dim": 64,
    "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 2880, "num_local_experts": 128,
    "num_experts_per_tok": 4, "vocab_size": 201088, "attention_bias": true, "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]})");
  CHECK(oss.faults == "");
  CHECK(oss.model.sliding_window == 128);
  CHECK(oss.model.full_attention_every == 2);
  CHECK(oss.model.attention_sinks);
  CHECK(oss.model.expert_bias);
  CHECK(oss.model.expert_clamp);
  const std::int64_t tables = 2 * std::int64_t{201088} * 2880;
  // 36 layers of the same shape make the published 116.83 B.
  const double layers = static_cast<double>(oss.total() - tables - 2880) / 4 * 36;
  CHECK((layers + static_cast<double>(tables)) == doctest::Approx(116.83e9).epsilon(0.0001));
}

TEST_CASE("Gemma: tied unless told, wide heads, windows") {
  const std::string gemma = R"("num_hidden_layers": 18, "hidden_size": 2048, "num_attention_heads": 8,
    "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 16384, "vocab_size": 256000)";
  const Read first = read(fmt::format(R"({{"model_type": "gemma", {}}})", gemma));
  CHECK(first.faults == "");
  CHECK(first.total() == 2'506'172'416);  // Gemma 2B

  const Read second = read(R"({"model_type": "gemma2", "num_hidden_layers": 42, "hidden_size": 3584,
    "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256, "intermediate_size": 14336,
    "vocab_size": 256000, "sliding_window": 4096})");
  CHECK(second.total() == 9'241'705'984);  // Gemma 2 9B
  CHECK(second.model.full_attention_every == 2);

  const Read third = read(R"({"model_type": "gemma3_text", "num_hidden_layers": 26, "hidden_size": 1152,
    "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 6912,
    "vocab_size": 262144, "sliding_window": 512, "sliding_window_pattern": 6})");
  CHECK(third.total() == 999'885'952);  // Gemma 3 1B
  CHECK(third.model.full_attention_every == 6);
  CHECK(has(read(fmt::format(R"({{"model_type": "gemma2", {}}})", gemma)).faults,
            "sliding_window: is missing"));
}

TEST_CASE("Phi and GPT-2: LayerNorm and biases") {
  const Read phi = read(R"({"model_type": "phi", "num_hidden_layers": 24, "hidden_size": 2048,
    "num_attention_heads": 32, "intermediate_size": 8192, "vocab_size": 51200, "tie_word_embeddings": false})");
  CHECK(phi.faults == "");
  CHECK(phi.total() == 1'418'270'720);  // Phi-1.5
  const Read gpt2 =
      read(R"({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024,
    "n_inner": null, "vocab_size": 50257})");
  CHECK(gpt2.faults == "");
  CHECK(gpt2.total() == 124'439'808);
  const Read phi3 = read(R"({"model_type": "phi3", "num_hidden_layers": 32, "hidden_size": 3072,
    "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 8192, "vocab_size": 32064,
    "sliding_window": 2047, "tie_word_embeddings": false})");
  CHECK(phi3.total() == 3'821'079'552);  // Phi-3 mini
  CHECK(phi3.model.full_attention_every == 0);
}

TEST_CASE("Mistral without the field has its window, with null it has none") {
  const std::string shape = R"({"model_type": "mistral", "num_hidden_layers": 32, "hidden_size": 4096,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000)";
  CHECK(read(shape + "}").model.sliding_window == 4096);
  CHECK(read(shape + "}").total() == 7'241'732'096);
  CHECK(read(shape + R"(, "sliding_window": null})").model.sliding_window == 0);
}

TEST_CASE("the language model of a multimodal config is read, and said to be all that is") {
  const Read scout =
      read(R"({"model_type": "llama4", "tie_word_embeddings": false, "vision_config": {"hidden_size": 1408},
    "text_config": {"model_type": "llama4_text", "num_hidden_layers": 48, "hidden_size": 5120,
    "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192,
    "intermediate_size_mlp": 16384, "num_local_experts": 16, "num_experts_per_tok": 1, "interleave_moe_layer_step": 1,
    "attention_chunk_size": 8192, "vocab_size": 202048}})");
  CHECK(scout.faults == "");
  CHECK(scout.total() == doctest::Approx(107.77e9).epsilon(0.0005));
  CHECK(scout.active() == doctest::Approx(17.17e9).epsilon(0.0005));
  CHECK(scout.notes.size() == 2);

  const Read maverick = read(R"({"model_type": "llama4_text", "num_hidden_layers": 48, "hidden_size": 5120,
    "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192,
    "intermediate_size_mlp": 16384, "num_local_experts": 128, "num_experts_per_tok": 1,
    "interleave_moe_layer_step": 2, "vocab_size": 202048})");
  CHECK(costmodel::moe_layers(maverick.model) == 24);
  CHECK(maverick.total() == doctest::Approx(400e9).epsilon(0.01));
}

TEST_CASE("a field that is needed and not there is named, and so are all others at fault") {
  const Read bad = read(R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": "4096",
    "num_attention_heads": 0, "intermediate_size": 14336.5, "tie_word_embeddings": "no"})");
  CHECK(has(bad.faults, "vocab_size: is missing"));
  CHECK(has(bad.faults, "config.json:1:65: hidden_size: must be a whole number, not text"));
  CHECK(has(bad.faults, "num_attention_heads: is out of range; found 0"));
  CHECK(has(bad.faults, "intermediate_size: must be a whole number; found 14336.5"));
  CHECK(has(bad.faults, "tie_word_embeddings: must be true or false"));
}

TEST_CASE("what is no plain transformer is refused with the reason") {
  const Read mamba =
      read(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "M-M*-", "hidden_size": 8192,
    "time_step_limit": [0.0, Infinity]})");
  CHECK(has(mamba.faults, "layers other than attention and MLP"));
  const Read unknown = read(R"({"model_type": "lama", "hidden_size": 8192})");
  CHECK(has(unknown.faults, "unknown architecture"));
  CHECK(has(unknown.faults, "did you mean \"llama\"?"));
  CHECK(has(unknown.faults, "deepseek_v3"));
  CHECK(has(read("{}").faults, "model_type: is missing"));
  CHECK(has(read("[1]").faults, "no JSON object"));
}

TEST_CASE("a shape that contradicts itself is refused") {
  std::string text = kLlama8B;
  text.replace(text.find("\"num_key_value_heads\": 8"), 24, "\"num_key_value_heads\": 5");
  CHECK(has(read(text).faults, "heads 32 is no multiple of kv_heads 5"));
  CHECK(has(
      read(R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 100, "num_attention_heads": 3,
    "intermediate_size": 10, "vocab_size": 10})")
          .faults,
      "head_dim"));
  CHECK(has(
      read(R"({"model_type": "mixtral", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
    "intermediate_size": 10, "vocab_size": 10, "num_local_experts": 4, "num_experts_per_tok": 8})")
          .faults,
      "a token visits 8 experts, but there are 4"));
}

TEST_CASE("published configs are read as they are") {
  struct Published {
    const char* file;
    std::int64_t total, active;
  };
  const std::filesystem::path folder = std::filesystem::path(TRAINFRONT_DATA_DIR) / "models" / "hf_configs";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no configs in " << folder.string());
    return;
  }
  const Published all[] = {
      {"meta-llama--Llama-2-7b-hf", 6'738'415'616, 6'738'415'616},
      {"meta-llama--Llama-3.2-1B", 1'235'814'400, 1'235'814'400},
      {"meta-llama--Meta-Llama-3.1-8B", 8'030'261'248, 8'030'261'248},
      {"meta-llama--Meta-Llama-3.1-70B", 70'553'706'496, 70'553'706'496},
      {"meta-llama--Meta-Llama-3.1-405B", 405'853'388'800, 405'853'388'800},
      {"mistralai--Mixtral-8x7B-v0.1", 46'702'792'704, 12'879'925'248},
      {"Qwen--Qwen3-30B-A3B", 30'532'122'624, 3'353'032'704},
      {"Qwen--Qwen3-235B-A22B", 235'093'634'560, 22'190'763'520},
      {"Qwen--Qwen3-8B", 8'190'735'360, 8'190'735'360},
      {"Qwen--Qwen3-32B", 32'762'123'264, 32'762'123'264},
      {"deepseek-ai--DeepSeek-V3", 671'026'419'200, 37'552'297'472},
  };
  for (const Published& published : all) {
    CAPTURE(published.file);
    const costmodel::Model model = read_hf_config(folder / (std::string(published.file) + "_config.json"));
    CHECK(model.name == published.file);
    CHECK(costmodel::count_parameters(model).total == published.total);
    CHECK(costmodel::count_parameters(model).active == published.active);
  }
  for (const char* file : {"openai--gpt-oss-120b", "openai--gpt-oss-20b", "moonshotai--Kimi-K2-Instruct",
                           "XiaomiMiMo--MiMo-7B-Base", "meta-llama--Llama-4-Scout-17B-16E-Instruct",
                           "mistralai--Mixtral-8x22B-v0.1", "Qwen--Qwen3-0.6B", "Qwen--Qwen3-1.7B"})
    CHECK_NOTHROW(read_hf_config(folder / (std::string(file) + "_config.json")));
  CHECK_THROWS_AS(read_hf_config(folder / "nvidia--Nemotron-H-56B-Base-8K_config.json"), InputError);
}
