#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "costmodel/collective_time.hpp"
#include "costmodel/framework_profile.hpp"
#include "costmodel/kernel_time.hpp"
#include "costmodel/layout.hpp"
#include "costmodel/model.hpp"
#include "costmodel/recipe.hpp"

namespace trainfront::costmodel {

// The passes over a layer; zero-bubble schedules run the two gradients apart.
enum class Pass : std::uint8_t { kForward, kInputGradient, kWeightGradient };
inline constexpr int kPasses = 3;

// Groups of ranks that operations talk over.
// kContextHeads: the ranks of a context group that exchange heads.
enum class Group : std::uint8_t { kTensor, kContext, kContextHeads, kExpert, kExpertTensor };
inline constexpr int kGroups = 5;

// C[m,n] = A[m,k] B[k,n].
struct Gemm {
  Precision precision = Precision::kBf16;
  double m = 0, n = 0, k = 0;
};

// `experts` products [tokens, k] x [k, n].
struct GroupedGemm {
  Precision precision = Precision::kBf16;
  int experts = 0;
  double tokens = 0, n = 0, k = 0;
};

// Fused.
struct Attention {
  AttentionShape shape;
  bool backward = false;
  // The same share of the work as whole sequences: context parallelism cuts it into smaller pieces, which
  // never run faster. No batch: nothing is cut.
  AttentionShape undivided = {};
};

struct MemoryTraffic {
  MemoryBound kind = MemoryBound::kCopy;
  double bytes = 0;
};

struct Communication {
  Collective collective = Collective::kAllReduce;
  double bytes = 0;  // as collective_time counts them
  Group group = Group::kTensor;
  // What the operation may hide behind: the attention of the same pass (ring exchange), of which it runs
  // beside all steps but the first, or nothing by itself.
  bool beside_attention = false;
};

// Tokens on their way to their experts, or back, one copy a node and then one a GPU.
struct Dispatch {
  double tokens = 0;  // that a GPU sends
  double token_bytes = 0;
  int copies = 0;  // experts per token
  int groups = 0;  // of experts, when routing is limited to some of them
  int groups_per_token = 0;
};

struct Operation {
  const char* name = "";
  Pass pass = Pass::kForward;
  double count = 1;  // times it runs; a fraction where only some layers of a kind have it
  std::variant<Gemm, GroupedGemm, Attention, MemoryTraffic, Communication, Dispatch> work;
  bool of_attention = false;  // a product or kernel of unfused attention
};
using Operations = std::vector<Operation>;

enum class Block : std::uint8_t { kDense, kMoe };

// What one GPU does for one micro-batch in one transformer layer. Tensor-parallel linears as in Megatron-LM
// (arXiv 1909.08053), with sequence parallelism all-gather and reduce-scatter in place of all-reduce
// (Korthikanti et al., arXiv 2205.05198, section 4.2.2). The gather that sequence parallelism repeats for the
// weight gradients runs under the input gradient's product (Megatron-LM, tensor_parallel/layers.py) and is
// left out.
Operations layer_operations(const Model& model, const Recipe& recipe, const Layout& layout,
                            const FrameworkProfile& framework, Block block);

// What the backward pass runs again of such a layer for the modules that the layout drops: their forward.
Operations recomputed_operations(const Model& model, const Recipe& recipe, const Layout& layout,
                                 const FrameworkProfile& framework, Block block);

// The same for the token table on the first stage; for final norm, LM head and vocabulary-parallel cross
// entropy on the last; for what a multi-token-prediction block there has beside a layer and a head
// (arXiv 2412.19437, section 2.2).
Operations embedding_operations(const Model& model, const Recipe& recipe, const Layout& layout);
Operations head_operations(const Model& model, const Recipe& recipe, const Layout& layout,
                           const FrameworkProfile& framework);
Operations mtp_operations(const Model& model, const Recipe& recipe, const Layout& layout);

// Trainable parameters that one GPU holds and computes on, before any ZeRO sharding.
struct LocalParameters {
  double dense = 0;   // replicated over cp x dp
  double expert = 0;  // replicated over the expert grid's edp

  double total() const { return dense + expert; }
};
LocalParameters layer_parameters(const Model& model, const Layout& layout, Block block);
double embedding_parameters(const Model& model,
                            const Layout& layout);  // a tied table counts on both end stages
double head_parameters(const Model& model, const Layout& layout);
LocalParameters mtp_parameters(const Model& model, const Layout& layout);

}  // namespace trainfront::costmodel
