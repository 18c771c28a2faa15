#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "costmodel/layout.hpp"
#include "costmodel/legality.hpp"
#include "search/problem.hpp"

namespace trainfront::search {

// How state is spread over ranks: Layout's zero and shard_group.
struct Sharding {
  int zero = 0;
  int ranks = 0;

  auto operator<=>(const Sharding&) const = default;
};

// The layouts of a problem on one kind of hardware that are legal whatever the GPU count and batch, each
// once: listed_before's order, dp = 1, equivalent spellings collapsed (docs/search.md, "Layouts").
struct LayoutList {
  // Layouts that differ in their sharding only follow each other and share a shape: the pipeline's time is
  // the same.
  struct Shape {
    costmodel::Layout layout;      // without sharding
    std::uint32_t shardings = 0;   // position in LayoutList::shardings
    std::uint32_t next_group = 0;  // the next shape, or the end, whose groups hold another number of GPUs
    std::size_t first = 0;         // position of its first layout
  };
  std::vector<Shape> shapes;                     // and an end, whose `first` is the number of layouts
  std::vector<std::vector<Sharding>> shardings;  // ascending; many shapes share one of these
  // Combinations of the choices that break a rule, by the first rule found broken.
  std::array<std::uint64_t, costmodel::kRules> excluded{};

  std::size_t size() const { return shapes.back().first; }
  std::size_t shape_count() const { return shapes.size() - 1; }
  const std::vector<Sharding>& shardings_of(std::size_t shape) const {
    return shardings[shapes[shape].shardings];
  }
  costmodel::Layout layout(std::size_t shape, std::size_t sharding) const {
    costmodel::Layout layout = shapes[shape].layout;
    layout.zero = shardings_of(shape)[sharding].zero;
    layout.shard_group = shardings_of(shape)[sharding].ranks;
    return layout;
  }
  // By position.
  costmodel::Layout operator[](std::size_t position) const;
  // None if it is not listed; layout.dp is 1.
  std::optional<std::size_t> position(const costmodel::Layout& layout) const;
};

// What lists may hold: shapes take 80 bytes each, layouts time alone.
struct LayoutLimits {
  std::size_t shapes = 2'000'000;
  std::size_t layouts = 10'000'000;
  // Called now and then while layouts are listed; may throw, to give that up.
  std::function<void()> look_up = {};
};
// Throws std::length_error beyond the limits, and what look_up throws.
LayoutList list_layouts(const Problem& problem, const costmodel::Hardware& hardware,
                        const LayoutLimits& limits = {});

// The order of the list: zero and shard_group last, all else as Layout's own.
bool listed_before(const costmodel::Layout& a, const costmodel::Layout& b);

// The spelling that a layout is listed under: sp, vpp, schedule, shard_group and etp as they act.
costmodel::Layout canonical(costmodel::Layout layout, const costmodel::Model& model);

}  // namespace trainfront::search
