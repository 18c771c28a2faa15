#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "costmodel/layout.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::inputs {

// How published tables spell what a run used. Nothing: the spelling is not known. Letter case does not count,
// and text in parentheses is a remark.

std::optional<costmodel::Precision> read_precision(std::string_view text);
// Selective recomputation of modules that are cheap to repeat, as Megatron-Core lists them ("selective
// (moe_act+layernorm)"), is none.
std::optional<costmodel::Recompute> read_recompute(std::string_view text);
// "selective (moe_act+layernorm)": the modules that stand in it; none: the framework's own.
costmodel::RecomputeModules read_named_modules(std::string_view recompute);
// "p2p", "all_gather", "a2a", "a2a+p2p", or as in sweep files.
std::optional<costmodel::ContextExchange> read_exchange(std::string_view text);
std::optional<costmodel::Schedule> read_schedule(std::string_view text);

// ZeRO stage and the ranks that state is sharded over (0: all). "3", "ZeRO-1", "FSDP=128 x DP=4", "none
// (dp=1)", "no FSDP (DDP + distributed optimizer)", "3 within node".
struct Sharding {
  int zero = 0;
  int shard_group = 0;

  bool operator==(const Sharding&) const = default;
};
std::optional<Sharding> read_sharding(std::string_view text, int gpus_per_node);

// What a printed MFU or TFLOP/s counts.
enum class FlopCount {
  kFull,      // model FLOPs, all of the scores
  kCausal,    // model FLOPs, half of the scores
  kHardware,  // with full recomputation, all of the scores
};
struct FlopConvention {
  FlopCount count = FlopCount::kFull;
  double peak_flops_per_s = 0;  // 0: the device's
  bool stated = true;           // false: the text leaves the scores open
};
FlopConvention read_flop_convention(std::string_view text);

// Scale-out rate of one GPU, bytes per second and way, and the network's kind in the catalogue; 0 and empty
// where the text does not say. "800 Gb/s InfiniBand per node", "8x200Gb/s HDR IB", "400Gb/s IB per GPU", "EFA
// inter-node (AWS)".
struct Interconnect {
  double nic_bytes_per_s = 0;
  std::string kind;
};
Interconnect read_interconnect(std::string_view text, int gpus_per_node);

// "delay 50 ms", "0.1ms; up to 10 Gbps": one way, in seconds; 0 where the text does not say.
double read_delay_s(std::string_view text);

// Letters and digits alone, lower case, without what stands in parentheses: "Llama 3.1 405B" and
// "LLAMA3.1_405B" agree.
std::string plain_name(std::string_view text);

// Lower case, for keyword searches.
std::string lower_case(std::string_view text);

}  // namespace trainfront::inputs
