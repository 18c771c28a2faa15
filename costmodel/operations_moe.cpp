#include "costmodel/operation_builder.hpp"

namespace trainfront::costmodel {
namespace {

// Where a framework's kernels for experts are counted one by one (as FrameworkProfile's expert_bias_*, those
// of Megatron-Core are): a limit on the activation's input is applied before the fused kernel. Halves are cut
// off and joined again, backward their gradients are masked and joined
// (megatron/core/fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl). Bytes that these read and
// write, per element.
constexpr double kClampForwardBytes = 4 + 4;
constexpr double kClampBackwardBytes = 6 + 4;

// Padding reads and writes what goes into the experts, unpadding what comes out, both backward too
// (megatron/core/transformer/moe/experts.py, TEGroupedMLP). A cast reads bf16 and writes fp8 twice, by rows
// and by columns, with a scale for every 32.
constexpr double kPaddingBytes = 2 * (2 + 2);
constexpr double kCastBytes = 2 + 2 * (1 + 1.0 / 32);

// Copies of tokens that a GPU sends to experts.
double sent_tokens(const OperationBuilder& builder, const Model& model, const Recipe& recipe,
                   const FrameworkProfile& framework) {
  // A GPU sends as many tokens as it has; the busiest receives more.
  const double imbalance = recipe.expert_imbalance * framework.expert_imbalance;
  return builder.own_tokens() * model.experts_per_token * imbalance;
}

// What is multiplied: the experts' inputs and those of their second product; backward the gradients of both
// outputs.
void add_expert_casts(OperationBuilder& builder, double assignments, double hidden, double width,
                      double gates) {
  const double padding = kPaddingBytes * hidden;
  const double forward = padding + kCastBytes * (hidden + width);
  const double backward = padding + kCastBytes * (hidden + gates * width);
  builder.add_traffic("expert casts", MemoryBound::kCopy, forward * assignments, backward / forward);
}

}  // namespace

void add_expert_activation(OperationBuilder& builder, const Model& model, const Recipe& recipe,
                           const Layout& layout, const FrameworkProfile& framework) {
  const double assignments = sent_tokens(builder, model, recipe, framework) * layout.etp;
  const double width = static_cast<double>(model.expert_ffn) / layout.etp;
  builder.add_traffic("expert activation", MemoryBound::kActivation,
                      (model.gated ? 3 : 2) * assignments * width * kActivationBytes);
  if (model.expert_clamp && framework.expert_bias_forward_bytes > 0) {
    builder.add_traffic("expert clamp", MemoryBound::kCopy,
                        kClampForwardBytes * (model.gated ? 2 : 1) * assignments * width,
                        kClampBackwardBytes / kClampForwardBytes);
  }
}

// Dropless, or dropped above a capacity: a GPU's tokens visit experts_per_token experts each. Routing,
// dispatch to the experts' owners, grouped products, return (arXiv 2504.14960 for the expert grid).
void add_moe(OperationBuilder& builder, const Model& model, const Recipe& recipe, const Layout& layout,
             const FrameworkProfile& framework) {
  const double hidden = model.hidden;
  const double own = builder.own_tokens();
  const double imbalance = recipe.expert_imbalance * framework.expert_imbalance;
  const double sent = sent_tokens(builder, model, recipe, framework);
  const double assignments = sent * layout.etp;  // on one GPU; its expert tensor group works on the same ones
  const double experts = static_cast<double>(model.experts) / layout.ep;
  const double width = static_cast<double>(model.expert_ffn) / layout.etp;

  builder.add_linear("router", Precision::kBf16, own, model.experts, hidden);
  builder.add_traffic("routing", MemoryBound::kSoftmax, 24 * own * model.experts, 1);
  if (framework.permute_passes > 0) {
    builder.add_traffic("permute", MemoryBound::kPermute,
                        framework.permute_passes * assignments * hidden * kActivationBytes, 1);
  }
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient}) {
    if (layout.ep > 1 && framework.dispatcher == Dispatcher::kDeduplicated) {
      builder.add({"dispatch and combine", pass, 2,
                   Dispatch{own * imbalance, hidden * kActivationBytes, model.experts_per_token,
                            model.expert_groups, model.groups_per_token}});
    } else if (layout.ep > 1) {
      builder.add_communication("dispatch and combine", pass,
                                {Collective::kAllToAll, sent * hidden * kActivationBytes, Group::kExpert}, 2);
    }
    if (layout.etp > 1) {
      const double bytes = assignments * hidden * kActivationBytes;
      builder.add_communication("expert gather", pass, {Collective::kAllGather, bytes, Group::kExpertTensor});
      builder.add_communication("expert scatter", pass,
                                {Collective::kReduceScatter, bytes, Group::kExpertTensor});
    }
  }
  const double rows = assignments / experts;
  const int own_experts = static_cast<int>(experts);
  if (model.gated && !framework.fused_projections) {
    builder.add_grouped_linear("experts in", recipe.precision, own_experts, rows, width, hidden);
    builder.add_grouped_linear("experts in", recipe.precision, own_experts, rows, width, hidden);
    builder.add_gradient_sums("experts in", assignments, hidden, 2);
  } else {
    builder.add_grouped_linear("experts in", recipe.precision, own_experts, rows,
                               (model.gated ? 2 : 1) * width, hidden);
  }
  add_expert_activation(builder, model, recipe, layout, framework);
  if (framework.casts_experts_apart && recipe.precision == Precision::kFp8) {
    add_expert_casts(builder, assignments, hidden, width, model.gated ? 2 : 1);
  }
  builder.add_grouped_linear("experts out", recipe.precision, own_experts, rows, hidden, width);
  if (model.expert_bias && framework.expert_bias_forward_bytes > 0) {
    builder.add_traffic("expert bias", MemoryBound::kCopy,
                        framework.expert_bias_forward_bytes * assignments * hidden,
                        framework.expert_bias_backward_bytes / framework.expert_bias_forward_bytes);
  }
  if (model.shared_expert_ffn > 0) add_mlp(builder, model, recipe, framework, model.shared_expert_ffn);
}

}  // namespace trainfront::costmodel
