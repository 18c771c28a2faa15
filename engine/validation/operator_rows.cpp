#include "engine/validation/operator_rows.hpp"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <map>
#include <set>

#include "costmodel/fit_attention.hpp"
#include "costmodel/fit_memory_bound.hpp"
#include "costmodel/fit_network.hpp"
#include "costmodel/fit_other_sources.hpp"
#include "costmodel/gemm_form.hpp"
#include "inputs/measured_fabric.hpp"
#include "inputs/profile_fields.hpp"

namespace trainfront::engine {
namespace {

using costmodel::CollectiveSample;
using costmodel::Device;
using costmodel::Precision;
using costmodel::Samples;

// Sources that went across nodes another way than the fabric they name. Calibration leaves them out as well.
std::set<int> off_their_fabric(const inputs::Catalog& catalog, costmodel::Hardware hardware,
                               const Samples& samples) {
  std::map<int, std::vector<CollectiveSample>> across;
  for (const CollectiveSample& sample : samples.collective) {
    if (sample.placement.domains > 1 && sample.collective != costmodel::Collective::kSendRecv)
      across[sample.source].push_back(sample);
  }
  std::set<int> off;
  for (const auto& [source, list] : across) {
    const std::string& fabric = samples.fabrics[static_cast<std::size_t>(list.front().fabric)];
    const inputs::NetworkEntry* network = catalog.find_network(inputs::network_kind_of_fabric(fabric));
    hardware.network = network == nullptr ? costmodel::Network{} : network->network;
    hardware.gpus_per_node = inputs::node_gpus_of_fabric(fabric);
    if (!costmodel::runs_over_its_fabric(hardware, list)) off.insert(source);
  }
  return off;
}

std::string collective_group(const CollectiveSample& sample) {
  const std::string_view name = inputs::kCollectiveNames[static_cast<std::size_t>(sample.collective)];
  if (sample.placement.domains > 1) {
    return fmt::format("{} across nodes{}", name,
                       sample.bytes < costmodel::kNetworkBytes ? " below 1 MiB" : "");
  }
  return fmt::format("{}{}", name, sample.bytes < kSmallMessage ? " below 64 KiB" : "");
}

class Predictor {
 public:
  Predictor(const inputs::Catalog& catalog, const Device& device, const Samples& samples,
            std::map<std::string, std::size_t>& not_modelled, std::vector<OperatorRow>& rows)
      : catalog_(catalog), device_(device), samples_(samples), not_modelled_(not_modelled), rows_(rows) {}

  void kernels() {
    const costmodel::DeviceProfile& profile = device_.profile;
    for (const auto& sample : samples_.gemm) {
      const bool fp8 = sample.precision == Precision::kFp8;
      add(fp8 ? "gemm fp8" : "gemm bf16", sample, fmt::format("{} {} {}", sample.m, sample.n, sample.k),
          costmodel::gemm_burst(fp8 ? profile.fp8 : profile.bf16, sample.precision, device_.compute_units,
                                sample.m, sample.n, sample.k));
    }
    for (const auto& sample : samples_.attention) {
      const costmodel::AttentionShape& shape = sample.shape;
      add(sample.backward ? "attention_backward bf16" : "attention bf16", sample,
          fmt::format("{} {} {} {} {} {} {} {}", shape.batch, shape.queries, shape.keys, shape.heads,
                      shape.kv_heads, shape.qk_dim, shape.causal, sample.writes_cache),
          costmodel::predict(profile.attention, sample));
    }
    for (const auto& sample : samples_.memory_bound) {
      const auto kind = static_cast<std::size_t>(sample.kind);
      add(fmt::format("{} bf16", inputs::kMemoryBoundNames[kind]), sample, fmt::format("{}", sample.bytes),
          costmodel::predict(profile.memory_bound[kind], sample));
    }
  }

  void collectives() {
    costmodel::Hardware hardware;
    hardware.device = device_;
    const std::set<int> off = off_their_fabric(catalog_, hardware, samples_);
    for (const CollectiveSample& sample : samples_.collective) {
      if (sample.placement.domains > 1) {
        if (off.contains(sample.source)) {
          skip(fmt::format("across nodes {:.0f} times below the line rate that is stated: {}",
                           costmodel::kFarOff, source_of(sample)));
          continue;
        }
        const std::string& fabric = samples_.fabrics[static_cast<std::size_t>(sample.fabric)];
        const inputs::NetworkEntry* network = catalog_.find_network(inputs::network_kind_of_fabric(fabric));
        if (network == nullptr) {
          skip("collective across nodes on a fabric that is not in the catalogue");
          continue;
        }
        hardware.network = network->network;
        hardware.network.nic_bytes_per_s = sample.nic_bytes_per_s;
        hardware.gpus_per_node = inputs::node_gpus_of_fabric(fabric);
      }
      add(collective_group(sample), sample,
          fmt::format("{} {} {} {}", sample.placement.ranks, sample.placement.domains, sample.bytes,
                      sample.fabric),
          costmodel::collective_time(hardware, sample.collective, sample.bytes, sample.placement).seconds);
    }
  }

 private:
  template <typename Sample>
  const std::string& source_of(const Sample& sample) const {
    return samples_.sources[static_cast<std::size_t>(sample.source)];
  }
  template <typename Sample>
  void add(const std::string& operation, const Sample& sample, std::string point, double predicted_s) {
    rows_.push_back(
        {device_.id + " " + operation, source_of(sample), std::move(point), sample.seconds, predicted_s});
  }
  void skip(const std::string& reason) { ++not_modelled_[reason]; }

  const inputs::Catalog& catalog_;
  const Device& device_;
  const Samples& samples_;
  std::map<std::string, std::size_t>& not_modelled_;
  std::vector<OperatorRow>& rows_;
};

}  // namespace

std::vector<OperatorRow> predict_operators(const inputs::Catalog& catalog,
                                           inputs::Measurements& measurements) {
  std::vector<OperatorRow> rows;
  for (const auto& [id, samples] : measurements.samples) {
    const inputs::DeviceEntry* entry = catalog.find_device(id);
    if (entry == nullptr) continue;
    Predictor predictor(catalog, entry->device, samples, measurements.not_modelled, rows);
    predictor.kernels();
    predictor.collectives();
  }
  return rows;
}

}  // namespace trainfront::engine
