#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/sweep_lists.hpp"
#include "inputs/sweep_sections.hpp"

namespace trainfront::inputs {
namespace {

using faults::CheckpointTier;
using faults::Protection;
using faults::Scheme;

// By the enumerators of faults::Scheme.
const std::vector<std::string> kSchemes{"none", "checkpoint", "spares", "replication", "spare", "elastic"};

// By the enumerators of faults::CheckpointTier.
const std::vector<std::string> kTiers{"shared", "local", "peer"};

// More choices than anybody compares, and each is a factor of the space.
constexpr std::size_t kMaxProtections = 4096;
constexpr std::int64_t kMaxRedundancy = 1024;
constexpr std::int64_t kMaxSubShards = 1024;
constexpr std::int64_t kMaxSpares = 100'000;
constexpr std::int64_t kMaxLostGroups = 1'000'000;

std::vector<int> read_ints(Section& section, std::string_view key, ListRules rules,
                           const std::vector<int>& by_default, std::vector<std::string>& notes) {
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

// Spare nodes: a number, or a share of the computing nodes.
struct Spares {
  int count = 0;
  int per_1000 = 0;

  bool any() const { return count > 0 || per_1000 > 0; }
  auto operator<=>(const Spares&) const = default;
};

// "2%", to a tenth of a per cent.
std::optional<int> share_per_1000(std::string_view text) {
  if (text.empty() || text.back() != '%') return std::nullopt;
  double percent = 0;
  const char* end = text.data() + text.size() - 1;
  const auto [stop, error] = std::from_chars(text.data(), end, percent);
  if (error != std::errc{} || stop != end || !(percent >= 0.1 && percent <= 100)) return std::nullopt;
  const double tenths = percent * 10;
  if (std::abs(tenths - std::round(tenths)) > 1e-9) return std::nullopt;
  return static_cast<int>(std::lround(tenths));
}

// Numbers, shares, a list of both, or {min, max, step} of numbers.
std::vector<Spares> read_spares(Section& section, std::vector<std::string>& notes) {
  const Value* value = section.find("spares");
  const auto is_share = [](const Value& one) {
    return one.kind == Value::Kind::kText && one.text.find('%') != std::string::npos;
  };
  const bool shares = value != nullptr &&
                      (is_share(*value) || std::any_of(value->items.begin(), value->items.end(), is_share));
  std::vector<Spares> spares;
  if (!shares) {
    for (const int count : read_ints(section, "spares", {.min = 0, .max = kMaxSpares}, {}, notes))
      spares.push_back({count, 0});
    return spares;
  }
  const auto read_one = [&](const Value& one, const std::string& key) {
    if (!is_share(one)) {
      if (const auto count = section.integer(one, key, 0, kMaxSpares))
        spares.push_back({static_cast<int>(*count), 0});
    } else if (const auto per_1000 = share_per_1000(one.text)) {
      spares.push_back({0, *per_1000});
    } else {
      section.fault(one, key, "is no share of the nodes", "\"0.1%\" to \"100%\", in tenths of a per cent");
    }
  };
  const std::string path = section.path("spares");
  if (value->kind != Value::Kind::kList) read_one(*value, path);
  for (std::size_t i = 0; i < value->items.size() && !section.faults().full(); ++i)
    read_one(value->items[i], fmt::format("{}[{}]", path, i + 1));
  std::sort(spares.begin(), spares.end());
  spares.erase(std::unique(spares.begin(), spares.end()), spares.end());
  return spares;
}

// What one scheme varies; all lists hold at least one value.
struct Choices {
  Scheme scheme;
  const std::vector<int>* r;
  const std::vector<int>* sub_shards;
  const std::vector<Spares>* spares;
  const std::vector<int>* k_max;
  const std::vector<CheckpointTier>* tiers;
  const std::vector<bool>* rejoins;

  std::size_t size() const {
    return r->size() * sub_shards->size() * spares->size() * k_max->size() * tiers->size() * rejoins->size();
  }
};

std::vector<CheckpointTier> read_tiers(Section& section, std::vector<std::string>& notes) {
  std::vector<CheckpointTier> tiers;
  for (const std::size_t tier : read_names(section, "checkpoint_tier", kTiers, true, notes))
    tiers.push_back(static_cast<CheckpointTier>(tier));
  if (!tiers.empty()) return tiers;
  if (section.find("checkpoint_tier") == nullptr) return {CheckpointTier::kShared};
  return {CheckpointTier::kShared, CheckpointTier::kLocal, CheckpointTier::kPeer};  // "auto"
}

void expand(const Choices& choices, std::vector<Protection>& protections) {
  const bool copied = choices.scheme == Scheme::kSpare || choices.scheme == Scheme::kReplication;
  for (const int r : *choices.r)
    for (const int parts : *choices.sub_shards)
      for (const Spares& spares : *choices.spares)
        for (const int lost : *choices.k_max)
          for (const CheckpointTier tier : *choices.tiers)
            for (const bool rejoins : *choices.rejoins) {
              Protection protection{choices.scheme,  r,    parts,  spares.count, lost,
                                    spares.per_1000, tier, rejoins};
              // One copy of each shard protects from nothing: what is left is checkpointing, with or without
              // spares.
              if (copied && r == 1) {
                protection.scheme = spares.any() ? Scheme::kSpares : Scheme::kCheckpoint;
                protection.sub_shards = 1;
                protection.k_max = 0;
              }
              // No cycle, no restart to choose; and the batch shrinks with the groups.
              if (rejoins) {
                protection.k_max = 0;
                protection.sub_shards = 1;
              }
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
  note_idle_key(section, "rejoin", has(schemes, Scheme::kElastic), "elastic", notes);

  const std::vector<int> redundancies =
      read_ints(section, "r", {.min = 1, .max = kMaxRedundancy}, from_two_to(20), notes);
  const std::vector<int> sub_shards =
      read_ints(section, "sub_shards", {.min = 1, .max = kMaxSubShards}, {1}, notes);
  const std::vector<int> k_max = read_ints(section, "k_max", {.min = 0, .max = kMaxLostGroups}, {-1}, notes);
  const std::vector<CheckpointTier> tiers = read_tiers(section, notes);
  std::vector<bool> rejoins = read_booleans(section, "rejoin", notes);
  if (rejoins.empty()) rejoins = {false};
  const std::vector<Spares> any_spares = read_spares(section, notes);
  std::vector<Spares> hot_spares;
  std::copy_if(any_spares.begin(), any_spares.end(), std::back_inserter(hot_spares),
               [](const Spares& one) { return one.any(); });
  if (hot_spares.empty() && !any_spares.empty() && has(schemes, Scheme::kSpares))
    section.fault("spares", "holds no number above 0 for protection \"spares\"");
  if (hot_spares.empty()) hot_spares = {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}};
  const std::vector<Spares> no_spares{{}};
  const std::vector<Spares> spares = any_spares.empty() ? no_spares : any_spares;

  const std::vector<int> one{1}, zero{0};
  const std::vector<CheckpointTier> shared{CheckpointTier::kShared};
  const std::vector<bool> never{false};
  std::vector<Choices> choices;
  std::size_t size = 0;
  for (const std::size_t scheme : schemes) {
    const auto kind = static_cast<Scheme>(scheme);
    const bool copied = kind == Scheme::kSpare || kind == Scheme::kReplication;
    const bool masked = kind == Scheme::kSpare || kind == Scheme::kElastic;
    Choices of_scheme{kind, &one, &one, &no_spares, &zero, &tiers, &never};
    if (kind == Scheme::kNone) of_scheme.tiers = &shared;
    if (kind == Scheme::kElastic) of_scheme.rejoins = &rejoins;
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
    section.fault(
        "protection",
        fmt::format("with r, sub_shards, spares, k_max, checkpoint_tier and rejoin makes {} choices", size),
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
