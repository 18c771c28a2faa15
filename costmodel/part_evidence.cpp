#include "costmodel/part_evidence.hpp"

#include <array>
#include <optional>

#include "costmodel/collective_time.hpp"
#include "costmodel/kernel_time.hpp"
#include "costmodel/parameters.hpp"
#include "costmodel/stage_ends.hpp"

namespace trainfront::costmodel {
namespace {

class Gathered {
 public:
  void add(PathPart part, Evidence evidence) {
    std::optional<Evidence>& held = held_[static_cast<std::size_t>(part)];
    held = held ? worst(*held, evidence) : evidence;
  }
  std::vector<PartEvidence> take() const {
    std::vector<PartEvidence> result;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (held_[i]) result.push_back({static_cast<PathPart>(i), *held_[i]});
    }
    return result;
  }

 private:
  std::array<std::optional<Evidence>, kPathParts> held_;
};

}  // namespace

// Operations are priced one by one; the part that gets the time is the one that the operation belongs to.
std::vector<PartEvidence> part_evidence(const Model& model, const Recipe& recipe, const Layout& layout,
                                        const Hardware& hardware, const FrameworkProfile& framework) {
  const GroupPlacements placements = place_groups(layout, hardware.domain_gpus);
  Gathered gathered;
  const auto add_all = [&](const Operations& operations) {
    for (const Operation& operation : operations) {
      const BlockTime time = price_operations({operation}, placements, hardware, framework);
      for (const PartTimes& pass : time.pass) {
        for (int part = 0; part < kParts; ++part) {
          if (pass[static_cast<Part>(part)] > 0) gathered.add(static_cast<PathPart>(part), time.evidence);
        }
      }
    }
  };
  const int moe = moe_layers(model);
  if (moe < model.layers) add_all(layer_operations(model, recipe, layout, framework, Block::kDense));
  if (moe > 0) add_all(layer_operations(model, recipe, layout, framework, Block::kMoe));
  add_all(embedding_operations(model, recipe, layout));
  add_all(head_operations(model, recipe, layout, framework));
  if (model.mtp_blocks > 0) add_all(mtp_operations(model, recipe, layout));

  const LayoutCost cost = layout_cost(model, recipe, layout, hardware, framework);
  if (layout.pp > 1) {
    const bool crosses = layout.gpus() > hardware.domain_gpus;
    const Placement pair{2, crosses ? 2 : 1, crosses ? 1 : 2};
    const double bytes = static_cast<double>(layout.micro_batch) * recipe.sequence_length * model.hidden;
    gathered.add(PathPart::kTransfer, collective_time(hardware, Collective::kSendRecv, bytes, pair).evidence);
  }
  const ReplicaCosts replicas = replica_costs(cost, layout.dp, 1);
  if (replicas.dense.ranks > 1 || replicas.expert.ranks > 1) {
    gathered.add(PathPart::kDataParallel, replicas.evidence);
  }
  gathered.add(PathPart::kOptimizer, stage_ends(cost, replicas, cost.runs[0]).evidence);
  return gathered.take();
}

}  // namespace trainfront::costmodel
