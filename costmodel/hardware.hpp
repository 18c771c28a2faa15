#pragma once

#include <string>

#include "costmodel/device_profile.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// A kind of GPU as its data sheet describes it (dense peaks), and what was measured on it.
struct Device {
  std::string id;  // "h100-sxm"
  double bf16_flops_per_s = 0;
  double fp8_flops_per_s = 0;  // 0: the device has no fp8 units
  double memory_bytes = 0;     // physical
  double memory_bytes_per_s = 0;
  double link_bytes_per_s = 0;  // scale-up link (NVLink, xGMI, PCIe) of one GPU, one way
  int compute_units = 0;        // SMs or CUs
  double power_w = 0;           // board limit
  DeviceProfile profile;
};

// The dense peak that utilisation is measured against.
inline double dense_peak_flops_per_s(const Device& device, Precision precision) {
  return precision == Precision::kFp8 ? device.fp8_flops_per_s : device.bf16_flops_per_s;
}

// GH200, GB200, GB300: the host is an NVIDIA Grace CPU in the same module.
inline bool has_grace_host(const Device& device) {
  return device.id.starts_with("gh") || device.id.starts_with("gb");
}

// The scale-out network as one GPU sees it.
struct Network {
  std::string kind;            // "InfiniBand NDR", "EFA v2", ...
  double nic_bytes_per_s = 0;  // one way, per GPU
  double latency_scale = 1;    // against InfiniBand NDR (EFA v2: 4 to 6)
  double efficiency = 0.93;    // of the line rate that large messages reach
  double delay_s = 0;          // one way, on top of what latency_scale says: distance, or shaping
  bool rdma = true;            // false: no layout may put model parallelism on it
};

// One kind of node and its fabric: the unit that the cost model sees. Offers that rent the same hardware
// share it.
struct Hardware {
  Device device;
  int gpus_per_node = 8;
  int domain_gpus = 8;  // GPUs on one scale-up fabric; may span nodes (72) or be less than one (2)
  Network network;
};

}  // namespace trainfront::costmodel
