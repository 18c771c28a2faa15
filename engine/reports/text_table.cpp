#include "engine/reports/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainfront::engine {
namespace {

// Characters of UTF-8 text: bytes that do not continue one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string TextTable::str() const {
  std::vector<std::size_t> widths;
  for (const std::string& name : header) widths.push_back(width_of(name));
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - width_of(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (i < right.size() && right[i] ? blanks + row[i] : row[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add(header);
  for (const auto& row : rows) add(row);
  return text;
}

std::string price_text(double usd) {
  if (usd == 0 || !std::isfinite(usd) || std::abs(usd) >= 0.9995) return fmt::format("{:.2f}", usd);
  const int digits = 2 - static_cast<int>(std::floor(std::log10(std::abs(usd))));
  return fmt::format("{:.{}f}", usd, digits);
}

}  // namespace trainfront::engine
