#include "engine/validation/accuracy_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/validation/accuracy.hpp"

namespace trainfront::engine {

namespace {

constexpr double kLeft = 70, kTop = 20, kSide = 560, kLegend = 330;
// Okabe and Ito's palette, told apart by colour-blind readers too.
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                 "#e69f00", "#56b4e9", "#000000", "#999933"};

// Decades that hold all of the speeds.
struct Range {
  double low = 0;  // log10
  double high = 1;

  double place(double value) const { return kSide * (std::log10(value) - low) / (high - low); }
};

Range range_of(std::span<const RunPrediction> runs) {
  double least = INFINITY;
  double most = 0;
  for (const RunPrediction& run : runs) {
    least = std::min({least, run.measured_tokens_per_s_per_gpu, run.predicted_tokens_per_s_per_gpu});
    most = std::max({most, run.measured_tokens_per_s_per_gpu, run.predicted_tokens_per_s_per_gpu});
  }
  if (!(most > 0)) return {};
  return {std::floor(std::log10(least)),
          std::max(std::floor(std::log10(least)) + 1, std::ceil(std::log10(most)))};
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string axes(const Range& range) {
  std::string svg =
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>\n",
                  kLeft, kTop, kSide, kSide);
  for (int decade = static_cast<int>(range.low); decade <= range.high; ++decade) {
    const double at = range.place(std::pow(10, decade));
    const std::string label = fmt::format("{:g}", std::pow(10, decade));
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}v{:.1f}M{:.1f} {:.1f}h{:.1f}\" stroke=\"#ddd\"/>\n",
                       kLeft + at, kTop, kSide, kLeft, kTop + kSide - at, kSide);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", kLeft + at,
                       kTop + kSide + 18, label);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6,
                       kTop + kSide - at + 4, label);
  }
  return svg;
}

std::string diagonal(const Range& range, double factor, std::string_view style) {
  const double shift = kSide * std::log10(factor) / (range.high - range.low);
  const double begin = std::max(0.0, -shift);
  const double end = std::min(kSide, kSide - shift);
  return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" {}/>\n", kLeft + begin,
                     kTop + kSide - begin - shift, kLeft + end, kTop + kSide - end - shift, style);
}

}  // namespace

std::string accuracy_plot(std::span<const RunPrediction> runs) {
  const Range range = range_of(runs);
  std::map<std::string, std::size_t> sources;
  for (const RunPrediction& run : runs) sources.emplace(run.source, 0);
  std::size_t next = 0;
  for (auto& [source, colour] : sources) colour = next++ % kColours.size();

  const double width = kLeft + kSide + kLegend;
  const double height = kTop + kSide + 50;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  svg += axes(range);
  svg += diagonal(range, 1, "stroke=\"#444\"");
  svg += diagonal(range, 1.2, "stroke=\"#aaa\" stroke-dasharray=\"4 4\"");
  svg += diagonal(range, 1 / 1.2, "stroke=\"#aaa\" stroke-dasharray=\"4 4\"");
  for (const RunPrediction& run : runs) {
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" fill=\"{}\" fill-opacity=\"{}\"/>\n",
                       kLeft + range.place(run.measured_tokens_per_s_per_gpu),
                       kTop + kSide - range.place(run.predicted_tokens_per_s_per_gpu),
                       kColours[sources[run.source]], is_stress(run) ? "0.2" : "0.6");
  }
  double line = kTop + 12;
  for (const auto& [source, colour] : sources) {
    svg += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
                       kLeft + kSide + 16, line - 4, kColours[colour], kLeft + kSide + 26, line,
                       escaped(source.substr(0, 46)));
    line += 18;
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">measured tokens/s per GPU</text>\n",
                     kLeft + kSide / 2, kTop + kSide + 40);
  svg += fmt::format(
      "<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">predicted</text>\n",
      kTop + kSide / 2);
  return svg + "</svg>\n";
}

}  // namespace trainfront::engine
