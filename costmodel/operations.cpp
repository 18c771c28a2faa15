#include "costmodel/operations.hpp"

#include <algorithm>
#include <numeric>

#include "costmodel/operation_builder.hpp"
#include "costmodel/parameters.hpp"

namespace trainfront::costmodel {
namespace {

constexpr std::size_t kLayerOperations = 64;

}  // namespace

OperationBuilder::OperationBuilder(const Recipe& recipe, const Layout& layout)
    : tokens_(static_cast<double>(layout.micro_batch) * recipe.sequence_length / layout.cp),
      own_tokens_(layout.sp ? tokens_ / layout.tp : tokens_),
      tp_(layout.tp),
      sequence_parallel_(layout.sp && layout.tp > 1) {
  operations_.reserve(kLayerOperations);
}

void OperationBuilder::add_linear(const char* name, Precision precision, double rows, double n, double k) {
  add({name, Pass::kForward, 1, Gemm{precision, rows, n, k}});
  add({name, Pass::kInputGradient, 1, Gemm{precision, rows, k, n}});
  add({name, Pass::kWeightGradient, 1, Gemm{precision, n, k, rows}});
}

void OperationBuilder::add_linears(const char* name, Precision precision, double rows,
                                   std::initializer_list<double> widths, double k, bool fused) {
  if (fused) {
    add_linear(name, precision, rows, std::accumulate(widths.begin(), widths.end(), 0.0), k);
    return;
  }
  for (const double n : widths) add_linear(name, precision, rows, n, k);
  add_gradient_sums(name, rows, k, widths.size());
}

// Each sum reads two and writes one.
void OperationBuilder::add_gradient_sums(const char* name, double rows, double width, std::size_t parts) {
  if (parts < 2) return;
  add({name, Pass::kInputGradient, static_cast<double>(parts - 1),
       MemoryTraffic{MemoryBound::kAdd, 3 * rows * width * kActivationBytes}});
}

void OperationBuilder::add_grouped_linear(const char* name, Precision precision, int experts, double rows,
                                          double n, double k) {
  add({name, Pass::kForward, 1, GroupedGemm{precision, experts, rows, n, k}});
  add({name, Pass::kInputGradient, 1, GroupedGemm{precision, experts, rows, k, n}});
  add({name, Pass::kWeightGradient, 1, GroupedGemm{precision, experts, n, k, rows}});
}

void OperationBuilder::add_traffic(const char* name, MemoryBound kind, double bytes, double backward_factor,
                                   double count) {
  add({name, Pass::kForward, count, MemoryTraffic{kind, bytes}});
  if (backward_factor > 0)
    add({name, Pass::kInputGradient, count, MemoryTraffic{kind, backward_factor * bytes}});
}

void OperationBuilder::add_communication(const char* name, Pass pass, const Communication& communication,
                                         double count) {
  add({name, pass, count, communication});
}

namespace {

double element_bytes(Precision precision) {
  return precision == Precision::kFp8 ? 1 : kActivationBytes;
}

}  // namespace

Precision gathered_precision(const Recipe& recipe, const FrameworkProfile& framework) {
  return framework.gathers_fp8 ? recipe.precision : Precision::kBf16;
}

void OperationBuilder::add_gather_before(const char* name, double width, Precision gathered) {
  if (tp_ <= 1) return;
  const double bytes = tokens_ * width * kActivationBytes;
  if (sequence_parallel_) {
    const double gathered_bytes = tokens_ * width * element_bytes(gathered);
    add_communication(name, Pass::kForward, {Collective::kAllGather, gathered_bytes, Group::kTensor});
    add_communication(name, Pass::kInputGradient, {Collective::kReduceScatter, bytes, Group::kTensor});
  } else {
    add_communication(name, Pass::kInputGradient, {Collective::kAllReduce, bytes, Group::kTensor});
  }
}

void OperationBuilder::add_reduce_after(const char* name, double width, Precision gathered) {
  if (tp_ <= 1) return;
  const double bytes = tokens_ * width * kActivationBytes;
  if (sequence_parallel_) {
    const double gathered_bytes = tokens_ * width * element_bytes(gathered);
    add_communication(name, Pass::kForward, {Collective::kReduceScatter, bytes, Group::kTensor});
    add_communication(name, Pass::kInputGradient, {Collective::kAllGather, gathered_bytes, Group::kTensor});
  } else {
    add_communication(name, Pass::kForward, {Collective::kAllReduce, bytes, Group::kTensor});
  }
}

// Read and written once.
void add_norm(OperationBuilder& builder, const Model& model, double count) {
  builder.add_traffic("norm", MemoryBound::kNorm, 2 * builder.own_tokens() * model.hidden * kActivationBytes,
                      2, count);
}

// Two inputs, one output.
void add_residual(OperationBuilder& builder, const Model& model) {
  builder.add_traffic("residual", MemoryBound::kAdd,
                      3 * builder.own_tokens() * model.hidden * kActivationBytes);
}

void add_mlp(OperationBuilder& builder, const Model& model, const Recipe& recipe,
             const FrameworkProfile& framework, double width) {
  const double own_width = width / builder.tp();
  const double tokens = builder.tokens();
  builder.add_gather_before("mlp gather", model.hidden, gathered_precision(recipe, framework));
  if (model.gated) {
    builder.add_linears("mlp in", recipe.precision, tokens, {own_width, own_width}, model.hidden,
                        framework.fused_projections);
  } else {
    builder.add_linear("mlp in", recipe.precision, tokens, own_width, model.hidden);
  }
  builder.add_traffic("activation", MemoryBound::kActivation,
                      (model.gated ? 3 : 2) * tokens * own_width * kActivationBytes);
  builder.add_linear("mlp out", recipe.precision, tokens, model.hidden, own_width);
  builder.add_reduce_after("mlp reduce", model.hidden, gathered_precision(recipe, framework));
}

Operations layer_operations(const Model& model, const Recipe& recipe, const Layout& layout,
                            const FrameworkProfile& framework, Block block) {
  OperationBuilder builder(recipe, layout);
  add_norm(builder, model, model.norms_per_layer);
  add_attention_block(builder, model, recipe, layout, framework);
  if (model.norms_per_layer > 1)
    add_residual(builder, model);  // one add when attention and MLP run side by side
  if (block == Block::kMoe) {
    add_moe(builder, model, recipe, layout, framework);
  } else {
    add_mlp(builder, model, recipe, framework, model.ffn);
  }
  add_residual(builder, model);
  const LocalParameters parameters = layer_parameters(model, layout, block);
  if (framework.accumulation_bytes > 0) {
    builder.add({"gradient accumulation", Pass::kWeightGradient, 1,
                 MemoryTraffic{MemoryBound::kCopy, framework.accumulation_bytes * parameters.total()}});
  }
  return builder.take();
}

LocalParameters layer_parameters(const Model& model, const Layout& layout, Block block) {
  const ParameterCounts counts = count_parameters(model);
  const double tp = layout.tp;
  const double attention = static_cast<double>(counts.attention) / tp;
  const double norms = static_cast<double>(counts.norms);
  if (block == Block::kDense) {
    return {
        attention + static_cast<double>(counts.dense_layer - counts.attention - counts.norms) / tp + norms,
        0};
  }
  return {attention + static_cast<double>(counts.shared_experts) / tp + static_cast<double>(counts.router) +
              norms,
          static_cast<double>(counts.expert) * model.experts / layout.ep / layout.etp};
}

}  // namespace trainfront::costmodel
