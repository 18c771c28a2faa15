#include "engine/wishes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "engine/errors.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::engine {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

}  // namespace

std::vector<Wish> parse_wishes(const std::string& text) {
  std::vector<Wish> wishes;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = trimmed(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      throw UsageError(
          fmt::format("--layout: {} found; key=value is needed, as in tp=8,pp=4", inputs::in_quotes(part)));
    }
    Wish wish{trimmed(std::string_view(part).substr(0, equals)),
              trimmed(std::string_view(part).substr(equals + 1))};
    const auto same = [&](const Wish& other) { return other.key == wish.key; };
    if (std::any_of(wishes.begin(), wishes.end(), same))
      throw UsageError(fmt::format("--layout: {} is given twice", wish.key));
    wishes.push_back(std::move(wish));
  }
  if (wishes.empty())
    throw UsageError("--layout: nothing found; key=value pairs are needed, as in tp=8,pp=4");
  return wishes;
}

void refuse(const Wish& wish, const std::string& allowed) {
  throw UsageError(
      fmt::format("--layout: {} = {} found; {}", wish.key, inputs::in_quotes(wish.value), allowed));
}

std::int64_t whole_number(const Wish& wish, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const char* end = wish.value.data() + wish.value.size();
  const auto [stop, error] = std::from_chars(wish.value.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most)
    refuse(wish, fmt::format("a whole number from {} to {} is needed", least, most));
  return value;
}

bool truth(const Wish& wish) {
  if (wish.value == "true" || wish.value == "1") return true;
  if (wish.value == "false" || wish.value == "0") return false;
  refuse(wish, "true or false is needed");
}

}  // namespace trainfront::engine
