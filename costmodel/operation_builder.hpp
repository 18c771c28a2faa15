#pragma once

#include <initializer_list>

#include "costmodel/operations.hpp"

namespace trainfront::costmodel {

inline constexpr double kActivationBytes = 2;  // per element, bf16

// Sizes that one GPU sees, and the patterns in which operations come.
class OperationBuilder {
 public:
  OperationBuilder(const Recipe& recipe, const Layout& layout);

  // Tokens of one micro-batch that a tensor-parallel group works on, and the part of them that each of its
  // ranks keeps outside of the sharded linears.
  double tokens() const { return tokens_; }
  double own_tokens() const { return own_tokens_; }
  double tp() const { return tp_; }

  // A linear layer on `rows` tokens, n outputs, k inputs: three products.
  void add_linear(const char* name, Precision precision, double rows, double n, double k);
  void add_grouped_linear(const char* name, Precision precision, int experts, double rows, double n,
                          double k);
  // Linear layers of one input, `widths` outputs: as one, or one by one.
  void add_linears(const char* name, Precision precision, double rows, std::initializer_list<double> widths,
                   double k, bool fused);
  // `parts` input gradients of `width` elements a row become one.
  void add_gradient_sums(const char* name, double rows, double width, std::size_t parts);
  // An element-wise kernel that moves `bytes` forward and backward_factor times as many backward.
  void add_traffic(const char* name, MemoryBound kind, double bytes, double backward_factor = 2,
                   double count = 1);
  // Around a column-parallel linear: its input must be whole, `width` elements a token that are gathered in
  // `gathered`; partial sums travel in bf16.
  void add_gather_before(const char* name, double width, Precision gathered = Precision::kBf16);
  // After a row-parallel linear: its output is a partial sum, whose gradient is gathered.
  void add_reduce_after(const char* name, double width, Precision gathered = Precision::kBf16);
  void add_communication(const char* name, Pass pass, const Communication& communication, double count = 1);
  void add(Operation operation) { operations_.push_back(operation); }

  Operations take() { return std::move(operations_); }

 private:
  double tokens_;
  double own_tokens_;
  double tp_;
  bool sequence_parallel_;
  Operations operations_;
};

// In what tensor-parallel ranks gather what a layer's linears take in.
Precision gathered_precision(const Recipe& recipe, const FrameworkProfile& framework);

// Parts of a layer, in their own files.
void add_attention_block(OperationBuilder& builder, const Model& model, const Recipe& recipe,
                         const Layout& layout, const FrameworkProfile& framework);
void add_mlp(OperationBuilder& builder, const Model& model, const Recipe& recipe,
             const FrameworkProfile& framework, double width);
void add_moe(OperationBuilder& builder, const Model& model, const Recipe& recipe, const Layout& layout,
             const FrameworkProfile& framework);
void add_norm(OperationBuilder& builder, const Model& model, double count);
void add_core_attention(OperationBuilder& builder, const Model& model, const Recipe& recipe,
                        const Layout& layout, const FrameworkProfile& framework);
// With the gather, norms and rotary embedding that go with them; nothing without latent attention.
void add_latent_up_projections(OperationBuilder& builder, const Model& model, const Recipe& recipe);
void add_expert_activation(OperationBuilder& builder, const Model& model, const Recipe& recipe,
                           const Layout& layout, const FrameworkProfile& framework);
void add_residual(OperationBuilder& builder, const Model& model);

}  // namespace trainfront::costmodel
