#include "engine/reports/chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainfront::engine {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 460;
constexpr double kLeft = 90;
constexpr double kRight = 20;
constexpr double kTop = 20;
constexpr double kBottom = 60;

// The smallest of 1, 2, 5 times a power of ten that is not below.
double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= value * (1 - 1e-12)) return digit * power;
  }
  return 10 * power;
}

}  // namespace

Axis::Axis(std::span<const double> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  logarithmic_ = *most > 10 * *least;
  low_ = scaled(*least);
  high_ = scaled(*most);
  double room = 0.05 * (high_ - low_);
  if (room <= 0) room = logarithmic_ ? 0.1 : 0.1 * *least;
  low_ -= room;
  high_ += room;
}

double Axis::scaled(double value) const {
  return logarithmic_ ? std::log10(value) : value;
}

double Axis::place(double value) const {
  return (scaled(value) - low_) / (high_ - low_);
}

std::vector<double> Axis::ticks() const {
  std::vector<double> ticks;
  if (logarithmic_) {
    for (int power = static_cast<int>(std::floor(low_)); power <= high_; ++power) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double value = digit * std::pow(10.0, power);
        if (place(value) >= 0 && place(value) <= 1) ticks.push_back(value);
      }
    }
    return ticks;
  }
  const double step = round_up((high_ - low_) / 7);
  for (double multiple = std::ceil(low_ / step); multiple * step <= high_; ++multiple) {
    ticks.push_back(multiple * step);
  }
  return ticks;
}

std::string chart_svg(std::span<const ChartPoint> points, const ChartAxis& x_axis, const ChartAxis& y_axis) {
  if (points.empty()) return {};
  std::vector<double> xs;
  std::vector<double> ys;
  for (const ChartPoint& point : points) {
    xs.push_back(point.x);
    ys.push_back(point.y);
  }
  const Axis across(xs);
  const Axis up(ys);
  const auto x_of = [&](double value) { return kLeft + across.place(value) * (kWidth - kLeft - kRight); };
  const auto y_of = [&](double value) {
    return kHeight - kBottom - up.place(value) * (kHeight - kTop - kBottom);
  };

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" role=\"img\" font-size=\"12\">\n",
      kWidth, kHeight);
  for (const double tick : across.ticks()) {
    const double x = x_of(tick);
    svg += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", x, kTop,
                       kHeight - kBottom);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x,
                       kHeight - kBottom + 18, html_escape(x_axis.tick(tick)));
  }
  for (const double tick : up.ticks()) {
    const double y = y_of(tick);
    svg += fmt::format("<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>", y, kLeft,
                       kWidth - kRight);
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y + 4,
                       html_escape(y_axis.tick(tick)));
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (kLeft + kWidth - kRight) / 2, kHeight - 12, html_escape(x_axis.label));
  svg += fmt::format("<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     (kTop + kHeight - kBottom) / 2, html_escape(y_axis.label));

  // Between two plans nothing is better than the dearer one's time at its cost: steps, not slopes.
  std::string path;
  for (const ChartPoint& point : points) {
    const double x = x_of(point.x);
    const double y = y_of(point.y);
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", x, y) : fmt::format("H{:.1f}V{:.1f}", x, y);
  }
  svg += "<path class=\"front\" d=\"" + path + "\"/>\n";
  for (const ChartPoint& point : points) {
    svg +=
        fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}</title></circle>\n",
                    point.marked ? "plan marked" : "plan", x_of(point.x), y_of(point.y), point.marked ? 7 : 4,
                    html_escape(point.title));
  }
  return svg + "</svg>\n";
}

std::string html_escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace trainfront::engine
