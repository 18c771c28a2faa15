#include <cmath>

#include "costmodel/breakdown.hpp"

namespace trainfront::costmodel {
namespace {

std::string link_name(const Hardware& hardware) {
  const std::string& id = hardware.device.id;
  if (id.starts_with("mi")) return "Infinity Fabric";
  if (id.starts_with("l40") || id.find("pcie") != std::string::npos) return "PCIe";
  return "NVLink";
}

// The slowest fabric that a group of the layout crosses.
std::string fabric_of(const Hardware& hardware, const Placement& placement) {
  if (placement.domains <= 1) return link_name(hardware);
  return hardware.network.kind.empty() ? "the network" : hardware.network.kind;
}

// "computes matrix products", "waits for ...": how the sentence goes on after the share.
std::string activity(PathPart part, const Layout& layout, const Hardware& hardware) {
  const GroupPlacements placements = place_groups(layout, hardware.domain_gpus);
  switch (part) {
    case PathPart::kGemm:
      return "in matrix products";
    case PathPart::kAttention:
      return "in attention";
    case PathPart::kMemoryBound:
      return "in element-wise work bound by memory bandwidth";
    case PathPart::kTensorParallel:
      return std::string("waiting for tensor-parallel ") +
             (layout.sp ? "all-gather and reduce-scatter" : "all-reduce") + " over " +
             fabric_of(hardware, placements[Group::kTensor]);
    case PathPart::kContextParallel:
      return "waiting for keys and values of other context-parallel ranks over " +
             fabric_of(hardware, placements[Group::kContext]);
    case PathPart::kExpertParallel:
      return "waiting for expert dispatch and combine over " +
             fabric_of(hardware, placements[Group::kExpert]);
    case PathPart::kHost:
      return "waiting for the host to launch kernels";
    case PathPart::kTransfer:
      return "waiting for pipeline transfers";
    case PathPart::kDataParallel:
      return layout.zero == 3 ? "waiting for parameter gathers and gradient reduction"
                              : "waiting for gradient reduction";
    case PathPart::kOptimizer:
      return "in the optimiser";
    case PathPart::kOuterSync:
      break;
  }
  return "waiting for the islands' outer synchronisation";
}

}  // namespace

std::string bottleneck_words(const std::vector<PathShare>& shares, const Layout& layout,
                             const Hardware& hardware) {
  if (shares.empty()) return "nothing to do";
  double total = 0;
  for (const PathShare& share : shares) total += share.seconds;
  const PathShare& largest = shares.front();
  const std::string who =
      largest.stage < layout.pp ? "stage " + std::to_string(largest.stage) : "every stage";
  const auto percent = static_cast<int>(std::lround(100 * largest.seconds / total));
  return who + " spends " + std::to_string(percent) + " % of the step " +
         activity(largest.part, layout, hardware);
}

std::string_view resource_name(Resource resource) {
  switch (resource) {
    case Resource::kCompute:
      return "compute";
    case Resource::kMemory:
      return "memory bandwidth";
    case Resource::kLink:
      return "scale-up link";
    case Resource::kNetwork:
      return "network";
    case Resource::kHost:
      break;
  }
  return "host";
}

}  // namespace trainfront::costmodel
