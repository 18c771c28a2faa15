#include "inputs/quantity.hpp"

#include <charconv>
#include <cmath>
#include <limits>

namespace trainfront::inputs {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr Unit kDurations[] = {{"w", 604800}, {"d", 86400}, {"h", 3600},  {"min", 60},
                               {"m", 60},     {"s", 1},     {"ms", 1e-3}, {"us", 1e-6}};
constexpr Unit kMoney[] = {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"B", 1e9}};
constexpr Unit kSizes[] = {{"B", 1},
                           {"kB", 1e3},
                           {"KB", 1e3},
                           {"MB", 1e6},
                           {"GB", 1e9},
                           {"TB", 1e12},
                           {"PB", 1e15},
                           {"KiB", 1024},
                           {"MiB", 1048576.0},
                           {"GiB", 1073741824},
                           {"TiB", 1099511627776},
                           {"PiB", 1125899906842624}};
constexpr Unit kBits[] = {{"kb", 1e3 / 8}, {"Mb", 1e6 / 8}, {"Gb", 1e9 / 8}, {"Tb", 1e12 / 8}};

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Takes a number off the front of the text. std::from_chars reads no locale.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<double> finite(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> factor_of(std::string_view name, std::span<const Unit> units) {
  for (const Unit& unit : units)
    if (unit.name == name) return unit.factor;
  return std::nullopt;
}

std::optional<double> number_with_unit(std::string_view text, std::span<const Unit> units) {
  text = trimmed(text);
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  const auto factor = factor_of(trimmed(text), units);
  if (!factor) return std::nullopt;
  return finite(*number * *factor);
}

}  // namespace

std::optional<double> parse_duration_s(std::string_view text) {
  text = trimmed(text);
  double total = 0;
  double smallest = std::numeric_limits<double>::infinity();
  bool first = true;
  while (first || !text.empty()) {
    if (!first && (text.front() == '-' || text.front() == '+')) return std::nullopt;
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    text = trimmed(text);
    if (first && text.empty()) return *number;
    std::size_t letters = 0;
    while (letters < text.size() && text[letters] >= 'a' && text[letters] <= 'z') ++letters;
    const auto factor = factor_of(text.substr(0, letters), kDurations);
    if (!factor || *factor >= smallest) return std::nullopt;
    smallest = *factor;
    total += (total < 0 ? -*number : *number) * *factor;
    text = trimmed(text.substr(letters));
    first = false;
  }
  return finite(total);
}

std::optional<double> parse_money_usd(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('$')) text.remove_prefix(1);
  return number_with_unit(text, kMoney);
}

std::optional<double> parse_size_bytes(std::string_view text) {
  return number_with_unit(text, kSizes);
}

std::optional<double> parse_rate_bytes_per_s(std::string_view text) {
  text = trimmed(text);
  if (text.ends_with("bps")) return number_with_unit(text.substr(0, text.size() - 2), kBits);
  if (text.ends_with("bit/s")) return number_with_unit(text.substr(0, text.size() - 4), kBits);
  if (!text.ends_with("/s")) return std::nullopt;
  text.remove_suffix(2);
  if (const auto bytes = number_with_unit(text, kSizes)) return bytes;
  return number_with_unit(text, kBits);
}

}  // namespace trainfront::inputs
