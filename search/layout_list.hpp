#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/layout.hpp"
#include "costmodel/legality.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

// The layouts of a problem on one kind of hardware that are legal whatever the GPU count and batch, each
// once: listed_before's order, dp = 1, equivalent spellings collapsed (docs/search.md, "Layouts").
struct LayoutList {
  std::vector<costmodel::Layout> layouts;
  // Layouts that differ in how state is sharded only (zero, shard_group) follow each other and share a shape:
  // the pipeline's time is the same. Position of each shape's first layout, and layouts.size().
  std::vector<std::size_t> shapes;
  // For each shape the next one, or the end, whose groups hold another number of GPUs.
  std::vector<std::size_t> next_group;
  // Combinations of the choices that break a rule, by the first rule found broken.
  std::array<std::uint64_t, costmodel::kRules> excluded{};
};
// Throws std::length_error beyond ten million.
LayoutList list_layouts(const Problem& problem, const costmodel::Hardware& hardware);

// The order of the list: zero and shard_group last, all else as Layout's own.
bool listed_before(const costmodel::Layout& a, const costmodel::Layout& b);

// The spelling that a layout is listed under: sp, vpp, schedule, shard_group and etp as they act.
costmodel::Layout canonical(costmodel::Layout layout, const costmodel::Model& model);

}  // namespace trainfront::search
