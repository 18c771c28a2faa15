#include "engine/reports/redundancy_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

namespace trainfront::engine {
namespace {

using faults::RedundancyRow;
using faults::RedundancySimulated;
using faults::RowKind;

struct Series {
  RowKind kind;
  const char* name;
  const char* colour;
};

constexpr Series kSeries[] = {{RowKind::kSpare, "SPARe", "#1f6fb4"},
                              {RowKind::kStacked, "replication, stacked", "#c8501e"},
                              {RowKind::kFamilies, "replication, families", "#7a4fa3"}};

// Without r: a level.
constexpr Series kLevels[] = {{RowKind::kCheckpoint, "checkpoints alone", "#555555"},
                              {RowKind::kElastic, "elastic", "#2a8a4a"}};

constexpr std::string_view kDashes = "stroke-dasharray=\"6 4\"";

bool is_level(RowKind kind) {
  return kind == RowKind::kCheckpoint || kind == RowKind::kElastic;
}

// One panel: places of data within it.
struct Panel {
  double left, top, width, height;
  double x_min, x_max, y_min, y_max;

  double x(double value) const { return left + width * (value - x_min) / (x_max - x_min); }
  double y(double value) const {
    const double clipped = std::clamp(value, y_min, y_max);
    return top + height * (1 - (clipped - y_min) / (y_max - y_min));
  }
};

// 1, 2 or 5 times a power of ten, about a sixth of the span.
double tick_step(double span) {
  const double raw = span / 6;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= raw) return digit * power;
  }
  return 10 * power;
}

std::string frame(const Panel& p, const std::string& label) {
  std::string svg = fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"#888\"/>\n",
      p.left, p.top, p.width, p.height);
  const double step = tick_step(p.y_max - p.y_min);
  for (int tick = static_cast<int>(std::ceil(p.y_min / step - 1e-9)); tick * step <= p.y_max + 1e-9; ++tick) {
    const double value = tick * step;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
        p.left, p.left + p.width, p.y(value), p.left - 6, p.y(value) + 4, value);
  }
  const double r_step = std::max(1.0, tick_step(p.x_max - p.x_min));
  for (int tick = static_cast<int>(std::ceil(p.x_min / r_step)); tick * r_step <= p.x_max; ++tick) {
    const double r = tick * r_step;
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n", p.x(r),
                       p.top + p.height + 16, r);
  }
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-weight=\"bold\">{}</text>\n", p.left, p.top - 8,
                     label);
  return svg;
}

using Value = std::function<double(std::size_t row)>;

// Names those of the series that have rows, at height y; returns where the next one would stand.
double legend(std::span<const RedundancyRow> rows, std::span<const Series> list, double y,
              std::string_view stroke, std::string& svg) {
  double x = 70;
  for (const Series& series : list) {
    const bool present = std::any_of(rows.begin(), rows.end(),
                                     [&](const RedundancyRow& row) { return row.kind == series.kind; });
    if (!present) continue;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.0f}\" y2=\"{2:.0f}\" stroke=\"{3}\" {4}/>"
        "<text x=\"{5:.1f}\" y=\"{6:.0f}\">{7}</text>\n",
        x, x + 24, y, series.colour, stroke, x + 30, y + 4, series.name);
    x += 190;
  }
  return x;
}

std::string levels(const Panel& p, std::span<const RedundancyRow> rows, const Value& closed) {
  std::string svg;
  for (const Series& series : kLevels) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double value = closed(i);
      if (rows[i].kind != series.kind || !std::isfinite(value) || value > p.y_max) continue;
      svg += fmt::format(
          "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
          "{}/>\n",
          p.left, p.left + p.width, p.y(value), p.y(value), series.colour, kDashes);
    }
  }
  return svg;
}

std::string curves(const Panel& p, std::span<const RedundancyRow> rows, bool simulated, const Value& closed,
                   const Value& measured, const Value& error) {
  std::string svg;
  for (const Series& series : kSeries) {
    std::string path;
    bool drawing = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].kind != series.kind) continue;
      const double value = closed(i);
      if (!std::isfinite(value) || value > p.y_max) {  // no progress, or off the panel
        drawing = false;
        continue;
      }
      path += fmt::format("{}{:.1f},{:.1f} ", drawing ? "L" : "M", p.x(rows[i].r), p.y(value));
      drawing = true;
    }
    if (!path.empty()) {
      svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path,
                         series.colour);
    }
    for (std::size_t i = 0; i < rows.size() && simulated; ++i) {
      if (rows[i].kind != series.kind) continue;
      const double value = measured(i);
      if (!std::isfinite(value) || value > p.y_max) continue;
      const double half = 2 * error(i);
      if (std::isfinite(half)) {  // one trial tells nothing of its error
        svg +=
            fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>",
                        p.x(rows[i].r), p.y(value - half), p.y(value + half), series.colour);
      }
      svg += fmt::format(
          "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"3.5\" fill=\"white\" stroke=\"{2}\" "
          "stroke-width=\"1.5\"/>\n",
          p.x(rows[i].r), p.y(value), series.colour);
    }
  }
  return svg;
}

}  // namespace

std::string redundancy_plot(std::span<const RedundancyRow> rows,
                            std::span<const RedundancySimulated> simulated) {
  double r_min = 1e9;
  double r_max = 1;
  double least = 1e300;
  double most = 1;
  for (const RedundancyRow& row : rows) {
    if (is_level(row.kind)) continue;
    r_min = std::min<double>(r_min, row.r);
    r_max = std::max<double>(r_max, row.r);
    if (!std::isfinite(row.time_ratio)) continue;
    if (row.kind == RowKind::kSpare) least = std::min(least, row.time_ratio);
    most = std::max(most, row.time_ratio);
  }
  // Rows far above the best would flatten the rest.
  if (least < 1e300) most = std::min(most, 4 * least);
  if (r_max <= r_min) {
    r_max = r_min + 0.5;
    r_min = r_max - 1;
  }
  const Panel time{70, 40, 760, 300, r_min, r_max, 1, std::max(1.1, most * 1.05)};
  const Panel up{70, 410, 760, 190, r_min, r_max, 0, 1};

  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 680\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"860\" height=\"680\" fill=\"white\"/>\n";
  svg += frame(time, "time-to-train over that of one stack without failures");
  svg += frame(up, "availability: share of time outside restarts and checkpoints");
  const Value time_of = [&](std::size_t i) { return rows[i].time_ratio; };
  const Value up_of = [&](std::size_t i) {
    return std::isfinite(rows[i].time_ratio) ? rows[i].availability : std::nan("");
  };
  svg += levels(time, rows, time_of) + levels(up, rows, up_of);
  svg += curves(
      time, rows, !simulated.empty(), time_of, [&](std::size_t i) { return simulated[i].time_ratio.value; },
      [&](std::size_t i) { return simulated[i].time_ratio.standard_error; });
  svg += curves(
      up, rows, !simulated.empty(), up_of, [&](std::size_t i) { return simulated[i].availability; },
      [&](std::size_t i) { return simulated[i].availability_error; });
  double x = legend(rows, kSeries, 650, "stroke-width=\"2\"", svg);
  legend(rows, kLevels, 668, kDashes, svg);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"654\">r: groups per shard{}</text>\n</svg>\n", x,
                     simulated.empty() ? "" : "; points: simulated");
  return svg;
}

}  // namespace trainfront::engine
