#include "inputs/sweep_file.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "costmodel/parameters.hpp"
#include "sweep_text.hpp"

using namespace trainfront;
using namespace trainfront::inputs;
using faults::Protection;
using faults::Scheme;

namespace {

const std::filesystem::path kExamples = TRAINFRONT_SOURCE_DIR "/inputs/examples";

std::vector<Protection> protections(std::string_view lines) {
  const Attempt read = attempt(changed("protection = [\"checkpoint\"]", lines));
  CHECK(read.faults == "");
  return read.problem().protections;
}

}  // namespace

TEST_CASE("the shipped example asks what it says") {
  const SweepFile sweep = read_sweep_file(kExamples / "llama-3.1-405b.toml");
  const search::Problem& problem = sweep.problem;
  CHECK(costmodel::count_parameters(problem.model).total == 405'853'388'800);
  CHECK(problem.recipe.tokens == 15.6e12);
  CHECK(problem.recipe.sequence_length == 8192);
  CHECK(problem.global_batches == std::vector<std::int64_t>{1024, 2048});
  CHECK(problem.gpus.size() == 61);
  CHECK(problem.gpus.front() == 1024);
  CHECK(problem.gpus.back() == 16384);
  CHECK(problem.layout.tp.empty());
  CHECK(problem.goal.deadline_s == 75 * 86400.0);
  REQUIRE(problem.protections.size() == 20);
  CHECK(problem.protections[0] == Protection{Scheme::kCheckpoint, 1, 1, 0, 0});
  CHECK(problem.protections[1] == Protection{Scheme::kSpare, 2, 1, 0, -1});
  CHECK(problem.protections[19] == Protection{Scheme::kSpare, 20, 1, 0, -1});
  CHECK(problem.islands.size() == 1);
  CHECK(problem.islands[0].count == 1);

  bool spot = false, on_demand = false, h100 = false, h200 = false;
  for (const search::HardwareClass& entry : problem.hardware) {
    h100 = h100 || entry.hardware.device.id == "h100-sxm";
    h200 = h200 || entry.hardware.device.id == "h200-sxm";
    CHECK(entry.node_mtbf_s > 0);
    CHECK(!entry.offers.empty());
    for (const costmodel::Offer& offer : entry.offers) {
      spot = spot || offer.price_model == costmodel::PriceModel::kSpot;
      on_demand = on_demand || offer.price_model == costmodel::PriceModel::kOnDemand;
      CHECK(offer.usd_per_node_hour > 0);
      CHECK((offer.preemptions_per_node_hour > 0) == (offer.price_model == costmodel::PriceModel::kSpot));
    }
  }
  CHECK(spot);
  CHECK(on_demand);
  CHECK(h100);
  CHECK(h200);
}

TEST_CASE("all shipped examples can be read") {
  int examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples))
    if (entry.path().extension() == ".toml") {
      CAPTURE(entry.path().string());
      CHECK_NOTHROW(read_sweep_file(entry.path()));
      ++examples;
    }
  CHECK(examples >= 3);
}

TEST_CASE("every key of every section arrives where it belongs") {
  const Attempt read = attempt(R"(
[model]
config = "llama-3.1-405b.json"
[recipe]
tokens = 15.6e12
sequence_length = 8192
global_batch = [2048, 1024]
precision = "fp8"
optimizer = "sgd"
critical_batch_tokens = 4e6
[layout]
framework = ["torchtitan", "megatron"]
tp = [8, 1, 2, 4]
sp = true
cp = {min = 1, max = 4}
cp_type = ["all_gather", "ring"]
pp = "auto"
vpp = 2
ep = 1
etp = 1
zero = [1, 3]
shard_group = [0, 64]
micro_batch = {min = 1, max = 5, step = 2}
recompute = ["full", "selective"]
recompute_modules = ["mlp", "core_attn", "moe_act+layernorm"]
schedule = ["1f1b", "interleaved"]
[cluster]
devices = ["h200-sxm", "h100-sxm"]
gpus = [4096, 1024]
[market]
catalog = ["builtin"]
providers = ["aws", "gcp"]
regions = []
price_models = ["on_demand", "spot"]
discount = {aws = 0.7}
[[market.offer]]
provider = "own"
region = "lab"
instance = "dgx-h100"
device = "h100-sxm"
gpus_per_node = 8
usd_per_node_hour = 16.0
max_nodes = 512
[failures]
protection = ["checkpoint", "spare"]
r = {min = 2, max = 3}
sub_shards = [1, 8]
k_max = "auto"
node_mtbf = "8000h"
law = "weibull"
weibull_shape = 0.78
rate = "constant"
failures_in_restart = true
detect = "20s"
replace = "15m"
restart = "3m"
restart_per_node = "10ms"
checkpoint = "async"
checkpoint_block = "2s"
checkpoint_block_share = 0.05
storage_bandwidth = "200GB/s"
node_storage_bandwidth = "100Gb/s"
controller = 0.2
shrink = "0.3s"
[islands]
count = [1, 2, 4]
inner_steps = [100, 500]
wan_gbps = 10
rtt = "60ms"
sync_bits = 8
[goal]
deadline = "60d"
budget = "50M"
probability = 0.9
)");
  REQUIRE(read.faults == "");
  const search::Problem& problem = read.problem();
  using costmodel::Framework;
  using costmodel::Recompute;
  using costmodel::Schedule;
  CHECK(problem.recipe ==
        costmodel::Recipe{15.6e12, 8192, costmodel::Precision::kFp8, costmodel::Optimizer::kSgd, 4e6});
  CHECK(problem.global_batches == std::vector<std::int64_t>{1024, 2048});
  const search::LayoutChoices& layout = problem.layout;
  CHECK(layout.framework == std::vector<Framework>{Framework::kMegatron, Framework::kTorchtitan});
  CHECK(layout.tp == std::vector<int>{1, 2, 4, 8});
  CHECK(layout.sp == std::vector<bool>{true});
  CHECK(layout.cp == std::vector<int>{1, 2, 3, 4});
  CHECK(layout.pp.empty());
  CHECK(layout.vpp == std::vector<int>{2});
  CHECK(layout.zero == std::vector<int>{1, 3});
  CHECK(layout.shard_group == std::vector<int>{0, 64});
  CHECK(layout.micro_batch == std::vector<int>{1, 3, 5});
  using enum costmodel::ContextExchange;
  CHECK(layout.cp_type == std::vector{kRing, kAllGather});
  CHECK(layout.recompute == std::vector<Recompute>{Recompute::kSelective, Recompute::kFull});
  std::string modules;
  for (const costmodel::RecomputeModules& set : layout.recompute_modules.value())
    modules += costmodel::modules_name(set) + " ";
  CHECK(modules == "mlp core_attn moe_act+layernorm ");
  CHECK(layout.schedule == std::vector<Schedule>{Schedule::k1f1b, Schedule::kInterleaved});
  CHECK(problem.gpus == std::vector<std::int64_t>{1024, 4096});

  const search::FailureModel& failures = problem.failures;
  CHECK(failures.law == faults::FailureLaw{0.78, false, true});
  CHECK(failures.node_mtbf_s == 8000 * 3600.0);
  CHECK(failures.detect_s == 20);
  CHECK(failures.replace_s == 900);
  CHECK(failures.start_fixed_s == 180);
  CHECK(failures.start_per_node_s == doctest::Approx(0.01));
  CHECK(failures.blocking_fixed_s == 2);
  CHECK(failures.blocking_share == 0.05);
  CHECK(failures.storage_bytes_per_s == 200e9);
  CHECK(failures.node_storage_bytes_per_s == 12.5e9);
  CHECK(failures.controller_s == 0.2);
  CHECK(failures.shrink_s == doctest::Approx(0.3));
  for (const search::HardwareClass& entry : problem.hardware) CHECK(entry.node_mtbf_s == 0);
  CHECK(problem.protections.size() == 1 + 2 * 2);

  REQUIRE(problem.islands.size() == 5);
  CHECK(problem.islands[0] == costmodel::Islands{});
  CHECK(problem.islands[1] == costmodel::Islands{2, 100, 1.25e9, 0.06, 8});
  CHECK(problem.islands[4] == costmodel::Islands{4, 500, 1.25e9, 0.06, 8});
  CHECK(problem.goal.deadline_s == 60 * 86400.0);
  CHECK(problem.goal.budget_usd == 50e6);
  CHECK(problem.goal.probability == 0.9);

  bool own = false;
  for (const search::HardwareClass& entry : problem.hardware)
    for (const costmodel::Offer& offer : entry.offers)
      if (offer.provider == "own") {
        own = true;
        CHECK(offer.price_model == costmodel::PriceModel::kOwned);
        CHECK(offer.usd_per_node_hour == 16);
        CHECK(offer.max_nodes == 512);
        CHECK(entry.hardware.gpus_per_node == 8);
        CHECK(entry.hardware.network.nic_bytes_per_s == 50e9);
      } else {
        CHECK((offer.provider == "aws" || offer.provider == "gcp"));
      }
  CHECK(own);
}

TEST_CASE("a discount scales the prices of its cloud and of no other") {
  const auto prices = [](std::string_view text, std::string_view provider) {
    const Attempt read = attempt(text);
    std::vector<double> all;
    for (const auto& entry : read.problem().hardware)
      for (const auto& offer : entry.offers)
        if (offer.provider == provider) all.push_back(offer.usd_per_node_hour);
    return all;
  };
  const std::string cut = changed("providers = [", "discount = {aws = 0.7}\nproviders = [");
  const auto before = prices(kGoodSweep, "aws"), after = prices(cut, "aws");
  REQUIRE(!before.empty());
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(after[i] == doctest::Approx(0.7 * before[i]));
  CHECK(prices(kGoodSweep, "coreweave") == prices(cut, "coreweave"));
  CHECK(!prices(cut, "coreweave").empty());
}

TEST_CASE("the order in which a file lists things does not matter") {
  const auto a =
      attempt(changed("providers = [\"aws\", \"coreweave\"]", "providers = [\"coreweave\", \"aws\"]"));
  const auto b = attempt(kGoodSweep);
  REQUIRE(a.problem().hardware.size() == b.problem().hardware.size());
  for (std::size_t i = 0; i < a.problem().hardware.size(); ++i)
    CHECK(a.problem().hardware[i].offers == b.problem().hardware[i].offers);
}

TEST_CASE("protections: r is for replication and SPARe, and nothing is listed twice") {
  CHECK(protections("protection = \"none\"") == std::vector<Protection>{{Scheme::kNone, 1, 1, 0, 0}});
  CHECK(protections("protection = [\"replication\", \"checkpoint\"]\nr = [3, 1, 2]\nspares = 0") ==
        std::vector<Protection>{{Scheme::kCheckpoint, 1, 1, 0, 0},
                                {Scheme::kReplication, 2, 1, 0, 0},
                                {Scheme::kReplication, 3, 1, 0, 0}});
  CHECK(protections("protection = [\"spares\", \"spare\"]\nr = 2\nspares = [0, 4]\nk_max = 3") ==
        std::vector<Protection>{
            {Scheme::kSpares, 1, 1, 4, 0}, {Scheme::kSpare, 2, 1, 0, 3}, {Scheme::kSpare, 2, 1, 4, 3}});
  CHECK(protections("protection = \"spares\"\nspares = [\"2%\", 3, \"0.5%\"]") ==
        std::vector<Protection>{{Scheme::kSpares, 1, 1, 0, 0, 5},
                                {Scheme::kSpares, 1, 1, 0, 0, 20},
                                {Scheme::kSpares, 1, 1, 3, 0, 0}});
  CHECK(protections("protection = \"elastic\"\nsub_shards = [1, 16]\nk_max = [0, 5]") ==
        std::vector<Protection>{{Scheme::kElastic, 1, 1, 0, 0},
                                {Scheme::kElastic, 1, 1, 0, 5},
                                {Scheme::kElastic, 1, 16, 0, 0},
                                {Scheme::kElastic, 1, 16, 0, 5}});
  CHECK(protections("protection = \"spare\"").size() == 19);  // r 2 to 20
}

TEST_CASE("protections: tiers of checkpoints multiply those that save, rejoining elastic ones alone") {
  using Tier = trainfront::faults::CheckpointTier;
  CHECK(protections("protection = [\"none\", \"checkpoint\"]\ncheckpoint_tier = [\"peer\", \"shared\"]") ==
        std::vector<Protection>{{.scheme = Scheme::kNone},
                                {.scheme = Scheme::kCheckpoint},
                                {.scheme = Scheme::kCheckpoint, .tier = Tier::kPeer}});
  CHECK(protections("protection = \"checkpoint\"\ncheckpoint_tier = \"auto\"").size() == 3);
  // A cycle that never ends has no k_max, and its batch shrinks with the groups.
  CHECK(protections("protection = \"elastic\"\nk_max = [0, 5]\nsub_shards = 4\nrejoin = [true, false]") ==
        std::vector<Protection>{{.scheme = Scheme::kElastic, .rejoins = true},
                                {.scheme = Scheme::kElastic, .sub_shards = 4},
                                {.scheme = Scheme::kElastic, .sub_shards = 4, .k_max = 5}});
  CHECK(
      any_has(attempt(changed("protection = [\"checkpoint\"]", "protection = \"checkpoint\"\nrejoin = true"))
                  .sweep.notes,
              "failures.rejoin: has no effect: it belongs to elastic"));
  const Attempt tiers = attempt(changed("protection = [\"checkpoint\"]",
                                        "protection = \"checkpoint\"\ncheckpoint_tier = "
                                        "\"peer\"\npeer_bandwidth = \"5GB/s\"\nlocal_block_share = 0.5"));
  CHECK(tiers.faults == "");
  CHECK(tiers.problem().failures.peer.node_bytes_per_s == 5e9);
  CHECK(tiers.problem().failures.local.blocking_share == 0.5);
  CHECK(tiers.problem().failures.peer.blocking_share == tiers.problem().failures.blocking_share);
  CHECK(any_has(tiers.sweep.notes, "node_loss_share 0.77"));
  CHECK(attempt(changed("protection = [\"checkpoint\"]",
                        "protection = \"checkpoint\"\ncheckpoint_tier = \"perr\""))
            .faults.find("peer") != std::string::npos);
}

TEST_CASE("defaults and assumptions are said") {
  const Attempt read = attempt(changed("[failures]\nprotection = [\"checkpoint\"]\n", ""));
  CHECK(read.faults == "");
  CHECK(any_has(read.sweep.notes, "failures.protection: not given, so \"checkpoint\""));
  CHECK(
      any_has(read.sweep.notes, "failures.node_mtbf: not given, so taken from the catalogue: 8 x h100-sxm"));
  CHECK(any_has(read.sweep.notes, "storage_bandwidth"));
  CHECK(any_has(read.sweep.notes, "offers on"));
  CHECK(any_has(attempt(changed("gpus = {min = 64, max = 256, step = 64}", "gpus = [6, 64]")).sweep.notes,
                "6 GPUs on nodes of 8 pay for 1 node"));
  CHECK(any_has(attempt(changed("tp = [1, 2, 4, 8]", "tp = [1, 2, 2]")).sweep.notes,
                "layout.tp: 2 is listed more than once"));
  CHECK(any_has(
      attempt(changed("protection = [\"checkpoint\"]", "protection = \"checkpoint\"\nr = 3")).sweep.notes,
      "failures.r: has no effect"));
}

TEST_CASE("frameworks are compared only if asked for") {
  using costmodel::Framework;
  const Attempt silent = attempt(kGoodSweep);
  CHECK(silent.problem().layout.framework == std::vector<Framework>{Framework::kMegatron});
  CHECK(any_has(silent.sweep.notes, "layout.framework: not given"));
  const Attempt all = attempt(changed("tp = [1, 2, 4, 8]", "framework = \"auto\""));
  CHECK(all.problem().layout.framework.size() == 3);
}

TEST_CASE("offers too small for any plan are noted") {
  const auto own = [](int nodes) {
    return attempt(
        changed("[failures]", fmt::format("[[market.offer]]\nprovider = \"own\"\ninstance = \"dgx-h100\"\n"
                                          "usd_per_node_hour = 9\nmax_nodes = {}\n[failures]",
                                          nodes)));
  };
  CHECK(any_has(own(7).sweep.notes, "own all dgx-h100 has 7 nodes; the smallest GPU count needs 8"));
  CHECK(!any_has(own(8).sweep.notes, "the smallest GPU count"));
}

TEST_CASE("failures can be switched off") {
  const Attempt read = attempt(changed("protection = [\"checkpoint\"]", "node_mtbf = \"never\""));
  CHECK(std::isinf(read.problem().failures.node_mtbf_s));
}

TEST_CASE("a synchronous checkpoint stops the training for all of its write") {
  const Attempt read = attempt(changed("protection = [\"checkpoint\"]", "checkpoint = \"sync\""));
  CHECK(read.problem().failures.blocking_share == 1);
  CHECK(read.problem().failures.blocking_fixed_s == 0);
  CHECK(attempt(kGoodSweep).problem().failures.blocking_share < 1);
}

TEST_CASE("a model may be given by its shape, with a name of one's own") {
  const Attempt read = attempt(changed("name = \"llama-3.1-8b\"", R"(name = "mine"
layers = 32
hidden = 4096
heads = 32
kv_heads = 8
ffn = 14336
vocab = 128256)"));
  CHECK(read.faults == "");
  CHECK(read.problem().model.name == "mine");
  CHECK(costmodel::count_parameters(read.problem().model).total == 8'030'261'248);

  const Attempt moe = attempt(changed("name = \"llama-3.1-8b\"", R"(layers = 61
hidden = 7168
heads = 128
vocab = 129280
ffn = 18432
experts = 256
experts_per_token = 8
expert_ffn = 2048
shared_experts = 1
dense_layers = 3
router_bias = true
latent = {q_rank = 1536, kv_rank = 512, nope_dim = 128, rope_dim = 64, value_dim = 128})"));
  CHECK(moe.faults == "");
  CHECK(costmodel::count_parameters(moe.problem().model).total == 671'026'419'200);
}

TEST_CASE("an inline offer may describe nodes that no catalogue knows") {
  const Attempt read = attempt(changed("[failures]", R"([[market.offer]]
provider = "我们的云"
region = "mañana, \"x\""
instance = "box"
device = "h100-sxm"
gpus_per_node = 4
network = "infiniband"
network_gbps = 800
usd_per_node_hour = "$12"
[failures])"));
  CHECK(read.faults == "");
  bool found = false;
  for (const auto& entry : read.problem().hardware)
    for (const auto& offer : entry.offers)
      if (offer.provider == "我们的云") {
        found = true;
        CHECK(offer.region == "mañana, \"x\"");
        CHECK(offer.price_model == costmodel::PriceModel::kOnDemand);
        CHECK(entry.hardware.gpus_per_node == 4);
        CHECK(entry.hardware.domain_gpus == 4);
        CHECK(entry.hardware.network.nic_bytes_per_s == 25e9);
      }
  CHECK(found);
}

TEST_CASE("an own node of a rack-scale device has the rack's fabric unless it says otherwise") {
  const auto domain = [](const std::string& more) {
    std::string text = changed("[failures]", R"([[market.offer]]
provider = "own"
instance = "my-nvl72"
device = "gb200"
gpus_per_node = 4
network = "infiniband"
network_gbps = 1600
usd_per_node_hour = 40
)" + more + "[failures]");
    const std::string_view devices = "[\"h100-sxm\"]";
    text.replace(text.find(devices), devices.size(), "[\"gb200\"]");
    const Attempt read = attempt(text);
    CHECK(read.faults == "");
    for (const auto& entry : read.problem().hardware) {
      for (const auto& offer : entry.offers) {
        if (offer.instance == "my-nvl72") return entry.hardware.domain_gpus;
      }
    }
    return 0;
  };
  CHECK(domain("") == 72);
  CHECK(domain("domain_gpus = 4\n") == 4);
}

TEST_CASE("catalogues of the user lie over the shipped one or stand alone") {
  const Attempt alone = attempt(changed("providers = [\"aws\", \"coreweave\"]", R"(catalog = []
[[market.offer]]
provider = "own"
instance = "dgx-h100"
usd_per_node_hour = 0)"));
  CHECK(alone.faults == "");
  REQUIRE(alone.problem().hardware.size() == 1);
  CHECK(alone.problem().hardware[0].offers.size() == 1);
  CHECK(has(attempt(changed("providers = [", "catalog = [\"nowhere.csv\"]\nproviders = [")).faults,
            "does not exist"));
}

TEST_CASE("spot dearer than on demand draws a warning") {
  const auto offers = [](double spot) {
    return changed("providers = [\"aws\", \"coreweave\"]", fmt::format(R"(catalog = []
[[market.offer]]
provider = "x"
instance = "hgx-h100"
usd_per_node_hour = 0.44
[[market.offer]]
provider = "x"
instance = "hgx-h100"
price_model = "spot"
usd_per_node_hour = {})",
                                                                       spot));
  };
  CHECK(any_has(attempt(offers(0.49)).sweep.notes, "the spot offer is dominated"));
  CHECK(!any_has(attempt(offers(0.43)).sweep.notes, "dominated"));
}
