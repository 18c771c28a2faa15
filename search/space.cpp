#include "search/space.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "search/saturating.hpp"
#include "search/tables.hpp"

namespace trainfront::search {
namespace {

// Enough plans to be worth handing out, few enough that the last ones handed out delay nobody: times to be
// evaluated without bounds take about a second at most.
constexpr std::size_t kBlockShapes = 128;
constexpr std::uint64_t kBlockTimes = 1 << 25;

std::size_t block_shapes(const Problem& problem, const LayoutList& list) {
  if (list.shape_count() == 0) return kBlockShapes;
  const std::uint64_t per_shape =
      times_saturating({list.size() / list.shape_count() + 1, problem.global_batches.size(),
                        problem.islands.size(), problem.protections.size()});
  return std::clamp<std::uint64_t>(kBlockTimes / std::max<std::uint64_t>(per_shape, 1), 1, kBlockShapes);
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product >> 63U)
    throw std::length_error("the space has 2^63 plans or more: give fewer values, or larger steps");
  return product;
}

// All that LayoutDomain and check_layout look at.
bool lists_alike(const costmodel::Hardware& a, const costmodel::Hardware& b) {
  return a.domain_gpus == b.domain_gpus && a.gpus_per_node == b.gpus_per_node &&
         a.network.rdma == b.network.rdma && (a.device.fp8_flops_per_s > 0) == (b.device.fp8_flops_per_s > 0);
}

template <class T>
std::optional<std::uint64_t> position(const std::vector<T>& values, const T& value) {
  const auto found = std::find(values.begin(), values.end(), value);
  if (found == values.end()) return std::nullopt;
  return static_cast<std::uint64_t>(found - values.begin());
}

}  // namespace

Space::Space(Problem problem, LayoutLimits limits) : problem_{std::move(problem)} {
  for (const HardwareClass& hardware : problem_.hardware) {
    Part part;
    for (std::size_t other = 0; other < parts_.size(); ++other)
      if (lists_alike(hardware.hardware, problem_.hardware[other].hardware)) part.list = parts_[other].list;
    if (!part.list) {
      part.list = std::make_shared<const LayoutList>(list_layouts(problem_, hardware.hardware, limits));
      limits.shapes -= part.list->shape_count();
      limits.layouts -= part.list->size();
    }
    part.first_index = size_;
    part.first_block = blocks_;
    part.block_shapes = block_shapes(problem_, *part.list);
    std::uint64_t slices = (part.list->shape_count() + part.block_shapes - 1) / part.block_shapes;
    part.plans_per_layout = times(times(problem_.global_batches.size(), problem_.islands.size()),
                                  times(hardware.offers.size(), problem_.protections.size()));
    const std::uint64_t plans = times(times(problem_.gpus.size(), part.list->size()), part.plans_per_layout);
    if (plans == 0) slices = 0;
    size_ += plans;
    if (size_ >> 63U)
      throw std::length_error("the space has 2^63 plans or more: give fewer values, or larger steps");
    blocks_ += problem_.gpus.size() * slices;
    parts_.push_back(std::move(part));
  }
  std::vector<std::shared_ptr<const LayoutList>> lists;
  for (const Part& part : parts_) lists.push_back(part.list);
  tables_ = std::make_shared<Tables>(problem_, std::move(lists));
}

const Space::Part& Space::part_of_index(std::uint64_t index) const {
  const auto after = std::upper_bound(parts_.begin(), parts_.end(), index,
                                      [](std::uint64_t i, const Part& part) { return i < part.first_index; });
  return *std::prev(after);
}

const Space::Part& Space::part_of_block(std::uint64_t block) const {
  const auto after = std::upper_bound(parts_.begin(), parts_.end(), block,
                                      [](std::uint64_t b, const Part& part) { return b < part.first_block; });
  return *std::prev(after);
}

Block Space::block(std::uint64_t number) const {
  const Part& part = part_of_block(number);
  const std::uint64_t within = number - part.first_block;
  Block block;
  block.hardware = static_cast<int>(&part - parts_.data());
  block.gpus = within % problem_.gpus.size();
  block.first_shape = within / problem_.gpus.size() * part.block_shapes;
  block.last_shape = std::min(part.list->shape_count(), block.first_shape + part.block_shapes);
  return block;
}

Plan Space::decode(std::uint64_t index) const {
  const Part& part = part_of_index(index);
  std::uint64_t rest = index - part.first_index;
  const auto digit = [&rest](std::uint64_t radix) {
    const std::uint64_t value = rest % radix;
    rest /= radix;
    return value;
  };
  Plan plan;
  plan.index = index;
  plan.hardware = static_cast<int>(&part - parts_.data());
  plan.protection = problem_.protections[digit(problem_.protections.size())];
  plan.offer =
      static_cast<int>(digit(problem_.hardware[static_cast<std::size_t>(plan.hardware)].offers.size()));
  plan.islands = problem_.islands[digit(problem_.islands.size())];
  plan.global_batch = problem_.global_batches[digit(problem_.global_batches.size())];
  plan.layout = (*part.list)[digit(part.list->size())];
  plan.gpus = problem_.gpus[rest];
  plan.layout.dp = static_cast<int>(plan.gpus / plan.layout.group_gpus());
  return plan;
}

std::optional<std::uint64_t> Space::encode(const Plan& plan) const {
  if (plan.hardware < 0 || static_cast<std::size_t>(plan.hardware) >= parts_.size()) return std::nullopt;
  const Part& part = parts_[static_cast<std::size_t>(plan.hardware)];
  const std::size_t offers = problem_.hardware[static_cast<std::size_t>(plan.hardware)].offers.size();
  if (plan.offer < 0 || static_cast<std::size_t>(plan.offer) >= offers) return std::nullopt;
  costmodel::Layout layout = canonical(plan.layout, problem_.model);
  layout.dp = 1;
  const auto listed = part.list->position(layout);
  const auto gpus = position(problem_.gpus, plan.gpus);
  const auto batch = position(problem_.global_batches, plan.global_batch);
  const auto islands = position(problem_.islands, plan.islands);
  const auto protection = position(problem_.protections, plan.protection);
  if (!listed || !gpus || !batch || !islands || !protection) return std::nullopt;
  std::uint64_t index = *gpus * part.list->size() + *listed;
  index = index * problem_.global_batches.size() + *batch;
  index = index * problem_.islands.size() + *islands;
  index = index * offers + static_cast<std::uint64_t>(plan.offer);
  return part.first_index + index * problem_.protections.size() + *protection;
}

std::array<std::uint64_t, costmodel::kRules> Space::excluded() const {
  std::array<std::uint64_t, costmodel::kRules> excluded{};
  for (const Part& part : parts_) {
    const std::uint64_t plans = times_saturating(problem_.gpus.size(), part.plans_per_layout);
    for (std::size_t rule = 0; rule < excluded.size(); ++rule) {
      excluded[rule] = plus_saturating(excluded[rule], times_saturating(part.list->excluded[rule], plans));
    }
  }
  return excluded;
}

}  // namespace trainfront::search
