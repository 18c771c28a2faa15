#include "search/packed_memory.hpp"

#include <algorithm>

namespace trainfront::search {

void PackedMemory::add(const costmodel::LayoutMemory& memory) {
  heads_.push_back({.state = memory.state,
                    .cp = memory.cp,
                    .micro_batch = memory.micro_batch,
                    .vpp = memory.vpp,
                    .shard_ranks = memory.shard_ranks,
                    .expert_share = memory.expert_share,
                    .overhead_bytes = memory.overhead_bytes,
                    .first_stage = static_cast<std::uint32_t>(stages_.size()),
                    .stage_count = static_cast<std::uint32_t>(memory.stage_count)});
  stages_.insert(stages_.end(), memory.stages.begin(), memory.stages.begin() + memory.stage_count);
}

costmodel::LayoutMemory PackedMemory::operator[](std::size_t position) const {
  const Head& head = heads_[position];
  costmodel::LayoutMemory memory;
  memory.state = head.state;
  memory.cp = head.cp;
  memory.micro_batch = head.micro_batch;
  memory.vpp = head.vpp;
  memory.shard_ranks = head.shard_ranks;
  memory.expert_share = head.expert_share;
  memory.overhead_bytes = head.overhead_bytes;
  memory.stage_count = static_cast<int>(head.stage_count);
  std::copy_n(stages_.begin() + head.first_stage, head.stage_count, memory.stages.begin());
  return memory;
}

std::size_t PackedMemory::bytes() const {
  return heads_.capacity() * sizeof(Head) + stages_.capacity() * sizeof(costmodel::StageMemory);
}

}  // namespace trainfront::search
