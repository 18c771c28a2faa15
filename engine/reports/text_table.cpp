#include "engine/reports/text_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "inputs/printable.hpp"

namespace trainfront::engine {
namespace {

// Characters of UTF-8 text: bytes that do not continue one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string> printable_cells(const std::vector<std::string>& cells) {
  std::vector<std::string> escaped;
  for (const std::string& cell : cells) escaped.push_back(inputs::printable(cell));
  return escaped;
}

}  // namespace

std::string TextTable::str() const {
  std::vector<std::vector<std::string>> lines = {printable_cells(header)};
  for (const auto& row : rows) lines.push_back(printable_cells(row));
  std::vector<std::size_t> widths;
  for (const std::string& name : lines[0]) widths.push_back(width_of(name));
  for (const auto& row : lines)
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
  for (const auto& line : lines) add(line);
  return text;
}

std::string figure(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  return std::abs(value) < 1e7 ? fmt::format("{:.{}f}", value, decimals) : fmt::format("{:.1e}", value);
}

std::string signed_figure(double value) {
  return fmt::format("{}{}", value >= 0 ? "+" : "", figure(value, 1));
}

std::string price_text(double usd) {
  if (usd == 0 || !std::isfinite(usd) || std::abs(usd) >= 0.9995) return fmt::format("{:.2f}", usd);
  const int digits = 2 - static_cast<int>(std::floor(std::log10(std::abs(usd))));
  return fmt::format("{:.{}f}", usd, digits);
}

}  // namespace trainfront::engine
