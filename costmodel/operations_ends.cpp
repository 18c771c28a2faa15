#include "costmodel/operation_builder.hpp"
#include "costmodel/parameters.hpp"

namespace trainfront::costmodel {
namespace {

// Of the passes over the fp32 logits that cross entropy takes, those that belong to the forward.
constexpr double kLossForwardShare = 0.6;

void add_embedding(OperationBuilder& builder, const Model& model) {
  builder.add_traffic("embedding", MemoryBound::kEmbedding,
                      2 * builder.tokens() * model.hidden * kActivationBytes);
  builder.add_reduce_after("embedding reduce", model.hidden);
}

}  // namespace

Operations embedding_operations(const Model& model, const Recipe& recipe, const Layout& layout) {
  OperationBuilder builder(recipe, layout);
  add_embedding(builder, model);
  return builder.take();
}

Operations head_operations(const Model& model, const Recipe& recipe, const Layout& layout,
                           const FrameworkProfile& framework) {
  OperationBuilder builder(recipe, layout);
  add_norm(builder, model, 1);
  const double tokens = builder.tokens();
  const double vocab = model.vocab / builder.tp();
  builder.add_gather_before("head gather", model.hidden);
  builder.add_linear("lm head", Precision::kBf16, tokens, vocab, model.hidden);
  const double logits_bytes = framework.loss_passes * 4 * tokens * vocab;
  builder.add_traffic("cross entropy", MemoryBound::kCrossEntropy, kLossForwardShare * logits_bytes,
                      (1 - kLossForwardShare) / kLossForwardShare);
  if (builder.tp() > 1) {  // largest logit, predicted logit, sum of exponentials of every token
    builder.add_communication("loss reduce", Pass::kForward,
                              {Collective::kAllReduce, 4 * tokens, Group::kTensor}, 3);
  }
  return builder.take();
}

Operations mtp_operations(const Model& model, const Recipe& recipe, const Layout& layout) {
  OperationBuilder builder(recipe, layout);
  add_embedding(builder, model);
  add_norm(builder, model, 2);  // of the embedding and of the trunk's output
  builder.add_gather_before("mtp gather", 2 * model.hidden);
  builder.add_linear("mtp projection", recipe.precision, builder.tokens(), model.hidden / builder.tp(),
                     2.0 * model.hidden);
  builder.add_reduce_after("mtp reduce", model.hidden);
  return builder.take();
}

double embedding_parameters(const Model& model, const Layout& layout) {
  return static_cast<double>(count_parameters(model).embedding) / layout.tp;
}

double head_parameters(const Model& model, const Layout& layout) {
  const ParameterCounts counts = count_parameters(model);
  const double table = static_cast<double>(counts.lm_head) / layout.tp;
  const double norm = static_cast<double>(counts.final_norm);
  if (!model.tied_embeddings || layout.pp == 1) return table + norm;
  return static_cast<double>(model.vocab) * model.hidden / layout.tp + norm;  // the table's second copy
}

LocalParameters mtp_parameters(const Model& model, const Layout& layout) {
  const LocalParameters layer = layer_parameters(model, layout, model.is_moe() ? Block::kMoe : Block::kDense);
  const double h = model.hidden;
  return {layer.dense + 2 * h * h / layout.tp + 3 * h, layer.expert};
}

}  // namespace trainfront::costmodel
