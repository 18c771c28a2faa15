#include "faults/cluster_state.hpp"

#include <algorithm>
#include <utility>

namespace trainfront::faults {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

ClusterState::ClusterState(std::int64_t units, const Protection& protection, bool stacked_replication,
                           std::int64_t state_copies, const std::vector<std::int64_t>& offsets,
                           bool exact_depth)
    : protection_(protection), units_(at(units)), alive_(at(units), true), exact_depth_(exact_depth) {
  const bool replicates = protection.scheme == Scheme::kReplication;
  const bool stacks = protection.scheme == Scheme::kSpare || (replicates && stacked_replication);
  if (stacks) offsets_ = offsets;
  if (replicates) every_stack_ = protection.r;
  if (replicates && !stacked_replication) families_ = units / protection.r;
  state_parts_ = state_copies > 0 ? std::max<std::int64_t>(1, units / state_copies) : 1;
  exact_depth_ = exact_depth && protection.scheme == Scheme::kSpare;
  if (exact_depth_) {
    initial_ = initial_order(units, offsets, protection.sub_shards);
    controller_.emplace_back(initial_);
  }
  for (std::int64_t unit = 0; unit < units; ++unit) units_[at(unit)] = static_cast<int>(unit);
  restore();
}

void ClusterState::restore() {
  const auto n = std::ssize(units_);
  lost_ = 0;
  lives_ = true;
  std::fill(alive_.begin(), alive_.end(), true);
  if (!offsets_.empty()) type_hosts_.assign(units_.size(), static_cast<int>(offsets_.size()));
  if (families_ > 0) family_hosts_.assign(at(families_), protection_.r);
  if (state_parts_ > 1) {
    state_hosts_.assign(at(state_parts_), 0);
    for (std::int64_t unit = 0; unit < n; ++unit) ++state_hosts_[at(unit % state_parts_)];
  }
  if (exact_depth_) {
    order_ = initial_;
    depth_ = protection_.sub_shards;
  }
}

void ClusterState::take_from(std::vector<int>& hosts, std::size_t part) {
  if (--hosts[part] == 0) lives_ = false;
}

bool ClusterState::lose(Random& random) {
  if (left() == 0) return lives_ = false;
  const std::size_t chosen = random.below(static_cast<std::uint32_t>(left()));
  const std::int64_t unit = units_[chosen];
  std::swap(units_[chosen], units_[at(left()) - 1]);
  ++lost_;
  alive_[at(unit)] = false;
  if (left() == 0 || (protection_.scheme != Scheme::kSpare && protection_.scheme != Scheme::kReplication &&
                      protection_.scheme != Scheme::kElastic)) {
    lives_ = false;
  }
  const std::int64_t n = std::ssize(units_);
  for (const std::int64_t offset : offsets_) take_from(type_hosts_, at((unit - offset + n) % n));
  if (families_ > 0) take_from(family_hosts_, at(unit / protection_.r));
  if (state_parts_ > 1) take_from(state_hosts_, at(unit % state_parts_));
  if (exact_depth_ && lives_) {
    Decision decision = controller_.front().decide(order_, alive_, depth_);
    depth_ = decision.depth;
    order_ = std::move(decision.order);
  }
  return lives_;
}

void ClusterState::regain() {
  if (lost_ == 0) return;
  const std::int64_t unit = units_[at(left())];
  --lost_;
  alive_[at(unit)] = true;
  if (state_parts_ > 1) ++state_hosts_[at(unit % state_parts_)];
}

double ClusterState::stacks() const {
  if (every_stack_ > 0) return every_stack_;
  if (exact_depth_) return static_cast<double>(depth_) / protection_.sub_shards;
  const double n = static_cast<double>(units_.size());
  if (protection_.scheme == Scheme::kElastic && protection_.sub_shards == 1) return n / left();
  const std::int64_t parts = std::ssize(units_) * protection_.sub_shards;
  return static_cast<double>((parts + left() - 1) / left()) / protection_.sub_shards;
}

}  // namespace trainfront::faults
