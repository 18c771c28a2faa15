#include <fmt/core.h>

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

// As nccl-tests counts: the larger side of gathering and scattering.
double message_elements(Collective collective, const json& args) {
  const double in = args.value("In msg nelems", 0.0), out = args.value("Out msg nelems", 0.0);
  return collective == Collective::kAllGather || collective == Collective::kReduceScatter ? std::max(in, out)
                                                                                          : in;
}

bool sums(Collective collective) {
  return collective == Collective::kAllReduce || collective == Collective::kReduceScatter;
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

using Call = std::tuple<Collective, double, int>;  // kind, bytes, ranks

// Keeps a kernel's duration, if it is the least of its call.
void add_call(const json& event, const json& args, std::map<Call, double>& least,
              Measurements& measurements) {
  const std::string collective = args.value("Collective name", std::string());
  const auto* known = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const Named& named) { return named.name == collective; });
  if (known == kNames.end()) {
    ++measurements.not_modelled["collective " + collective];
    return;
  }
  const std::string type_name = args.value("dtype", std::string("Float"));
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const ElementType& one) { return one.name == type_name; });
  if (type == kTypes.end() || (type->is_integer && sums(known->collective))) {
    ++measurements.not_modelled[type == kTypes.end() ? "elements of type " + type_name : "sums of integers"];
    return;
  }
  const double bytes = message_elements(known->collective, args) * type->bytes;
  const double seconds = event.value("dur", 0.0) * 1e-6;
  const int ranks = args.value("Group size", 0);
  if (bytes <= 0 || seconds <= 0 || ranks < 2) {
    ++measurements.not_modelled["collective of nothing or of one rank"];
    return;
  }
  const auto [call, is_new] = least.emplace(Call{known->collective, bytes, ranks}, seconds);
  if (!is_new) call->second = std::min(call->second, seconds);
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

  std::map<Call, double> least;
  std::size_t kernels = 0, bare = 0, unreadable = 0;
  for (const json& event : *events) {
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
      add_call(event, *args, least, measurements);
    } catch (const json::exception&) {  // a text where a number should be, say
      ++unreadable;
    }
  }
  if (unreadable > 0) {
    faults.add({file,
                {},
                "",
                "NCCL kernels whose duration or metadata cannot be read",
                fmt::format("{} of {}", unreadable, kernels),
                "",
                ""});
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
