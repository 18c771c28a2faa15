#pragma once

#include "costmodel/data_sheet_profile.hpp"

namespace trainfront::costmodel {

// NVIDIA's data sheets; the profile is the data-sheet one.
inline Device h100_device() {
  Device device{.id = "h100-sxm",
                .bf16_flops_per_s = 989.4e12,
                .fp8_flops_per_s = 1978.9e12,
                .memory_bytes = 80e9,
                .memory_bytes_per_s = 3.35e12,
                .link_bytes_per_s = 450e9,
                .compute_units = 132,
                .power_w = 700,
                .profile = {}};
  device.profile = data_sheet_profile(device);
  return device;
}

inline Device a100_device() {
  Device device{.id = "a100-80gb-sxm",
                .bf16_flops_per_s = 312e12,
                .fp8_flops_per_s = 0,
                .memory_bytes = 80e9,
                .memory_bytes_per_s = 2.039e12,
                .link_bytes_per_s = 300e9,
                .compute_units = 108,
                .power_w = 400,
                .profile = {}};
  device.profile = data_sheet_profile(device);
  return device;
}

inline Hardware h100_cluster() {
  return {.device = h100_device(),
          .gpus_per_node = 8,
          .domain_gpus = 8,
          .network = {.kind = "InfiniBand NDR",
                      .nic_bytes_per_s = 50e9,
                      .latency_scale = 1,
                      .efficiency = 0.93,
                      .rdma = true}};
}

}  // namespace trainfront::costmodel
