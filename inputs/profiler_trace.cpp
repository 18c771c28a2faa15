#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "inputs/count.hpp"
#include "inputs/measurement_text.hpp"
#include "inputs/profile_fields.hpp"
#include "inputs/traced_group.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Collective;
using nlohmann::json;

struct Named {
  std::string_view name;
  Collective collective;
};
// "Collective name" as PyTorch's NCCL metadata spells it (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp).
constexpr std::array<Named, 11> kNames{{{"allreduce", Collective::kAllReduce},
                                        {"allreduce_coalesced", Collective::kAllReduce},
                                        {"_allgather_base", Collective::kAllGather},
                                        {"all_gather", Collective::kAllGather},
                                        {"allgather_into_tensor_coalesced", Collective::kAllGather},
                                        {"_reduce_scatter_base", Collective::kReduceScatter},
                                        {"reduce_scatter", Collective::kReduceScatter},
                                        {"reduce_scatter_tensor_coalesced", Collective::kReduceScatter},
                                        {"all_to_all", Collective::kAllToAll},
                                        {"all_to_allv", Collective::kAllToAll},
                                        {"send", Collective::kSendRecv}}};

struct ElementType {
  std::string_view name;
  double bytes;
  bool is_integer;
};
// As PyTorch names them (c10/core/ScalarType.h).
constexpr std::array<ElementType, 14> kTypes{{{"Double", 8, false},
                                              {"Float", 4, false},
                                              {"Half", 2, false},
                                              {"BFloat16", 2, false},
                                              {"Float8_e4m3fn", 1, false},
                                              {"Float8_e5m2", 1, false},
                                              {"Float8_e4m3fnuz", 1, false},
                                              {"Float8_e5m2fnuz", 1, false},
                                              {"Long", 8, true},
                                              {"Int", 4, true},
                                              {"Short", 2, true},
                                              {"Char", 1, true},
                                              {"Byte", 1, true},
                                              {"Bool", 1, true}}};

// Metadata of another kind than PyTorch writes.
struct Unreadable {
  std::string key, found, allowed;
};

[[noreturn]] void refuse(const char* key, const json& value, const char* allowed) {
  throw Unreadable{key, value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 40), allowed};
}

// 0 where there is none.
double number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return 0;
  if (!found->is_number()) refuse(key, *found, "a number");
  return found->get<double>();
}

std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  if (!found->is_string()) refuse(key, *found, "a text");
  return found->get<std::string>();
}

// As nccl-tests counts: the larger side of gathering and scattering.
double message_elements(Collective collective, const json& args) {
  const double in = number_of(args, "In msg nelems"), out = number_of(args, "Out msg nelems");
  return collective == Collective::kAllGather || collective == Collective::kReduceScatter ? std::max(in, out)
                                                                                          : in;
}

bool sums(Collective collective) {
  return collective == Collective::kAllReduce || collective == Collective::kReduceScatter;
}

// Where a broken or another program's trace has something else, the text is empty.
std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Calls of one kind: the ranks as they are listed, since groups of one size lie within a node or across them.
using Call = std::tuple<Collective, double, int, std::vector<int>>;  // kind, bytes, number of ranks, ranks
struct Kernels {
  double least_s = 0;
  std::size_t count = 0;
};

// Keeps a kernel's duration, if it is the least of its call.
void add_call(const json& event, const json& args, std::map<Call, Kernels>& calls,
              Measurements& measurements) {
  const auto leave_out = [&](const std::string& reason) { ++measurements.not_modelled[reason]; };
  const std::string collective = text_in(args, "Collective name"), type_name = text_in(args, "dtype");
  const double seconds = number_of(event, "dur") * 1e-6, size = number_of(args, "Group size");
  const auto* known = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const Named& named) { return named.name == collective; });
  if (known == kNames.end()) return leave_out("collective " + collective);
  if (type_name.empty()) return leave_out("collective without an element type");
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const ElementType& one) { return one.name == type_name; });
  if (type == kTypes.end()) return leave_out("elements of type " + type_name);
  if (type->is_integer && sums(known->collective)) return leave_out("sums of integers");
  const double bytes = message_elements(known->collective, args) * type->bytes;
  if (!(seconds > 0)) return leave_out("NCCL kernel without a duration");
  if (!(bytes > 0) || size == 1) return leave_out("collective of nothing or of one rank");
  const std::optional<int> ranks = count_of(size);
  if (!ranks) return leave_out("collective that does not say how many ranks took part");
  const Call call{known->collective, bytes, *ranks,
                  listed_ranks(text_in(args, "Process Group Ranks"), *ranks)};
  Kernels& kernels = calls[call];
  if (kernels.count == 0 || seconds < kernels.least_s) kernels.least_s = seconds;
  ++kernels.count;
}

// What the job says of itself beside its events; 0: nothing.
int world_size(const json& root) {
  if (!root.is_object() || !root.contains("distributedInfo")) return 0;
  const json& job = root["distributedInfo"];
  if (!job.is_object() || !job.contains("world_size") || !job["world_size"].is_number()) return 0;
  return count_of(job["world_size"].get<double>()).value_or(0);
}

void add_calls(const std::string& file, const std::map<Call, Kernels>& calls, const TracedJob& job,
               const MeasurementDefaults& defaults, const MeasuredDevice& measured,
               Measurements& measurements, Diagnostics& faults) {
  ContradictedRows contradicted(file, faults);
  const std::string source = source_name("trace", file, defaults);
  bool across = false;
  for (const auto& [call, kernels] : calls) {
    const auto& [collective, bytes, size, ranks] = call;
    const GroupSpread spread = spread_of(ranks, size, job, defaults.fabric, measured.domain_gpus);
    if (spread.nodes == 0) {
      measurements.not_modelled[std::string(spread.problem)] += kernels.count;
      continue;
    }
    costmodel::CollectiveSample sample{.collective = collective, .bytes = bytes, .seconds = kernels.least_s};
    sample.placement.ranks = size;
    const Fault row{
        file,
        {},
        fmt::format("{} of {:.0f} bytes on {} ranks of {} nodes",
                    kCollectiveNames[static_cast<std::size_t>(collective)], bytes, size, spread.nodes),
        "",
        "",
        "",
        ""};
    add_collective(sample, defaults.fabric, spread.nodes, source, measured, row, measurements, contradicted);
    across = true;
  }
  if (across && job.assumed && job.nodes != 1) {
    measurements.notes.push_back(fmt::format(
        "{}: ranks lie node after node, assuming {} GPUs each; nodes= in {}.meta tells where they do not",
        file, job.node_gpus, file));
  }
  contradicted.finish(calls.size(), measurements);
}

// A kernel's duration holds the wait for the last rank: the least over all calls of the same size is the
// time.
void read_events(const std::string& file, std::string_view text, const MeasurementDefaults& defaults,
                 const DeviceResolver& resolve, Measurements& measurements, Diagnostics& faults) {
  const json root = json::parse(text, nullptr, false);
  const json* events = root.is_array() ? &root : nullptr;
  if (root.is_object() && root.contains("traceEvents")) events = &root["traceEvents"];
  if (root.is_discarded() || events == nullptr || !events->is_array()) {
    return faults.add({file, {}, "", "not a Chrome trace", "", "JSON with traceEvents", ""});
  }
  std::string gpu = defaults.gpu;
  if (gpu.empty() && root.is_object() && root.contains("deviceProperties") &&
      root["deviceProperties"].is_array() && !root["deviceProperties"].empty()) {
    const json& device = root["deviceProperties"][0];
    if (device.is_object()) gpu = text_of(device, "name");
  }

  std::map<Call, Kernels> calls;
  std::size_t kernels = 0, bare = 0, unreadable = 0, number = 0;
  Fault odd{file, {}, "", "", "", "", ""};
  for (const json& event : *events) {
    ++number;
    if (!event.is_object() || text_of(event, "ph") != "X") continue;
    const std::string name = text_of(event, "name");
    if (name.find("nccl") == std::string::npos || name.find("ernel") == std::string::npos) continue;
    ++kernels;
    ++measurements.rows;
    const auto args = event.find("args");
    if (args == event.end() || !args->is_object() || !args->contains("Collective name")) {
      ++bare;
      continue;
    }
    try {
      add_call(event, *args, calls, measurements);
    } catch (const Unreadable& what) {
      if (++unreadable > 1) continue;
      odd.key = what.key;
      odd.allowed = what.allowed;
      odd.problem = fmt::format(
          "NCCL kernels whose duration or metadata cannot be read; of the first, event {}, it is {}", number,
          what.found);
    }
  }
  if (unreadable > 0) {
    odd.found = fmt::format("{} of {}", unreadable, kernels);
    faults.add(std::move(odd));
  }
  if (bare > 0) {
    measurements.not_modelled["NCCL kernel without metadata (torch older than 2.2, or record_shapes off)"] +=
        bare;
  }
  if (kernels == 0) measurements.notes.push_back(fmt::format("{}: no NCCL kernels in it", file));
  if (calls.empty()) return;
  const MeasuredDevice measured = resolve(gpu);
  if (measured.device == nullptr) {
    return faults.add({file,
                       {},
                       "",
                       "GPU not in the catalogue",
                       gpu,
                       "gpu=NAME in " + file + ".meta, of the catalogue's devices",
                       ""});
  }
  if (const std::optional<TracedJob> job = traced_job(file, world_size(root), defaults, faults))
    add_calls(file, calls, *job, defaults, measured, measurements, faults);
}

}  // namespace

void read_profiler_trace(const std::string& file, std::string_view text, const MeasurementDefaults& defaults,
                         const DeviceResolver& resolve, Measurements& measurements, Diagnostics& faults) {
  try {
    read_events(file, text, defaults, resolve, measurements, faults);
  } catch (const json::exception& error) {  // a text where a number should be, say
    faults.add({file, {}, "", "not a trace of PyTorch's profiler", error.what(), "", ""});
  }
}

}  // namespace trainfront::inputs
