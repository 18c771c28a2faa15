#include "inputs/sweep_lists.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace trainfront::inputs {
namespace {

bool is_auto(const Value& value) {
  return value.kind == Value::Kind::kText && value.text == "auto";
}

// The single value of a key or the values of its list, with their paths.
struct Item {
  const Value* value;
  std::string key;
};

std::vector<Item> items_of(Section& section, const Value& value, const std::string& path) {
  if (value.kind != Value::Kind::kList) return {{&value, path}};
  if (value.items.empty()) section.fault(value, path, "must hold at least one value");
  std::vector<Item> items;
  for (std::size_t i = 0; i < value.items.size() && !section.faults().full(); ++i)
    items.push_back({&value.items[i], fmt::format("{}[{}]", path, i + 1)});
  return items;
}

// Ascending and without repetitions; `show` puts a value in words.
template <typename T, typename Show>
void normalise(std::vector<T>& values, const std::string& path, Show show, std::vector<std::string>& notes) {
  std::sort(values.begin(), values.end());
  const auto twin = std::adjacent_find(values.begin(), values.end());
  if (twin == values.end()) return;
  notes.push_back(fmt::format("{}: {} is listed more than once and counts once", path, show(*twin)));
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::vector<std::int64_t> read_range(Section& owner, const Value& value, std::string_view key,
                                     const ListRules& rules) {
  Section range(owner.document(), value, owner.path(key), owner.faults());
  const bool complete = range.require("min") != nullptr && range.require("max") != nullptr;
  const auto min = range.integer("min", rules.min, rules.max);
  const auto max = range.integer("max", rules.min, rules.max);
  const bool stepped = range.find("step") != nullptr;
  const auto step = range.integer("step", 1, rules.max);
  range.finish();
  if (!complete || !min || !max || (stepped && !step)) return {};
  if (*min > *max) {
    range.fault("", fmt::format("min {} is above max {}", *min, *max));
    return {};
  }
  const std::int64_t by = step.value_or(1);
  const std::int64_t count = (*max - *min) / by + 1;
  if (count > static_cast<std::int64_t>(rules.limit)) {
    range.fault("", fmt::format("stands for {} values", count),
                fmt::format("at most {}; take a larger step", rules.limit));
    return {};
  }
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(*min + i * by);
  return values;
}

}  // namespace

std::vector<std::int64_t> read_integers(Section& section, std::string_view key, const ListRules& rules,
                                        std::vector<std::string>& notes) {
  const Value* value = section.find(key);
  if (value == nullptr || (rules.can_be_auto && is_auto(*value))) return {};
  if (value->kind == Value::Kind::kTable) return read_range(section, *value, key, rules);
  const std::string path = section.path(key);
  if (value->kind == Value::Kind::kList && value->items.size() > rules.limit) {
    section.fault(*value, path, "is too long", fmt::format("at most {} values", rules.limit));
    return {};
  }
  std::vector<std::int64_t> values;
  for (const Item& item : items_of(section, *value, path))
    if (const auto number = section.integer(*item.value, item.key, rules.min, rules.max))
      values.push_back(*number);
  normalise(
      values, path, [](std::int64_t number) { return fmt::format("{}", number); }, notes);
  return values;
}

std::vector<std::size_t> read_names(Section& section, std::string_view key,
                                    std::span<const std::string> names, bool can_be_auto,
                                    std::vector<std::string>& notes) {
  const Value* value = section.find(key);
  if (value == nullptr || (can_be_auto && is_auto(*value))) return {};
  const std::string path = section.path(key);
  std::vector<std::size_t> chosen;
  for (const Item& item : items_of(section, *value, path))
    if (const auto place = section.choice(*item.value, item.key, names)) chosen.push_back(*place);
  normalise(
      chosen, path, [&](std::size_t place) { return names[place]; }, notes);
  return chosen;
}

std::vector<bool> read_booleans(Section& section, std::string_view key, std::vector<std::string>& notes) {
  const Value* value = section.find(key);
  if (value == nullptr || is_auto(*value)) return {};
  const std::string path = section.path(key);
  std::vector<int> chosen;
  for (const Item& item : items_of(section, *value, path)) {
    if (item.value->kind == Value::Kind::kBoolean) {
      chosen.push_back(item.value->boolean ? 1 : 0);
    } else {
      section.fault(*item.value, item.key, "must be true or false, without quotes",
                    "true, false, a list of them, \"auto\"");
    }
  }
  normalise(
      chosen, path, [](int flag) { return flag == 1 ? "true" : "false"; }, notes);
  std::vector<bool> flags;
  for (const int flag : chosen) flags.push_back(flag == 1);
  return flags;
}

}  // namespace trainfront::inputs
