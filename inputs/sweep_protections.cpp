#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "inputs/sweep_lists.hpp"
#include "inputs/sweep_sections.hpp"

namespace trainfront::inputs {
namespace {

using faults::Protection;
using faults::Scheme;

// By the enumerators of faults::Scheme.
const std::vector<std::string> kSchemes{"none", "checkpoint", "spares", "replication", "spare", "elastic"};

// More choices than anybody compares, and each is a factor of the space.
constexpr std::size_t kMaxProtections = 4096;
constexpr std::int64_t kMaxRedundancy = 1024;
constexpr std::int64_t kMaxSubShards = 1024;
constexpr std::int64_t kMaxSpares = 100'000;
constexpr std::int64_t kMaxLostGroups = 1'000'000;

std::vector<int> read_ints(Section& section, std::string_view key, ListRules rules,
                           std::vector<int> by_default, std::vector<std::string>& notes) {
  rules.limit = 1000;
  rules.can_be_auto = true;
  std::vector<int> ints;
  for (const std::int64_t value : read_integers(section, key, rules, notes))
    ints.push_back(static_cast<int>(value));
  return ints.empty() ? by_default : ints;
}

bool has(const std::vector<std::size_t>& schemes, Scheme scheme) {
  return std::find(schemes.begin(), schemes.end(), static_cast<std::size_t>(scheme)) != schemes.end();
}

// A key that none of the chosen schemes looks at is probably a slip.
void note_idle_key(Section& section, std::string_view key, bool used, std::string_view users,
                   std::vector<std::string>& notes) {
  if (!used && section.find(key) != nullptr)
    notes.push_back(fmt::format("{}: has no effect: it belongs to {}", section.path(key), users));
}

std::vector<int> from_two_to(int last) {
  std::vector<int> values;
  for (int value = 2; value <= last; ++value) values.push_back(value);
  return values;
}

// What one scheme varies; all lists hold at least one value.
struct Choices {
  Scheme scheme;
  const std::vector<int>* r;
  const std::vector<int>* sub_shards;
  const std::vector<int>* spares;
  const std::vector<int>* k_max;

  std::size_t size() const { return r->size() * sub_shards->size() * spares->size() * k_max->size(); }
};

void expand(const Choices& choices, std::vector<Protection>& protections) {
  const bool copied = choices.scheme == Scheme::kSpare || choices.scheme == Scheme::kReplication;
  for (const int r : *choices.r)
    for (const int parts : *choices.sub_shards)
      for (const int spares : *choices.spares)
        for (const int lost : *choices.k_max) {
          Protection protection{choices.scheme, r, parts, spares, lost};
          // One copy of each shard protects from nothing: what is left is checkpointing, with or without
          // spares.
          if (copied && r == 1)
            protection = {spares > 0 ? Scheme::kSpares : Scheme::kCheckpoint, 1, 1, spares, 0};
          protections.push_back(protection);
        }
}

}  // namespace

std::vector<Protection> read_protections(Section& section, std::vector<std::string>& notes) {
  std::vector<std::size_t> schemes = read_names(section, "protection", kSchemes, false, notes);
  if (schemes.empty()) {
    if (section.find("protection") == nullptr)
      notes.push_back("failures.protection: not given, so \"checkpoint\"");
    schemes = {static_cast<std::size_t>(Scheme::kCheckpoint)};
  }
  const bool masks = has(schemes, Scheme::kSpare) || has(schemes, Scheme::kElastic);
  const bool redundant = has(schemes, Scheme::kSpare) || has(schemes, Scheme::kReplication);
  const bool spared = has(schemes, Scheme::kSpares) || redundant || masks;
  note_idle_key(section, "r", redundant, "replication and spare", notes);
  note_idle_key(section, "sub_shards", masks, "spare and elastic", notes);
  note_idle_key(section, "k_max", masks, "spare and elastic", notes);
  note_idle_key(section, "spares", spared, "spares, replication, spare and elastic", notes);

  const std::vector<int> redundancies =
      read_ints(section, "r", {.min = 1, .max = kMaxRedundancy}, from_two_to(20), notes);
  const std::vector<int> sub_shards =
      read_ints(section, "sub_shards", {.min = 1, .max = kMaxSubShards}, {1}, notes);
  const std::vector<int> k_max = read_ints(section, "k_max", {.min = 0, .max = kMaxLostGroups}, {-1}, notes);
  const std::vector<int> any_spares = read_ints(section, "spares", {.min = 0, .max = kMaxSpares}, {}, notes);
  std::vector<int> hot_spares;
  std::copy_if(any_spares.begin(), any_spares.end(), std::back_inserter(hot_spares),
               [](int n) { return n > 0; });
  if (hot_spares.empty() && !any_spares.empty() && has(schemes, Scheme::kSpares))
    section.fault("spares", "holds no number above 0 for protection \"spares\"");
  if (hot_spares.empty()) hot_spares = {1, 2, 4, 8, 16};
  const std::vector<int> spares = any_spares.empty() ? std::vector<int>{0} : any_spares;

  const std::vector<int> one{1}, zero{0};
  std::vector<Choices> choices;
  std::size_t size = 0;
  for (const std::size_t scheme : schemes) {
    const auto kind = static_cast<Scheme>(scheme);
    const bool copied = kind == Scheme::kSpare || kind == Scheme::kReplication;
    const bool masked = kind == Scheme::kSpare || kind == Scheme::kElastic;
    Choices of_scheme{kind, &one, &one, &zero, &zero};
    if (copied) of_scheme.r = &redundancies;
    if (masked) of_scheme.sub_shards = &sub_shards;
    if (masked) of_scheme.k_max = &k_max;
    if (copied || masked) of_scheme.spares = &spares;
    if (kind == Scheme::kSpares) of_scheme.spares = &hot_spares;
    size += of_scheme.size();
    choices.push_back(of_scheme);
    if (copied && redundancies.front() == 1)
      notes.push_back(
          fmt::format("failures.r: {} with r = 1 is checkpointing, and counted as that", kSchemes[scheme]));
  }
  if (size > kMaxProtections) {
    section.fault("protection", fmt::format("with r, sub_shards, spares and k_max makes {} choices", size),
                  fmt::format("at most {}", kMaxProtections));
    return {};
  }

  std::vector<Protection> protections;
  for (const Choices& of_scheme : choices) expand(of_scheme, protections);
  std::sort(protections.begin(), protections.end());
  protections.erase(std::unique(protections.begin(), protections.end()), protections.end());
  return protections;
}

}  // namespace trainfront::inputs
