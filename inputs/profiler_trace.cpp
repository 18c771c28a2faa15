#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "inputs/measurement_text.hpp"
#include "inputs/profile_fields.hpp"

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

double element_bytes(const std::string& type) {
  if (type == "Double" || type == "Long") return 8;
  if (type == "Float" || type == "Int") return 4;
  if (type == "Half" || type == "BFloat16" || type == "Short") return 2;
  return 1;
}

// As nccl-tests counts: the larger side of gathering and scattering.
double message_bytes(Collective collective, const json& args) {
  const double in = args.value("In msg nelems", 0.0), out = args.value("Out msg nelems", 0.0);
  const double elements = collective == Collective::kAllGather || collective == Collective::kReduceScatter
                              ? std::max(in, out)
                              : in;
  return elements * element_bytes(args.value("dtype", std::string("Float")));
}

using Call = std::tuple<Collective, double, int>;  // kind, bytes, ranks

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
    gpu = root["deviceProperties"][0].value("name", std::string());
  }

  std::map<Call, double> least;
  std::size_t kernels = 0, bare = 0;
  for (const json& event : *events) {
    if (!event.is_object() || event.value("ph", std::string()) != "X") continue;
    const std::string name = event.value("name", std::string());
    if (name.find("nccl") == std::string::npos || name.find("ernel") == std::string::npos) continue;
    ++kernels;
    ++measurements.rows;
    const auto args = event.find("args");
    if (args == event.end() || !args->is_object() || !args->contains("Collective name")) {
      ++bare;
      continue;
    }
    const std::string collective = args->value("Collective name", std::string());
    const auto* known = std::find_if(kNames.begin(), kNames.end(),
                                     [&](const Named& named) { return named.name == collective; });
    if (known == kNames.end()) {
      ++measurements.not_modelled["collective " + collective];
      continue;
    }
    const double bytes = message_bytes(known->collective, *args), seconds = event.value("dur", 0.0) * 1e-6;
    const int ranks = args->value("Group size", 0);
    if (bytes <= 0 || seconds <= 0 || ranks < 2) {
      ++measurements.not_modelled["collective of nothing or of one rank"];
      continue;
    }
    const auto [call, is_new] = least.emplace(Call{known->collective, bytes, ranks}, seconds);
    if (!is_new) call->second = std::min(call->second, seconds);
  }
  if (bare > 0) {
    measurements.not_modelled["NCCL kernel without metadata (torch older than 2.2, or record_shapes off)"] +=
        bare;
  }
  if (kernels == 0) measurements.notes.push_back(fmt::format("{}: no NCCL kernels in it", file));
  if (least.empty()) return;
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
  ContradictedRows contradicted(file, faults);
  const std::string source = "trace " + file.substr(file.find_last_of('/') + 1);
  for (const auto& [call, seconds] : least) {
    const auto& [collective, bytes, ranks] = call;
    costmodel::CollectiveSample sample{.collective = collective, .bytes = bytes, .seconds = seconds};
    sample.placement.ranks = ranks;
    const int nodes = defaults.nodes > 0 ? defaults.nodes : (ranks + 7) / 8;
    const Fault row{file,
                    {},
                    fmt::format("{} of {:.0f} bytes on {} ranks",
                                kCollectiveNames[static_cast<std::size_t>(collective)], bytes, ranks),
                    "",
                    "",
                    "",
                    ""};
    add_collective(sample, defaults.fabric, nodes, source, measured, row, measurements, contradicted);
  }
  contradicted.finish(least.size(), measurements);
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
