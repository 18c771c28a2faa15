#include "engine/narrow_protection.hpp"

#include <algorithm>

namespace trainfront::engine {
namespace {

using faults::Protection;

constexpr int kAuto = -1;
constexpr std::int64_t kMost = 1'000'000;

void narrow_k_max(std::vector<Protection>& protections, const Wish& wish) {
  const bool open = wish.value == "auto" || wish.value == "-1";
  const int wanted = open ? kAuto : static_cast<int>(whole_number(wish, 0, kMost));
  keep(protections, wish,
       [&](const Protection& one) { return one.k_max == wanted || (!open && one.k_max == kAuto); });
  for (Protection& one : protections) one.k_max = wanted;
}

void narrow_spares(std::vector<Protection>& protections, const Wish& wish) {
  const int wanted = static_cast<int>(whole_number(wish, 0, kMost));
  keep(protections, wish,
       [&](const Protection& one) { return one.spares == wanted || one.spares_per_1000 > 0; });
  for (Protection& one : protections) {
    one.spares = wanted;
    one.spares_per_1000 = 0;
  }
}

}  // namespace

void narrow_protections(std::vector<Protection>& protections, const Wish& wish) {
  if (wish.key == "protection") {
    const auto scheme = named<faults::Scheme>(wish, 6);
    keep(protections, wish, [&](const Protection& one) { return one.scheme == scheme; });
  } else if (wish.key == "checkpoint_tier") {
    const auto tier = named<faults::CheckpointTier>(wish, 3);
    keep(protections, wish, [&](const Protection& one) { return one.tier == tier; });
  } else if (wish.key == "rejoin") {
    const bool rejoins = truth(wish);
    keep(protections, wish, [&](const Protection& one) { return one.rejoins == rejoins; });
  } else if (wish.key == "k_max") {
    narrow_k_max(protections, wish);
  } else if (wish.key == "spares") {
    narrow_spares(protections, wish);
  } else {
    const auto member = wish.key == "r" ? &Protection::r : &Protection::sub_shards;
    const auto wanted = whole_number(wish, 1, kMost);
    keep(protections, wish, [&](const Protection& one) { return one.*member == wanted; });
  }
  // What was open in two ways may now be the same.
  std::vector<Protection> distinct;
  for (const Protection& one : protections)
    if (std::find(distinct.begin(), distinct.end(), one) == distinct.end()) distinct.push_back(one);
  protections = std::move(distinct);
}

}  // namespace trainfront::engine
