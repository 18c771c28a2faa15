#include "costmodel/stage_load.hpp"

#include "costmodel/parameters.hpp"

namespace trainfront::costmodel {
namespace {

StageTime totals(const BlockTime& time) {
  return {time[Pass::kForward].total(), time[Pass::kInputGradient].total(),
          time[Pass::kWeightGradient].total()};
}

void add(StageTime& sum, const StageTime& term, double times) {
  sum.forward_s += times * term.forward_s;
  sum.input_gradient_s += times * term.input_gradient_s;
  sum.weight_gradient_s += times * term.weight_gradient_s;
}

void add(LocalParameters& sum, const LocalParameters& term, double times) {
  sum.dense += times * term.dense;
  sum.expert += times * term.expert;
}

}  // namespace

ChunkBlocks chunk_blocks(const Model& model, const StageSplit& split, int chunk) {
  const int begin = split.first_layer(chunk);
  const int end = split.first_layer(chunk + 1);
  ChunkBlocks blocks;
  blocks.moe = moe_layers_before(model, end) - moe_layers_before(model, begin);
  blocks.dense = end - begin - blocks.moe;
  blocks.embedding = chunk == 0;
  blocks.head = chunk == split.chunks - 1;
  if (blocks.head) blocks.mtp = model.mtp_blocks;
  return blocks;
}

BlockTime chunk_time(const BlockTimes& times, const ChunkBlocks& blocks) {
  BlockTime sum = times.micro_batch;
  sum.add(times.dense, blocks.dense);
  sum.add(times.moe, blocks.moe);
  if (blocks.embedding) sum.add(times.embedding);
  if (blocks.head) sum.add(times.head);
  sum.add(times.mtp, blocks.mtp);
  return sum;
}

StageLoads stage_loads(const Model& model, const Layout& layout, const FrameworkProfile& framework,
                       const BlockTimes& times) {
  const StageSplit split = split_layers(model, layout, framework.split);
  const StageTime dense = totals(times.dense), moe = totals(times.moe), embedding = totals(times.embedding),
                  head = totals(times.head), mtp = totals(times.mtp), micro_batch = totals(times.micro_batch);
  const LocalParameters dense_layer = layer_parameters(model, layout, Block::kDense);
  const LocalParameters moe_layer =
      model.is_moe() ? layer_parameters(model, layout, Block::kMoe) : LocalParameters{};
  const LocalParameters mtp_block = model.mtp_blocks > 0 ? mtp_parameters(model, layout) : LocalParameters{};

  StageLoads loads;
  loads.chunks.resize(static_cast<std::size_t>(split.chunks));
  loads.parameters.resize(static_cast<std::size_t>(layout.pp));
  for (int chunk = 0; chunk < split.chunks; ++chunk) {
    const ChunkBlocks blocks = chunk_blocks(model, split, chunk);
    StageTime& time = loads.chunks[static_cast<std::size_t>(chunk)];
    LocalParameters& parameters = loads.parameters[static_cast<std::size_t>(chunk % layout.pp)];
    add(time, micro_batch, 1);
    add(time, dense, blocks.dense);
    add(time, moe, blocks.moe);
    add(time, mtp, blocks.mtp);
    add(parameters, dense_layer, blocks.dense);
    add(parameters, moe_layer, blocks.moe);
    add(parameters, mtp_block, blocks.mtp);
    if (blocks.embedding) {
      add(time, embedding, 1);
      parameters.dense += embedding_parameters(model, layout);
    }
    if (blocks.head) {
      add(time, head, 1);
      parameters.dense += head_parameters(model, layout);
    }
  }
  return loads;
}

}  // namespace trainfront::costmodel
