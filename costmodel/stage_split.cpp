#include "costmodel/stage_split.hpp"

#include <algorithm>
#include <cmath>

namespace trainfront::costmodel {
namespace {

StageSplit ends(SplitKind kind, const Model& model, int chunks, int first, int middle, int last) {
  return {
      .kind = kind, .total = model.layers, .chunks = chunks, .first = first, .middle = middle, .last = last};
}

// `weight` layers stand for embedding and loss, shared between the two end chunks.
StageSplit balanced(const Model& model, int chunks, int weight) {
  const int each = (model.layers + weight) / chunks;
  int extra = (model.layers + weight) % chunks;
  StageSplit split = ends(SplitKind::kBalanced, model, chunks, each, each, each);
  if (weight == 2) {
    split.first -= 1;
    split.last -= 1;
  }
  split.longer = std::min(extra, chunks - 2);
  extra -= split.longer;
  if (extra > 0) split.first += 1;
  return split;
}

// nanotron starts a new stage after the block at which the cumulative cost passes its share; a block costs
// its matrix products and so does the head (nanotron, models/llama.py, get_block_compute_costs).
StageSplit by_cost(const Model& model, int stages) {
  const double h = model.hidden;
  const double layer = 4 * h * h + (model.gated ? 3 : 2) * h * model.ffn;
  StageSplit split = ends(SplitKind::kByCost, model, stages, 0, 0, 0);
  split.stride = (layer * model.layers + h * model.vocab) / layer / stages;
  return split;
}

StageSplit megatron(const Model& model, int chunks, bool interleaved) {
  const int layers = model.layers;
  for (const int accounted : {2, 1}) {
    if ((layers + accounted) % chunks != 0) continue;
    const int each = (layers + accounted) / chunks;
    return ends(SplitKind::kAccounted, model, chunks, each - (accounted == 2 ? 1 : 0), each, each - 1);
  }
  if (!interleaved) {
    const int each = (layers + chunks - 1) / chunks;
    const int both = layers - each * (chunks - 2);
    if (both >= 2) return ends(SplitKind::kUnevenEnds, model, chunks, (both + 1) / 2, each, both / 2);
  }
  return balanced(model, chunks, layers + 2 >= 2 * chunks ? 2 : 0);
}

}  // namespace

int StageSplit::first_layer(int chunk) const {
  if (chunk <= 0) return 0;
  if (chunk >= chunks) return total;
  // A block that ends just at the share is the stage's last.
  constexpr double kRounding = 1e-9;
  if (kind == SplitKind::kByCost) {
    return std::clamp(static_cast<int>(std::ceil(stride * chunk - kRounding)), 0, total);
  }
  return std::clamp(first + middle * (chunk - 1) + std::min(chunk - 1, longer), 0, total);
}

StageSplit split_layers(const Model& model, const Layout& layout, SplitPolicy policy) {
  const int chunks = layout.pp * layout.vpp;
  if (chunks <= 1) return ends(SplitKind::kEven, model, 1, model.layers, 0, 0);
  if (policy == SplitPolicy::kByCost && layout.vpp == 1) return by_cost(model, chunks);
  if (layout.framework != Framework::kMegatron)
    return balanced(model, chunks, model.layers + 2 >= 2 * chunks ? 2 : 0);
  const int each = model.layers / chunks;
  if (model.layers % chunks == 0) return ends(SplitKind::kEven, model, chunks, each, each, each);
  return megatron(model, chunks, layout.vpp > 1);
}

}  // namespace trainfront::costmodel
