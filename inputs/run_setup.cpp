#include "inputs/run_setup.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/framework_profile.hpp"
#include "costmodel/legality.hpp"
#include "inputs/csv.hpp"
#include "inputs/run_framework.hpp"
#include "inputs/run_hardware.hpp"
#include "inputs/run_model.hpp"

namespace trainfront::inputs {

namespace {

using costmodel::Layout;
using costmodel::Schedule;

constexpr double kLargest = 1e9;

// Fills a setup from a row; the first thing that cannot be modelled ends it.
class SetupReader {
 public:
  SetupReader(const RunRow& row, const Catalog& catalog) : row_(row), catalog_(catalog) {}

  RunReading read() {
    const bool done = read_status() && (setup_.failed || read_quantity()) && read_sizes() && read_how() &&
                      read_model() && read_hardware() && read_degrees() && read_context_exchange() &&
                      read_state() && read_batches() && read_rest();
    if (!done) return {std::nullopt, reason_};
    return {setup_, ""};
  }

 private:
  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  bool is_count(const std::optional<double>& value) const {
    return value && *value >= 1 && *value <= kLargest && *value == std::floor(*value);
  }

  // What the notes give after a key: 41.8 in "mem_gb=41.8".
  std::optional<double> noted_number(std::string_view key) const {
    const std::size_t at = row_.notes.find(key);
    if (at == std::string::npos) return std::nullopt;
    const std::string_view rest = std::string_view(row_.notes).substr(at + key.size());
    return csv_number(rest.substr(0, rest.find_first_not_of("0123456789.")));
  }

  bool read_status();
  bool read_quantity();
  bool read_sizes();
  bool read_how();
  bool read_model();
  bool read_hardware();
  bool read_degree(const std::optional<double>& stated, std::string_view name, int& into);
  bool read_expert_tensor_degree();
  bool read_degrees();
  bool read_context_exchange();
  bool spread_unstated_model_parallelism();
  bool read_state();
  bool read_batches();
  bool read_rest();

  const RunRow& row_;
  const Catalog& catalog_;
  RunFramework framework_;
  RunSetup setup_;
  std::string reason_;
};

bool SetupReader::read_status() {
  if (!row_.broken.empty()) return refuse("not a number: " + row_.broken);
  const std::string status = lower_case(row_.status);
  const auto starts = [&](std::string_view word) { return status.starts_with(word); };
  setup_.failed = starts("failed") || starts("oom") || starts("out of memory");
  if (setup_.failed || status.empty() || status == "ok" || status == "ran") return true;
  return refuse("status " + in_quotes(row_.status) + " is not known");
}

// Step time or tokens/s go before TFLOP/s and MFU, whose count of FLOPs differs from source to source.
bool SetupReader::read_quantity() {
  const auto choose = [&](RunQuantity quantity, const std::optional<double>& value) {
    if (!value || !(*value > 0) || !std::isfinite(*value)) return false;
    setup_.quantity = quantity;
    setup_.measured = *value;
    return true;
  };
  const auto measured_as = [&](RunQuantity quantity) {
    return row_.quantity == quantity_name(quantity) ? row_.measured : std::nullopt;
  };
  setup_.flops = read_flop_convention(row_.flop_convention);
  if (choose(RunQuantity::kStepTime, measured_as(RunQuantity::kStepTime))) return true;
  if (choose(RunQuantity::kTokensPerSecondPerGpu, measured_as(RunQuantity::kTokensPerSecondPerGpu)))
    return true;
  if (choose(RunQuantity::kStepTime, row_.alt_step_time_s)) return true;
  if (choose(RunQuantity::kTokensPerSecondPerGpu, row_.alt_tokens_per_s_per_gpu)) return true;
  if (choose(RunQuantity::kTflopsPerGpu, measured_as(RunQuantity::kTflopsPerGpu))) return true;
  if (choose(RunQuantity::kMfuPercent, measured_as(RunQuantity::kMfuPercent))) return true;
  if (!row_.measured) return refuse("nothing measured");
  if (!(*row_.measured > 0)) return refuse("the measured value is not above 0");
  return refuse("measures " + row_.quantity + ", which is not a step's");
}

bool SetupReader::read_sizes() {
  if (!is_count(row_.gpus)) return refuse("number of GPUs not stated");
  if (!is_count(row_.global_batch)) return refuse("global batch not stated");
  if (!is_count(row_.sequence_length)) return refuse("sequence length not stated");
  setup_.gpus = static_cast<std::int64_t>(*row_.gpus);
  setup_.global_batch = static_cast<std::int64_t>(*row_.global_batch);
  setup_.recipe.sequence_length = static_cast<int>(*row_.sequence_length);
  // One step is all that is asked for.
  setup_.recipe.tokens = *row_.global_batch * *row_.sequence_length;
  return true;
}

bool SetupReader::read_how() {
  framework_ = read_framework(row_);
  if (!framework_.known) setup_.assumed.push_back("Megatron in the place of " + in_quotes(row_.framework));
  setup_.framework_profile = framework_.profile;
  setup_.era_known = framework_.era_known;
  setup_.layout.framework = framework_.rules;
  const auto precision = read_precision(row_.precision);
  if (!precision) return refuse("precision " + in_quotes(row_.precision) + " is not modelled");
  setup_.recipe.precision = *precision;
  setup_.layout.recompute = framework_.default_recompute;
  setup_.memory_open = row_.recompute.empty() || lower_case(row_.notes).find("offload") != std::string::npos;
  if (row_.recompute.empty()) {
    setup_.assumed.push_back("the framework's default recomputation");
  } else if (const auto recompute = read_recompute(row_.recompute)) {
    setup_.layout.recompute = *recompute;
    const bool chooses =
        *recompute == costmodel::Recompute::kSelective && framework_.rules == costmodel::Framework::kMegatron;
    if (chooses) setup_.layout.modules = read_named_modules(row_.recompute);
  } else {
    return refuse("recomputation " + in_quotes(row_.recompute) + " is not known");
  }
  const auto schedule = read_schedule(row_.schedule);
  if (!schedule) return refuse("schedule " + in_quotes(row_.schedule) + " is not known");
  setup_.layout.schedule = *schedule;
  if (row_.islands.value_or(1) > 1) return refuse("islands that synchronise now and then");
  return true;
}

bool SetupReader::read_model() {
  const auto model = read_run_model(row_, catalog_, reason_, setup_.assumed);
  if (model) setup_.model = *model;
  return model.has_value();
}

bool SetupReader::read_hardware() {
  const int per_node = is_count(row_.gpus_per_node) ? static_cast<int>(*row_.gpus_per_node) : 8;
  const DeviceEntry* entry = find_run_device(catalog_, row_.gpu);
  if (entry == nullptr) return refuse("GPU " + in_quotes(row_.gpu) + " is not in the catalogue");
  costmodel::Hardware& hardware = setup_.hardware;
  hardware.device = entry->device;
  hardware.gpus_per_node = per_node;
  hardware.domain_gpus = entry->domain_gpus > 8 ? entry->domain_gpus : std::min(per_node, entry->domain_gpus);
  hardware.network = run_network(catalog_, *entry, row_.interconnect, per_node);
  if (row_.wan_gbps) {
    if (!(*row_.wan_gbps > 0)) return refuse("wan_gbps is not above 0");
    hardware.network = slow_network(catalog_, *row_.wan_gbps, row_.interconnect, per_node);
  }
  if (setup_.recipe.precision == costmodel::Precision::kFp8 && !(entry->device.fp8_flops_per_s > 0)) {
    return refuse("fp8 on a GPU without it");
  }
  return true;
}

bool SetupReader::read_degree(const std::optional<double>& stated, std::string_view name, int& into) {
  into = 1;
  if (!stated) return true;
  if (!is_count(stated)) return refuse(std::string(name) + " is not a count");
  into = static_cast<int>(*stated);
  return true;
}

// Tables that give only the replicas leave the split open: tensors within a node first, then stages.
bool SetupReader::spread_unstated_model_parallelism() {
  Layout& layout = setup_.layout;
  if (row_.tp || row_.pp || !is_count(row_.dp)) return true;
  const auto dp = static_cast<std::int64_t>(*row_.dp);
  if (setup_.gpus % dp != 0) return refuse("dp does not divide the GPUs");
  const std::int64_t group = setup_.gpus / dp;
  layout.tp = static_cast<int>(std::min<std::int64_t>(group, setup_.hardware.gpus_per_node));
  while (group % layout.tp != 0 || setup_.model.heads % layout.tp != 0) --layout.tp;
  layout.pp = static_cast<int>(group / layout.tp);
  if (group > 1) setup_.assumed.push_back("tensor before pipeline parallelism");
  return true;
}

// Stated in a column, or as "ETP=4" in the notes.
bool SetupReader::read_expert_tensor_degree() {
  Layout& layout = setup_.layout;
  const std::optional<double> stated = row_.etp ? row_.etp : noted_number("ETP=");
  if (!read_degree(stated, "etp", layout.etp)) return false;
  if (stated || layout.tp == 1) return true;
  if (framework_.experts_follow_tp) layout.etp = layout.tp;
  setup_.assumed.push_back("the framework's default expert tensor parallelism");
  return true;
}

bool SetupReader::read_degrees() {
  Layout& layout = setup_.layout;
  if (!read_degree(row_.tp, "tp", layout.tp) || !read_degree(row_.cp, "cp", layout.cp) ||
      !read_degree(row_.pp, "pp", layout.pp) || !read_degree(row_.vpp, "vpp", layout.vpp) ||
      !read_degree(row_.ep, "ep", layout.ep)) {
    return false;
  }
  if (!spread_unstated_model_parallelism()) return false;
  if (!setup_.model.is_moe()) layout.ep = 1;
  layout.etp = 1;
  if (setup_.model.is_moe() && !read_expert_tensor_degree()) return false;
  const bool interleaved = layout.schedule == Schedule::kInterleaved;
  if (interleaved && !row_.vpp) {
    layout.vpp = 2;
    setup_.assumed.push_back("2 chunks a stage");
  }
  if (layout.pp == 1) layout.vpp = 1;
  if (layout.schedule != Schedule::kZeroBubble && layout.schedule != Schedule::kGpipe) {
    layout.schedule = layout.vpp > 1 ? Schedule::kInterleaved : Schedule::k1f1b;
  }
  if (layout.pp == 1) layout.schedule = Schedule::k1f1b;
  if (setup_.gpus % layout.group_gpus() != 0) return refuse("tp x pp x cp does not divide the GPUs");
  layout.dp = static_cast<int>(setup_.gpus / layout.group_gpus());
  const std::int64_t stage_ranks = std::int64_t{layout.tp} * layout.cp * layout.dp;
  if (stage_ranks % (std::int64_t{layout.etp} * layout.ep) != 0)
    return refuse("the expert grid does not fit the GPUs");
  if (setup_.model.heads % layout.tp != 0) return refuse("tp does not divide the heads");
  return true;
}

bool SetupReader::read_context_exchange() {
  Layout& layout = setup_.layout;
  if (layout.cp == 1) return true;
  if (row_.cp_type.empty()) {
    const costmodel::FrameworkProfile* profile = costmodel::find_profile(setup_.framework_profile);
    if (profile != nullptr) layout.cp_type = default_exchange(*profile, setup_.model);
    setup_.assumed.push_back("the framework's default kind of context parallelism");
    return true;
  }
  const auto type = read_exchange(row_.cp_type);
  if (!type) return refuse("context parallelism " + in_quotes(row_.cp_type) + " is not known");
  layout.cp_type = *type;
  if (*type != costmodel::ContextExchange::kAllToAllRing) return true;
  layout.cp_heads = costmodel::widest_head_exchange(setup_.model, layout, setup_.hardware);
  return layout.cp_heads > 1 || refuse("heads cannot be exchanged within a part of cp");
}

bool SetupReader::read_state() {
  Layout& layout = setup_.layout;
  layout.sp = row_.sp ? *row_.sp != 0 : layout.tp > 1 && framework_.default_sequence_parallel;
  if (!row_.sp && layout.tp > 1) setup_.assumed.push_back("the framework's default of sequence parallelism");
  if (layout.tp == 1) layout.sp = false;
  const auto keeps_gathered = [&] {
    // FSDP2's default: no resharding under a pipeline.
    return layout.framework == costmodel::Framework::kTorchtitan && layout.pp > 1 && layout.zero == 3;
  };
  if (row_.zero.empty()) {
    layout.zero = framework_.default_zero;
    if (keeps_gathered()) layout.zero = 2;
    setup_.assumed.push_back("the framework's default sharding");
    return true;
  }
  const auto sharding = read_sharding(row_.zero, setup_.hardware.gpus_per_node);
  if (!sharding) return refuse("sharding " + in_quotes(row_.zero) + " is not known");
  layout.zero = sharding->zero;
  if (keeps_gathered()) layout.zero = 2;
  layout.shard_group = sharding->shard_group;
  const std::int64_t replicas = std::int64_t{layout.dp} * layout.cp;
  if (layout.shard_group >= replicas || layout.zero == 0) layout.shard_group = 0;
  if (layout.shard_group > 0 && replicas % layout.shard_group != 0)
    return refuse("the shard group does not divide dp");
  return true;
}

bool SetupReader::read_batches() {
  Layout& layout = setup_.layout;
  if (!read_degree(row_.micro_batch, "micro_batch", layout.micro_batch)) return false;
  if (!row_.micro_batch && framework_.fills_pipeline && layout.pp > 1 &&
      setup_.global_batch % (std::int64_t{layout.dp} * layout.pp) == 0) {
    layout.micro_batch = static_cast<int>(setup_.global_batch / (std::int64_t{layout.dp} * layout.pp));
    setup_.assumed.push_back("as many micro-batches as stages");
  } else if (!row_.micro_batch) {
    setup_.assumed.push_back("micro-batches of one sequence");
  }
  const std::int64_t unit = std::int64_t{layout.dp} * layout.micro_batch;
  if (setup_.global_batch % unit != 0) return refuse("the global batch is no whole number of micro-batches");
  if (layout.vpp > 1 && layout.framework == costmodel::Framework::kMegatron &&
      setup_.global_batch / unit % layout.pp != 0) {
    return refuse("interleaved micro-batches do not come in whole groups");
  }
  return true;
}

bool SetupReader::read_rest() {
  for (const std::string_view key : {"mem_gb=", "peak memory "}) {
    if (const std::optional<double> peak = noted_number(key)) setup_.memory_gib = peak;
  }
  const bool counts_flops =
      setup_.quantity == RunQuantity::kTflopsPerGpu || setup_.quantity == RunQuantity::kMfuPercent;
  if (counts_flops && !setup_.flops.stated) setup_.assumed.push_back("FLOPs of the whole score matrix");
  return true;
}

}  // namespace

std::string_view quantity_name(RunQuantity quantity) {
  switch (quantity) {
    case RunQuantity::kStepTime:
      return "step_time_s";
    case RunQuantity::kTokensPerSecondPerGpu:
      return "tokens_per_s_per_gpu";
    case RunQuantity::kTflopsPerGpu:
      return "tflops_per_gpu";
    case RunQuantity::kMfuPercent:
      return "mfu_pct";
  }
  return "";
}

RunReading read_setup(const RunRow& row, const Catalog& catalog) {
  return SetupReader(row, catalog).read();
}

}  // namespace trainfront::inputs
