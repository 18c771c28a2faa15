#include "costmodel/stage_memory.hpp"

#include <algorithm>
#include <limits>

#include "costmodel/legality.hpp"

namespace trainfront::costmodel {

namespace {

// Chunk passes (one micro-batch through one chunk) whose activations a stage holds at most.
std::int64_t most_passes(const Layout& layout, int stage) {
  const std::int64_t after = layout.pp - 1 - stage;
  switch (layout.schedule) {
    case Schedule::kGpipe:
      return std::numeric_limits<std::int64_t>::max();
    case Schedule::k1f1b:
      return after + 1;
    case Schedule::kInterleaved:
      // Warm-up of Megatron-LM and PyTorch (Narayanan et al., arXiv 2104.04473, section 2.2), and the pass at
      // hand.
      return 2 * after + std::int64_t{layout.vpp - 1} * layout.pp + 1;
    case Schedule::kZeroBubble:
      // Deferred weight gradients keep what 1F1B frees early (arXiv 2401.10241, section 2.1).
      return layout.pp;
  }
  return layout.pp;
}

// DeepSpeed's defaults: gradients are reduced, and parameters prefetched, in buckets of so many elements.
constexpr double kDeepspeedReduceBucket = 5e8;
constexpr double kDeepspeedPrefetchBucket = 5e7;

}  // namespace

StageMemoryBuilder::StageMemoryBuilder(const Model& model, const Recipe& recipe, const Layout& layout,
                                       const MemoryProfile& profile)
    : model_(model),
      layout_(layout),
      profile_(profile),
      split_(split_layers(model, layout, profile.split)),
      activations_(layer_activations(model, recipe, layout, profile)) {
  const ParameterCounts counts = count_parameters(model);
  const double tp = layout.tp;
  const double norms = static_cast<double>(counts.norms);
  if (counts.dense_layer > 0) {
    dense_layer_parameters_ = static_cast<double>(counts.dense_layer - counts.norms) / tp + norms;
  }
  if (model.is_moe()) {
    moe_layer_parameters_ = static_cast<double>(counts.attention + counts.shared_experts) / tp + norms +
                            static_cast<double>(counts.router);
    expert_layer_parameters_ =
        static_cast<double>(counts.expert) * model.experts / (static_cast<double>(layout.ep) * layout.etp);
  }
  table_parameters_ = static_cast<double>(held_vocabulary(model, layout)) * model.hidden / tp;
  expert_imbalance_ = recipe.expert_imbalance;
  tokens_ = static_cast<double>(layout.micro_batch) * recipe.sequence_length / layout.cp;
  hidden_token_bytes_ = 2.0 * model.hidden * tokens_ / (layout.sp ? tp : 1.0);
}

StageMemoryBuilder::Blocks StageMemoryBuilder::chunk_blocks(int chunk) const {
  const int begin = split_.first_layer(chunk);
  const int end = split_.first_layer(chunk + 1);
  const int moe = moe_layers_before(model_, end) - moe_layers_before(model_, begin);
  return {end - begin - moe, moe};
}

double StageMemoryBuilder::activation_bytes(const Blocks& blocks) const {
  return blocks.dense * activations_.dense_layer + blocks.moe * activations_.moe_layer;
}

StageMemory StageMemoryBuilder::build(int index) const {
  StageMemory stage;
  stage.stage = index;
  Blocks blocks;
  for (int chunk = index; chunk < layout_.pp * layout_.vpp; chunk += layout_.pp) {
    const Blocks more = chunk_blocks(chunk);
    blocks.dense += more.dense;
    blocks.moe += more.moe;
  }
  stage.dense_parameters = blocks.dense * dense_layer_parameters_ + blocks.moe * moe_layer_parameters_;
  stage.expert_parameters = blocks.moe * expert_layer_parameters_;
  stage.activation_bytes = activation_bytes(blocks);
  if (blocks.dense > 0) stage.working_bytes = activations_.dense_working;
  if (blocks.moe > 0) stage.working_bytes = std::max(stage.working_bytes, activations_.moe_working);
  add_activations(stage);
  add_ends(stage, index);
  add_buffers(stage, blocks);
  return stage;
}

// In flight: pp micro-batches through every chunk while the last one fills up, then more of the first.
void StageMemoryBuilder::add_activations(StageMemory& stage) const {
  const std::int64_t passes = most_passes(layout_, stage.stage);
  stage.most_passes = passes;
  if (layout_.vpp == 1) {
    stage.most_activation_bytes = static_cast<double>(passes) * stage.activation_bytes;
    return;
  }
  const std::int64_t rounds = std::int64_t{layout_.pp} * layout_.vpp;
  const double pp = layout_.pp;
  if (passes >= rounds) {
    stage.most_activation_bytes =
        pp * stage.activation_bytes +
        static_cast<double>(passes - rounds) * activation_bytes(chunk_blocks(stage.stage));
    return;
  }
  const double last_chunk = activation_bytes(chunk_blocks(stage.stage + (layout_.vpp - 1) * layout_.pp));
  stage.most_activation_bytes =
      pp * stage.activation_bytes - static_cast<double>(rounds - passes) * last_chunk;
}

void StageMemoryBuilder::add_ends(StageMemory& stage, int index) const {
  const bool is_first = index == 0;
  const bool is_last = index == layout_.pp - 1;
  const bool predicts_more = is_last && model_.mtp_blocks > 0;
  if (is_first) {
    stage.dense_parameters +=
        table_parameters_ + static_cast<double>(model_.learned_positions) * model_.hidden;
  }
  if (!is_last) return;
  // Tied tables are one on a single stage and two on both ends otherwise.
  const bool holds_head = !model_.tied_embeddings || !is_first;
  stage.dense_parameters += model_.hidden + (holds_head ? table_parameters_ : 0);
  double passes = 1;
  if (predicts_more) {
    const double block = model_.is_moe() ? moe_layer_parameters_ : dense_layer_parameters_;
    const double projection = 2.0 * model_.hidden * model_.hidden / layout_.tp;
    stage.dense_parameters += model_.mtp_blocks * (block + projection + 3.0 * model_.hidden);
    stage.expert_parameters += model_.mtp_blocks * expert_layer_parameters_;
    if (!is_first) stage.dense_parameters += table_parameters_;
    stage.working_bytes +=
        model_.mtp_blocks * (model_.is_moe() ? activations_.moe_layer : activations_.dense_layer);
    passes += model_.mtp_blocks;
  }
  const double entries = tokens_ * static_cast<double>(held_vocabulary(model_, layout_)) / layout_.tp;
  stage.logit_bytes = passes * entries * profile_.logit_bytes + 2 * hidden_token_bytes_;
  stage.accumulated_logit_bytes = passes * entries * profile_.accumulation_logit_bytes;
}

void StageMemoryBuilder::add_buffers(StageMemory& stage, const Blocks& blocks) const {
  // Sequence parallelism gathers whole hidden states for a moment; pipeline stages receive one.
  if (layout_.sp && layout_.tp > 1)
    stage.buffer_bytes += profile_.transient_hidden * hidden_token_bytes_ * layout_.tp;
  if (layout_.pp > 1) stage.buffer_bytes += profile_.transient_hidden * hidden_token_bytes_;
  if (blocks.moe > 0) {
    // What is being dispatched and combined.
    stage.buffer_bytes += 4.0 * model_.hidden * model_.experts_per_token * expert_imbalance_ * layout_.etp *
                          tokens_ / layout_.tp;
  }
  const double block = std::max(blocks.dense > 0 ? dense_layer_parameters_ : 0,
                                blocks.moe > 0 ? moe_layer_parameters_ + expert_layer_parameters_ : 0);
  if (layout_.framework == Framework::kDeepspeed) {
    const double largest =
        static_cast<double>(model_.hidden) * std::max(model_.vocab, model_.ffn) / layout_.tp;
    if (layout_.zero >= 2) stage.buffer_bytes += 2 * std::min(kDeepspeedReduceBucket, stage.dense_parameters);
    if (layout_.zero == 3) {
      stage.buffer_bytes += 4 * largest + 2 * std::min(kDeepspeedPrefetchBucket, stage.dense_parameters);
    }
    return;
  }
  if (layout_.zero < 2) return;
  // FSDP: the block at work and the next one gathered in bf16, one block's gradients whole until they are
  // reduced.
  const double unit = std::max(block, table_parameters_);
  if (layout_.zero == 3) stage.buffer_bytes += 2 * (2 * block);
  stage.buffer_bytes += 4 * unit;
}

}  // namespace trainfront::costmodel
