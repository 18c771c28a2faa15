#include "inputs/run_setup.hpp"

#include <doctest/doctest.h>

#include "costmodel/framework_profile.hpp"
#include "inputs/csv.hpp"
#include "inputs/run_framework.hpp"
#include "inputs/run_hardware.hpp"

namespace trainfront::inputs {

namespace {

const Catalog& catalog() {
  static const Catalog builtin = builtin_catalog();
  return builtin;
}

// A table of one run from "column=value" pairs.
RunRow row_of(const std::vector<std::pair<std::string, std::string>>& cells) {
  std::vector<std::string> header, values;
  for (const auto& [column, value] : cells) {
    header.push_back(column);
    values.push_back(value);
  }
  RunTable table = parse_run_table("runs.csv", csv_line(header) + csv_line(values));
  REQUIRE(table.rows.size() == 1);
  return table.rows.front();
}

std::vector<std::pair<std::string, std::string>> llama_cells() {
  return {{"id", "a"},
          {"source", "s"},
          {"framework", "NeMo"},
          {"year", "2025"},
          {"model_name", "Llama3.1 70B"},
          {"n_layers", "80"},
          {"hidden", "8192"},
          {"ffn_hidden", "28672"},
          {"n_heads", "64"},
          {"n_kv_heads", "8"},
          {"vocab", "128256"},
          {"seq_len", "8192"},
          {"gpu", "H100-80GB-SXM"},
          {"gpus_per_node", "8"},
          {"n_gpus", "64"},
          {"precision", "BF16"},
          {"global_batch_seqs", "128"},
          {"micro_batch", "1"},
          {"tp", "4"},
          {"sp", ""},
          {"pp", "4"},
          {"vpp", "5"},
          {"cp", "2"},
          {"dp", "2"},
          {"recompute", "none"},
          {"schedule", "interleaved 1F1B"},
          {"measured_quantity", "step_time_s"},
          {"measured_value", "14.66"}};
}

std::vector<std::pair<std::string, std::string>> with(std::vector<std::pair<std::string, std::string>> cells,
                                                      const std::string& column, const std::string& value) {
  for (auto& cell : cells) {
    if (cell.first == column) {
      cell.second = value;
      return cells;
    }
  }
  cells.emplace_back(column, value);
  return cells;
}

RunSetup setup_of(const std::vector<std::pair<std::string, std::string>>& cells) {
  const RunReading reading = read_setup(row_of(cells), catalog());
  CAPTURE(reading.reason);
  REQUIRE(reading.setup.has_value());
  return *reading.setup;
}

std::string reason_of(const std::vector<std::pair<std::string, std::string>>& cells) {
  const RunReading reading = read_setup(row_of(cells), catalog());
  CHECK_FALSE(reading.setup.has_value());
  return reading.reason;
}

}  // namespace

TEST_CASE("a row becomes a setup, blank cells the framework's defaults") {
  const RunSetup setup = setup_of(llama_cells());
  CHECK(setup.model.layers == 80);
  CHECK(setup.model.head_dim == 128);
  CHECK(setup.layout.tp == 4);
  CHECK(setup.layout.sp);  // NeMo's recipes use it with tensor parallelism
  CHECK(setup.layout.vpp == 5);
  CHECK(setup.layout.schedule == costmodel::Schedule::kInterleaved);
  CHECK(setup.layout.dp == 2);
  CHECK(setup.layout.zero == 1);
  CHECK(setup.global_batch == 128);
  CHECK(setup.hardware.device.id == "h100-sxm");
  CHECK(setup.hardware.network.nic_bytes_per_s == doctest::Approx(50e9));
  CHECK(setup.measured == 14.66);
  CHECK_FALSE(setup.assumed.empty());
}

TEST_CASE("columns may come in any order, and those not known are named") {
  const RunTable table = parse_run_table("runs.csv",
                                         "colour,measured_value,n_gpus,measured_quantity,mood\n"
                                         "red,1.5,8,step_time_s,good\n");
  CHECK(table.unknown_columns == std::vector<std::string>{"colour", "mood"});
  CHECK(table.rows.front().measured == 1.5);
  CHECK(table.rows.front().id == "line 2");
}

TEST_CASE("a table without what was measured is refused") {
  CHECK_THROWS_AS(parse_run_table("runs.csv", "id,n_gpus\na,8\n"), CsvError);
  CHECK_FALSE(is_run_table({"id", "n_gpus"}));
  CHECK(is_run_table({"n_gpus", "measured_value", "measured_quantity"}));
}

TEST_CASE("step time and tokens per second go before TFLOP/s and MFU") {
  auto cells = with(with(llama_cells(), "measured_quantity", "mfu_pct"), "measured_value", "52.1");
  CHECK(setup_of(cells).quantity == RunQuantity::kMfuPercent);
  cells = with(cells, "alt_tokens_per_s_per_gpu", "1117");
  CHECK(setup_of(cells).quantity == RunQuantity::kTokensPerSecondPerGpu);
  CHECK(setup_of(cells).measured == 1117);
  cells = with(cells, "alt_step_time_s", "14.66");
  CHECK(setup_of(cells).quantity == RunQuantity::kStepTime);
}

TEST_CASE("the catalogue fills what the row leaves open, if the shapes agree") {
  auto cells = with(with(llama_cells(), "model_name", "Qwen3_30B_a3B"), "n_layers", "48");
  for (const auto& [column, value] :
       std::vector<std::pair<std::string, std::string>>{{"hidden", "2048"},
                                                        {"ffn_hidden", "6144"},
                                                        {"n_heads", "32"},
                                                        {"n_kv_heads", "4"},
                                                        {"vocab", "151936"},
                                                        {"moe_experts", "128"},
                                                        {"moe_topk", "8"},
                                                        {"moe_ffn_hidden", "768"},
                                                        {"tp", "1"},
                                                        {"pp", "1"},
                                                        {"vpp", ""},
                                                        {"cp", "1"},
                                                        {"dp", "64"},
                                                        {"ep", "8"}}) {
    cells = with(cells, column, value);
  }
  const RunSetup setup = setup_of(cells);
  CHECK(setup.model.head_dim == 128);  // not 2048 / 32
  CHECK(setup.model.experts == 128);
  CHECK(setup.layout.ep == 8);
  CHECK(setup_of(with(cells, "hidden", "4096")).model.head_dim == 128);  // 4096 / 32: another shape
  CHECK_FALSE(setup_of(with(cells, "hidden", "4096")).model.qk_norm);
}

TEST_CASE("experts' tensor degree is stated, or noted, or the framework's default") {
  auto cells = llama_cells();
  for (const auto& [column, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"n_gpus", "64"},
                                                                  {"moe_experts", "8"},
                                                                  {"moe_topk", "2"},
                                                                  {"moe_ffn_hidden", "14336"},
                                                                  {"tp", "4"},
                                                                  {"pp", "1"},
                                                                  {"vpp", ""},
                                                                  {"cp", "1"},
                                                                  {"dp", "16"},
                                                                  {"ep", "8"},
                                                                  {"year", "2025"}}) {
    cells = with(cells, column, value);
  }
  const auto degree = [&](const char* framework, const char* notes) {
    return setup_of(with(with(cells, "framework", framework), "notes", notes)).layout.etp;
  };
  // Megatron-Core: expert_tensor_parallel_size is the tensor degree unless it is set; Megatron-Bridge's
  // recipes set it to 1.
  CHECK(degree("NeMo", "") == 4);
  CHECK(degree("Megatron-LM", "") == 4);
  CHECK(degree("Megatron-Bridge/Megatron-Core", "container 26.04") == 1);
  CHECK(degree("NeMo", "weak scaling; ETP=1; dropless") == 1);
  CHECK(degree("NeMo", "ETP=not stated") == 4);
  cells.push_back({"etp", "2"});
  CHECK(degree("NeMo", "ETP=1") == 2);
}

TEST_CASE("a run that failed needs no measured value; how it ended must be one of the known words") {
  auto cells = llama_cells();
  cells.back() = {"measured_value", ""};
  for (const char* status : {"failed (crash/OOM/timeout, cause not recorded)", "OOM", "out of memory"}) {
    cells.push_back({"status", status});
    const RunReading reading = read_setup(row_of(cells), catalog());
    CAPTURE(status);
    REQUIRE(reading.setup);
    CHECK(reading.setup->failed);
    cells.pop_back();
  }
  cells.push_back({"status", "stopped"});
  CHECK(read_setup(row_of(cells), catalog()).reason == "status \"stopped\" is not known");
  cells.back().second = "ok";
  CHECK(read_setup(row_of(cells), catalog()).reason == "nothing measured");
}

TEST_CASE("what cannot be modelled is told") {
  CHECK(reason_of(with(llama_cells(), "n_gpus", "")) == "number of GPUs not stated");
  CHECK(reason_of(with(llama_cells(), "n_gpus", "many")).find("not a number") == 0);
  CHECK(reason_of(with(llama_cells(), "precision", "NVFP4")).find("NVFP4") != std::string::npos);
  CHECK(reason_of(with(llama_cells(), "gpu", "Abacus")).find("Abacus") != std::string::npos);
  CHECK(reason_of(with(llama_cells(), "measured_value", "0")) == "the measured value is not above 0");
  CHECK(reason_of(with(llama_cells(), "measured_value", "-1")) == "the measured value is not above 0");
  CHECK(reason_of(with(llama_cells(), "global_batch_seqs", "7")).find("micro-batches") != std::string::npos);
  CHECK(reason_of(with(llama_cells(), "tp", "0")) == "tp is not a count");
  CHECK(reason_of(with(llama_cells(), "tp", "1e300")) == "tp is not a count");
  CHECK(reason_of(with(llama_cells(), "n_gpus", "63")).find("divide") != std::string::npos);
  CHECK(reason_of(with(with(llama_cells(), "n_layers", ""), "model_name", "mystery")) ==
        "the model's shape is not stated");
}

TEST_CASE("frameworks by name and year") {
  const auto profile = [](const std::string& framework, const std::string& year, const std::string& notes) {
    return read_framework(
               row_of(with(with(with(llama_cells(), "framework", framework), "year", year), "notes", notes)))
        .profile;
  };
  CHECK(profile("NeMo", "2025", "") == "nemo-2025");
  CHECK(profile("Megatron-LM", "2022", "") == "megatron-2022");
  CHECK(profile("Megatron-LM fork (sail-sg)", "2024", "") == "megatron-2023");
  CHECK(profile("Megatron-LM", "2024", "") == "megatron-2023-flash");  // Transformer Engine's default
  CHECK(profile("Megatron-LM", "2023", "FlashAttention on") == "megatron-2023-flash");
  CHECK(profile("Megatron-LM", "2023", "no flash attention") == "megatron-2023");
  CHECK(profile("MegaScale", "2024", "") == "megatron-2023-flash");
  CHECK(profile("Megatron-DeepSpeed", "2024", "") == "megatron-deepspeed-2023");
  CHECK(profile("Megatron-Core 0.9+ MCore w/ Folding", "2025", "") == "megatron-core-2025");
  CHECK(profile("Megatron-Bridge/Megatron-Core", "2026", "container 26.04") == "megatron-bridge-2026");
  CHECK(profile("Megatron-Bridge/Megatron-Core", "2026", "container 26.02.01") == "megatron-bridge-2026");
  CHECK(profile("Megatron-Bridge/Megatron-Core", "2026", "container 26.02; MoE a2a overlap on") ==
        "megatron-bridge-2025-ep-overlap");
  CHECK(profile("torchtitan FSDP2", "2024", "TP8; AsyncTP, compile") == "torchtitan-2024-async-tp");
  CHECK(profile("nanotron", "2025", "") == "nanotron-2025");
  CHECK(profile("MaxText (JAX)", "2025", "") == "maxtext-2025");
  CHECK(read_framework(row_of(with(llama_cells(), "framework", "Abacus"))).known == false);
  CHECK(profile("torchtitan FSDP2", "2024", "WPS per GPU") == "torchtitan-2024-eager");
  CHECK(profile("DT-FM (GPipe over NCCL)", "2022", "") == "dt-fm-2022");
  const auto row_scaled =
      with(with(llama_cells(), "framework", "torchtitan FSDP2"), "precision", "fp8-rowwise");
  CHECK(read_framework(row_of(with(row_scaled, "notes", "AsyncTP, compile"))).profile ==
        "torchtitan-2024-async-tp-fp8-rowwise");
}

// Its performance configs say which dispatcher experts have, where it is not NCCL's all-to-all.
TEST_CASE("Megatron-Bridge's dispatcher is what the notes name, or all-to-all where a config names none") {
  const auto profile = [](const std::string& experts, const std::string& notes) {
    const auto bridge = with(with(llama_cells(), "framework", "Megatron-Bridge"), "moe_experts", experts);
    return read_framework(row_of(with(bridge, "notes", notes))).profile;
  };
  CHECK(profile("128", "container 26.04; perf config v0.4.0; dispatcher hybridep") == "megatron-bridge-2026");
  CHECK(profile("128", "container 26.02; perf config v0.3.0") == "megatron-bridge-2025-all-to-all");
  CHECK(profile("128", "container 26.02; CUDA graphs; dispatcher alltoall") ==
        "megatron-bridge-2025-cuda-graphs-all-to-all");
  CHECK(profile("128", "container 26.02") == "megatron-bridge-2025");
  CHECK(profile("", "container 26.02; perf config v0.3.0") == "megatron-bridge-2025");
}

TEST_CASE("what CUDA graphs hold is what the notes list, and all of a step in MXFP8 recipes from 26.06 on") {
  const auto profile = [](const std::string& precision, const std::string& notes) {
    auto bridge = with(with(llama_cells(), "framework", "Megatron-Bridge"), "moe_experts", "128");
    bridge = with(with(bridge, "precision", precision), "notes", notes);
    return read_framework(row_of(bridge)).profile;
  };
  const std::string config = "container 26.04; perf config v0.4.0; dispatcher hybridep; CUDA graphs ";
  CHECK(profile("MXFP8", config + "transformer_engine ['attn', 'moe_router', 'moe_preprocess']") ==
        "megatron-bridge-2026-cuda-graphs");
  CHECK(profile("MXFP8", config + "transformer_engine ['moe_router', 'moe_preprocess']; attn") ==
        "megatron-bridge-2026-router-graphs");
  CHECK(profile("MXFP8", config + "full_iteration []; MoE a2a overlap on") ==
        "megatron-bridge-2026-ep-overlap-full-graphs");
  CHECK(profile("MXFP8", "container 26.06; force-balanced routing") == "megatron-bridge-2026-full-graphs");
  CHECK(profile("MXFP8", "container 26.04; force-balanced routing") == "megatron-bridge-2026");
  CHECK(profile("FP8", "container 26.06; force-balanced routing") == "megatron-bridge-2026");
  CHECK(profile("MXFP8", "container 26.06; perf config v0.5.0; dispatcher hybridep") ==
        "megatron-bridge-2026");
}

TEST_CASE("every profile that a framework's name can lead to exists") {
  for (const std::string framework :
       {"NeMo", "Megatron-LM", "Megatron-DeepSpeed", "Megatron-Core", "Megatron-Bridge", "torchtitan",
        "nanotron", "MaxText", "DeepSpeed", "llm-foundry", "DT-FM", "FSDP", "Abacus"}) {
    for (const std::string notes :
         {"", "compile", "AsyncTP", "CUDA graphs", "a2a overlap on", "perf config v1",
          "a2a overlap on, CUDA graphs", "CUDA graphs ['moe_router']", "perf config, full_iteration"}) {
      for (const std::string precision : {"BF16", "fp8-rowwise"}) {
        const auto cells = with(
            with(with(with(llama_cells(), "moe_experts", "128"), "framework", framework), "notes", notes),
            "precision", precision);
        const std::string profile = read_framework(row_of(cells)).profile;
        CAPTURE(profile);
        CHECK(costmodel::find_profile(profile) != nullptr);
      }
    }
  }
}

TEST_CASE("a row's recomputed modules and its kind of context parallelism are taken over") {
  const RunSetup some = setup_of(with(llama_cells(), "recompute", "selective (mlp)"));
  CHECK(some.layout.recompute == costmodel::Recompute::kSelective);
  CHECK(costmodel::modules_name(some.layout.modules) == "mlp");
  CHECK(setup_of(llama_cells()).layout.cp_type == costmodel::ContextExchange::kRing);
  const auto exchanged = with(llama_cells(), "cp_type", "a2a");
  CHECK(setup_of(exchanged).layout.cp_type == costmodel::ContextExchange::kAllToAll);
  CHECK(setup_of(exchanged).assumed.size() + 1 == setup_of(llama_cells()).assumed.size());
}

TEST_CASE("memory is open where recomputation is not stated, or activations leave the GPU") {
  CHECK_FALSE(setup_of(llama_cells()).memory_open);
  CHECK(setup_of(with(llama_cells(), "recompute", "")).memory_open);
  CHECK_FALSE(setup_of(with(llama_cells(), "recompute", "selective (moe_act+layernorm)")).memory_open);
  CHECK(setup_of(with(llama_cells(), "notes", "CPU activation offload")).memory_open);
}

TEST_CASE("the era is open where neither name nor year settles it") {
  CHECK(setup_of(llama_cells()).era_known);
  CHECK_FALSE(setup_of(with(llama_cells(), "framework", "Abacus")).era_known);
  const auto megatron = with(llama_cells(), "framework", "Megatron-LM");
  CHECK_FALSE(setup_of(with(megatron, "year", "")).era_known);
  CHECK(setup_of(with(megatron, "year", "2026")).era_known);
}

TEST_CASE("a slow network's rate and delay") {
  auto cells = with(with(llama_cells(), "wan_gbps", "1"), "interconnect", "50ms 1Gbps");
  const costmodel::Network network = setup_of(cells).hardware.network;
  CHECK(network.nic_bytes_per_s == doctest::Approx(1e9 / 8 / 8));
  CHECK(network.delay_s == doctest::Approx(0.05));
  CHECK_FALSE(network.rdma);
  CHECK(reason_of(with(cells, "wan_gbps", "0")) == "wan_gbps is not above 0");
}

TEST_CASE("torchtitan fills its pipeline where micro-batches are not stated") {
  auto cells = with(with(llama_cells(), "framework", "torchtitan FSDP2"), "micro_batch", "");
  cells = with(with(cells, "schedule", "1F1B"), "vpp", "1");
  const RunSetup setup = setup_of(cells);  // 128 sequences over dp 2 and 4 stages
  CHECK(setup.layout.micro_batch == 16);
}

TEST_CASE("replicas alone leave the split open: tensors in a node first") {
  auto cells = llama_cells();
  for (const char* column : {"tp", "pp", "vpp", "cp", "schedule"}) cells = with(cells, column, "");
  const RunSetup setup = setup_of(with(with(cells, "n_gpus", "128"), "dp", "4"));
  CHECK(setup.layout.tp == 8);
  CHECK(setup.layout.pp == 4);
  CHECK(setup.layout.dp == 4);
}

TEST_CASE("GPU names lose what the catalogue does not know") {
  CHECK(find_run_device(catalog(), "H100-80GB-SXM")->device.id == "h100-sxm");
  CHECK(find_run_device(catalog(), "A100-40GB-SXM")->device.id == "a100-40gb-sxm");
  CHECK(find_run_device(catalog(), "B200-180GB-SXM")->device.id == "b200");
  CHECK(find_run_device(catalog(), "V100-16GB-SXM2 (AWS p3.2xlarge, 1 GPU/node)")->device.id == "v100-sxm2");
  CHECK(find_run_device(catalog(), "Abacus") == nullptr);
  CHECK(find_run_device(catalog(), "") == nullptr);
}

}  // namespace trainfront::inputs
