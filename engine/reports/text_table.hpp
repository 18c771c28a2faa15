#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainfront::engine {

// Rows of text set in columns for a terminal. Columns listed in `right` are set flush right.
struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as long as the header
  std::vector<bool> right;                     // by column; missing: left

  // One line a row, two blanks between columns, none at the ends of lines. Widths are in characters, not
  // bytes. Control characters are escaped.
  std::string str() const;
};

// So many decimals, beyond seven digits in powers of ten; "-" where there is no number.
std::string figure(double value, int decimals);
// The same with one decimal and its sign, "+" too.
std::string signed_figure(double value);

// Dollars with cents, and below a dollar with three significant digits: a price is never shown as 0.00.
std::string price_text(double usd);

}  // namespace trainfront::engine
