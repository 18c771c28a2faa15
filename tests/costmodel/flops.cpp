#include "costmodel/flops.hpp"

#include <doctest/doctest.h>

#include "costmodel/parameters.hpp"
#include "reference_models.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {

using namespace reference;

TEST_CASE("Llama-2-7B over 4 x 8192 tokens: both attention conventions") {
  const double tokens = 4 * 8192;
  const TokenFlops full = training_flops_per_token(llama2_7b(), 8192, AttentionCount::kFull);
  const TokenFlops causal = training_flops_per_token(llama2_7b(), 8192, AttentionCount::kCausal);
  CHECK(full.linear() * tokens == near(1299.00e12).epsilon(0.001));
  CHECK(full.attention * tokens == near(422.21e12).epsilon(0.001));
  CHECK(causal.attention * tokens == near(211.11e12).epsilon(0.001));
  CHECK(causal.linear() == full.linear());
}

TEST_CASE("published utilisation is reproduced from tokens per second") {
  const auto mfu = [](double parameters, double layers, double hidden, double rate) {
    return 100 * model_flops_utilization(6 * parameters + 12 * layers * hidden * 2048, rate, 989e12);
  };
  CHECK(mfu(64'862'437'376, 80, 8192, 1007) == near(41.25).epsilon(0.1 / 41));
  CHECK(mfu(6'658'859'008, 32, 4096, 10643) == near(46.44).epsilon(0.1 / 46));
  CHECK(mfu(29'975'214'080, 48, 7168, 2002) == near(38.11).epsilon(0.1 / 38));
}

TEST_CASE("the sparse peak halves the utilisation of a dense run") {
  const double flops = training_flops_per_token(llama2_7b(), 4096, AttentionCount::kFull).total();
  const double dense_peak = model_flops_utilization(flops, 9600, 989e12);
  CHECK(dense_peak > 0.42);
  CHECK(dense_peak < 0.46);
  CHECK(model_flops_utilization(flops, 9600, 1979e12) == near(0.22).epsilon(0.02));
}

TEST_CASE("full recomputation runs the blocks' forward twice: hardware FLOPs are 4/3, the head's apart") {
  const TokenFlops flops = training_flops_per_token(llama2_70b(), 4096, AttentionCount::kFull);
  const double head = flops.head;
  CHECK(recomputed_flops_per_token(flops) - head == near(4.0 / 3.0 * (flops.total() - head)));
  // 96 B s l h^2 (1 + s/(6h) + V/(16 l h)) per step (arXiv 2104.04473, equation 3), per token here.
  const Model model = gpt(96, 12288, 96, 51200, 2048);
  const double h = 12288, l = 96, s = 2048, v = 51200;
  CHECK(recomputed_flops_per_token(training_flops_per_token(model, 2048, AttentionCount::kFull)) ==
        near(96 * l * h * h * (1 + s / (6 * h) + v / (16 * l * h))));
}

TEST_CASE("FLOPs follow the experts a token visits, not all of them") {
  const TokenFlops flops = training_flops_per_token(mixtral_8x7b(), 4096, AttentionCount::kFull);
  const ParameterCounts counts = count_parameters(mixtral_8x7b());
  const double matrices =
      static_cast<double>(counts.active - counts.embedding - counts.final_norm - 32 * counts.norms);
  CHECK(flops.linear() == near(6 * matrices).epsilon(1e-12));
}

TEST_CASE("latent attention counts its narrow projections and both widths of a head") {
  Model model = deepseek_v3();
  const TokenFlops flops = training_flops_per_token(model, 4096, AttentionCount::kFull);
  CHECK(flops.attention == 6.0 * 61 * 128 * (192 + 128) * 4096);
  CHECK(flops.mtp > 0.0);
  const double without = flops.total() - flops.mtp;
  model.mtp_blocks = 0;
  CHECK(training_flops_per_token(model, 4096, AttentionCount::kFull).total() == without);
}

TEST_CASE("windowed layers count the keys inside their window") {
  Model model = gpt_oss_20b();
  CHECK(full_attention_layers(model) == 12);
  const double causal = training_flops_per_token(model, 4096, AttentionCount::kCausal).attention;
  const double per_key = 12.0 * 64 * 64;  // all heads, forward and backward
  CHECK(causal == near(12 * per_key * 2048 + 12 * per_key * (128 - 128.0 * 128 / (2 * 4096))));
  model.sliding_window = 0;
  CHECK(training_flops_per_token(model, 4096, AttentionCount::kCausal).attention ==
        near(24 * per_key * 2048));
}

TEST_CASE("a multi-token-prediction block attends as the layers do in the mean") {
  Model model = gpt_oss_20b();
  model.mtp_blocks = 1;
  const auto mtp = [&](int sequence) {
    return training_flops_per_token(model, sequence, AttentionCount::kFull);
  };
  const TokenFlops shorter = mtp(4096), longer = mtp(8192);
  CHECK(longer.mtp - shorter.mtp == near((longer.attention - shorter.attention) / 24));
}

TEST_CASE("a window as long as the sequence changes nothing") {
  Model model = llama3_8b();
  const double plain = training_flops_per_token(model, 4096, AttentionCount::kCausal).attention;
  model.sliding_window = 4096;
  model.full_attention_every = 0;
  CHECK(training_flops_per_token(model, 4096, AttentionCount::kCausal).attention == near(plain));
}

}  // namespace trainfront::costmodel
