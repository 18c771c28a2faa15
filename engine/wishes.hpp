#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/reports/names.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::engine {

// One part of --layout: "tp=8".
struct Wish {
  std::string key;
  std::string value;
};

// Throws UsageError for a part without "=", a key given twice, and for no part at all.
std::vector<Wish> parse_wishes(const std::string& text);

// Throws UsageError: what was found, and what is allowed or missing.
[[noreturn]] void refuse(const Wish& wish, const std::string& allowed);

// Throws UsageError.
std::int64_t whole_number(const Wish& wish, std::int64_t least, std::int64_t most);
// "true", "false", "1", "0". Throws UsageError.
bool truth(const Wish& wish);
// One of the `count` names of an enum. Throws UsageError.
template <typename Enum>
Enum named(const Wish& wish, int count) {
  std::vector<std::string> names;
  for (int at = 0; at < count; ++at) {
    names.emplace_back(name(static_cast<Enum>(at)));
    if (names.back() == wish.value) return static_cast<Enum>(at);
  }
  refuse(wish, "one of " + inputs::join(names));
}

// Keeps what the wish allows; nothing left is the user's error.
template <typename T, typename Allowed>
void keep(std::vector<T>& values, const Wish& wish, Allowed allowed) {
  std::erase_if(values, [&](const T& value) { return !allowed(value); });
  if (values.empty()) refuse(wish, "the sweep file has nothing that matches");
}

}  // namespace trainfront::engine
