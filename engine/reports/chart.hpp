#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace trainfront::engine {

// One axis of a chart: from data to a place between 0 and 1. Logarithmic where the data span more than a
// factor of ten.
class Axis {
 public:
  // Needs at least one value, all above 0. Leaves some room at both ends.
  explicit Axis(std::span<const double> values);

  double place(double value) const;
  // Round numbers (1, 2, 5 times a power of ten) inside the axis.
  std::vector<double> ticks() const;

 private:
  double scaled(double value) const;

  bool logarithmic_ = false;
  double low_ = 0;
  double high_ = 1;
};

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::string title;  // shown when pointed at
  bool marked = false;
};

struct ChartAxis {
  std::string label;
  std::function<std::string(double)> tick;  // text of a tick
};

// A step line through the points, which ascend in x, as an SVG element that stands alone.
std::string chart_svg(std::span<const ChartPoint> points, const ChartAxis& x, const ChartAxis& y);

// Text for HTML and SVG.
std::string html_escape(std::string_view text);

}  // namespace trainfront::engine
