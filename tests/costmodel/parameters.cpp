#include "costmodel/parameters.hpp"

#include <doctest/doctest.h>

#include "reference_models.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {

using namespace reference;

TEST_CASE("dense models count exactly as published") {
  CHECK(count_parameters(llama2_7b()).total == 6'738'415'616);
  CHECK(count_parameters(llama2_70b()).total == 68'976'648'192);
  CHECK(count_parameters(llama3_8b()).total == 8'030'261'248);
  CHECK(count_parameters(llama31_70b()).total == 70'553'706'496);
  CHECK(count_parameters(llama31_405b()).total == 405'853'388'800);
  CHECK(count_parameters(qwen25_72b()).total == 72'706'203'648);
  CHECK(count_parameters(qwen3_4b()).total == 4'022'468'096);
}

TEST_CASE("Gemma and Phi: wide heads, one key-value head, parallel blocks, biases") {
  // Gemma 2B by hand: 256000*2048 + 18*(2*2048*2048 + 2*2048*256 + 3*2048*16384 + 2*2048) + 2048.
  CHECK(count_parameters(gemma_2b()).total == 2'506'172'416);
  // Phi-1.5 by hand: 2*51200*2048 + 51200 + 24*(4*2048*2049 + 2*2048*8192 + 8192 + 2048 + 2*2048) + 2*2048.
  CHECK(count_parameters(phi_1_5()).total == 1'418'270'720);
}

TEST_CASE("tied embeddings are counted once") {
  Model model = llama32_1b();
  CHECK(count_parameters(model).total == 1'235'814'400);
  CHECK(count_parameters(model).lm_head == 0);
  model.tied_embeddings = false;
  CHECK(count_parameters(model).total == 1'498'482'688);
}

TEST_CASE("mixtures of experts: all experts in total, the visited ones in active") {
  CHECK(count_parameters(mixtral_8x7b()).total == 46'702'792'704);
  CHECK(count_parameters(mixtral_8x7b()).active == 12'879'925'248);
  // v0.1 has a vocabulary of 32,000; v0.3, whose figures are often quoted, of 32,768.
  CHECK(count_parameters(mixtral_8x22b()).total == 140'620'634'112);
  Model longer_vocabulary = mixtral_8x22b();
  longer_vocabulary.vocab = 32768;
  CHECK(count_parameters(longer_vocabulary).total == 140'630'071'296);
  CHECK(count_parameters(longer_vocabulary).active == 39'161'468'928);
  CHECK(count_parameters(qwen3_235b()).total == 235'093'634'560);
  CHECK(count_parameters(qwen3_235b()).active == 22'190'763'520);
  CHECK(count_parameters(qwen3_30b()).total == 30'532'122'624);
  CHECK(count_parameters(qwen3_30b()).active == 3'353'032'704);
}

TEST_CASE("DeepSeek-V3: latent attention, shared expert, dense layers first, prediction block apart") {
  const ParameterCounts counts = count_parameters(deepseek_v3());
  CHECK(counts.total == 671'026'419'200);
  CHECK(static_cast<double>(counts.active) == near(37.55e9).epsilon(0.0005));
  CHECK(static_cast<double>(counts.active - counts.embedding) == near(36.63e9).epsilon(0.0005));
  CHECK(static_cast<double>(counts.mtp) == near(11.6e9).epsilon(0.01));
  CHECK(moe_layers(deepseek_v3()) == 58);
}

TEST_CASE("GPT-OSS 20B: biases on experts and router, sinks") {
  // By hand: 2*201088*2880 + 2880 + 24*(2*2880*4096 + 2*2880*512 + 4096 + 1024 + 2880 + 64 + 2*2880
  //          + 2880*32 + 32 + 32*(3*2880*2880 + 2*2880 + 2880)).
  CHECK(count_parameters(gpt_oss_20b()).total == 20'914'757'184);
}

TEST_CASE("the parts sum to the total") {
  for (const Model& model : {llama31_405b(), deepseek_v3(), gpt_oss_20b(), phi_1_5(), qwen3_235b()}) {
    const ParameterCounts counts = count_parameters(model);
    const std::int64_t moe = moe_layers(model);
    CHECK(counts.total == counts.embedding + counts.lm_head + counts.final_norm +
                              (model.layers - moe) * counts.dense_layer + moe * counts.moe_layer);
    if (moe > 0) {
      CHECK(counts.moe_layer == counts.attention + counts.norms + counts.router + counts.shared_experts +
                                    model.experts * counts.expert);
    }
    CHECK(counts.active <= counts.total);
  }
}

TEST_CASE("every layer is MoE or not, and the counts before agree") {
  Model model = mixture(dense(23, 1024, 16, 16, 4096, 1000), 8, 2, 512);
  model.dense_layers = 2;
  model.moe_every = 3;
  int seen = 0;
  for (int layer = 0; layer < model.layers; ++layer) {
    CHECK(moe_layers_before(model, layer) == seen);
    if (is_moe_layer(model, layer)) ++seen;
  }
  CHECK(moe_layers(model) == seen);
  CHECK(seen == 7);
}

}  // namespace trainfront::costmodel
