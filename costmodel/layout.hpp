#pragma once

#include <compare>
#include <cstdint>

#include "costmodel/recompute_modules.hpp"

namespace trainfront::costmodel {

enum class Framework : std::uint8_t { kMegatron, kTorchtitan, kDeepspeed };
enum class Recompute : std::uint8_t { kNone, kSelective, kFull };
enum class Schedule : std::uint8_t {
  kGpipe,
  k1f1b,
  kInterleaved,
  kZeroBubble
};  // the last: ZB-1p (arXiv 2401.10241)

// How attention sees keys of other context-parallel ranks. kRing: key/value blocks travel while attention
// runs; kAllGather: gathered before it; kAllToAll: heads are exchanged for sequence (DeepSpeed-Ulysses, arXiv
// 2309.14509); kAllToAllRing: that among cp_heads ranks that lie together, and a ring of such groups (USP,
// arXiv 2405.07719). Megatron's --cp-comm-type: p2p, all_gather, a2a, a2a+p2p.
enum class ContextExchange : std::uint8_t { kRing, kAllGather, kAllToAll, kAllToAllRing };

// How one training step is spread over GPUs. Degrees are >= 1.
struct Layout {
  Framework framework = Framework::kMegatron;
  int tp = 1;  // tensor parallel
  int cp = 1;  // context parallel
  ContextExchange cp_type = ContextExchange::kRing;
  int cp_heads = 0;  // with kAllToAllRing: ranks that exchange heads; else 0
  int pp = 1;        // pipeline stages
  int vpp = 1;       // model chunks per stage (interleaving)
  int ep = 1;        // expert parallel; the expert grid etp x ep x edp covers the same GPUs as tp x cp x dp
  int etp = 1;       // tensor parallel degree of the experts
  int dp = 1;        // data parallel: groups that each hold one full copy of the parallel workers
  bool sp = false;   // sequence parallelism over the tp group
  int zero = 1;      // 0: DDP; 1: optimiser sharded (Megatron's distributed optimizer); 2: gradients too; 3:
                     // weights too (FSDP)
  int shard_group = 0;  // ranks that state is sharded over, within dp x cp; 0: all of them
  int micro_batch = 1;  // sequences
  Recompute recompute = Recompute::kNone;
  RecomputeModules modules;  // that selective recomputation drops
  Schedule schedule = Schedule::k1f1b;

  // Ranks of the cp group that exchange heads for sequence.
  int head_ranks() const {
    if (cp <= 1) return 1;
    if (cp_type == ContextExchange::kAllToAll) return cp;
    return cp_type == ContextExchange::kAllToAllRing ? cp_heads : 1;
  }
  int group_gpus() const { return tp * cp * pp; }
  std::int64_t gpus() const { return std::int64_t{group_gpus()} * dp; }
  auto operator<=>(const Layout&) const = default;
};

// Micro-batches of one pipeline flush: global_batch / (dp * micro_batch), which must be whole (see
// legality.hpp).
inline std::int64_t micro_batches(const Layout& layout, std::int64_t global_batch) {
  return global_batch / (std::int64_t{layout.dp} * layout.micro_batch);
}

}  // namespace trainfront::costmodel
