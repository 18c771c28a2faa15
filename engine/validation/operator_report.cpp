#include "engine/validation/operator_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "costmodel/fit_other_sources.hpp"
#include "engine/reports/json_writer.hpp"
#include "engine/reports/text_table.hpp"
#include "inputs/csv.hpp"

namespace trainfront::engine {
namespace {

using costmodel::median_of;
using Rows = std::vector<const OperatorRow*>;

double median_ratio(const Rows& rows) {
  std::vector<double> ratios;
  for (const OperatorRow* row : rows) ratios.push_back(row->measured_s / row->predicted_s);
  return median_of(std::move(ratios));
}

OperatorScore score(const std::string& name, const Rows& rows) {
  OperatorScore result;
  result.name = name;
  std::vector<double> errors, after;
  result.scale = median_ratio(rows);
  for (const OperatorRow* row : rows) {
    errors.push_back(row->error());
    after.push_back(result.scale * row->predicted_s / row->measured_s - 1);
  }
  result.errors = costmodel::summarize(errors);
  result.after_scale = costmodel::summarize(after);
  result.bias = 100 * median_of(std::move(errors));
  return result;
}

using Harnesses = std::map<std::string, Rows>;

std::map<std::string, Harnesses> by_group(const std::vector<OperatorRow>& rows) {
  std::map<std::string, Harnesses> groups;
  for (const OperatorRow& row : rows) groups[row.group][row.harness].push_back(&row);
  return groups;
}

// Times of each point by harness, after the harness's factor against the prediction.
using Points = std::map<std::string, std::map<std::string, std::vector<double>>>;

Points points_of(const Harnesses& harnesses) {
  Points points;
  for (const auto& [harness, rows] : harnesses) {
    const double scale = median_ratio(rows);
    for (const OperatorRow* row : rows) points[row->point][harness].push_back(row->measured_s / scale);
  }
  return points;
}

double mean_percent(const std::vector<double>& errors) {
  return costmodel::summarize(errors).mean;
}

void add_repeats(const Points& points, OperatorScore& result) {
  std::vector<double> errors;
  for (const auto& [point, by_harness] : points) {
    std::vector<double> times;
    for (const auto& [harness, list] : by_harness) times.insert(times.end(), list.begin(), list.end());
    if (times.size() < 2) continue;
    std::sort(times.begin(), times.end());
    const double middle = std::midpoint(times[(times.size() - 1) / 2], times[times.size() / 2]);
    for (const double time : times) errors.push_back(middle / time - 1);
  }
  result.repeated = errors.size();
  result.repeat_floor = mean_percent(errors);
}

void add_shared(const Points& points, const std::string& harness, OperatorScore& result) {
  std::vector<double> ratios;  // own over others'
  for (const auto& [point, by_harness] : points) {
    const auto own = by_harness.find(harness);
    if (own == by_harness.end() || by_harness.size() < 2) continue;
    std::vector<double> others;
    for (const auto& [name, list] : by_harness) {
      if (name != harness) others.insert(others.end(), list.begin(), list.end());
    }
    const double other = median_of(std::move(others));
    for (const double time : own->second) ratios.push_back(time / other);
  }
  result.shared = ratios.size();
  if (ratios.empty()) return;
  const double scale = median_of(ratios);
  std::vector<double> errors;
  for (const double ratio : ratios) errors.push_back(scale / ratio - 1);
  result.shared_error = mean_percent(errors);
}

std::string with_count(double percent, std::size_t count) {
  return count == 0 ? "-" : fmt::format("{} ({})", figure(percent, 1), count);
}

void add_scores(const char* name, const std::vector<OperatorScore>& scores, JsonWriter& json) {
  json.begin_array(name);
  for (const OperatorScore& each : scores) {
    json.begin_object()
        .field("source", each.name)
        .field("rows", each.errors.count)
        .field("median_ape", each.errors.median);
    json.field("mean_ape", each.errors.mean).field("bias", each.bias);
    json.field("scale", each.scale).field("mean_ape_after_scale", each.after_scale.mean);
    json.field("repeated_rows", each.repeated).field("repeat_floor", each.repeat_floor);
    json.field("shared_rows", each.shared).field("shared_mean_ape", each.shared_error).end_object();
  }
  json.end_array();
}

}  // namespace

std::vector<OperatorScore> score_groups(const std::vector<OperatorRow>& rows) {
  std::vector<OperatorScore> scores;
  for (const auto& [group, harnesses] : by_group(rows)) {
    Rows all;
    for (const auto& [harness, list] : harnesses) all.insert(all.end(), list.begin(), list.end());
    scores.push_back(score(group, all));
    add_repeats(points_of(harnesses), scores.back());
  }
  return scores;
}

std::vector<OperatorScore> score_harnesses(const std::vector<OperatorRow>& rows) {
  std::vector<OperatorScore> scores;
  for (const auto& [group, harnesses] : by_group(rows)) {
    const Points points = points_of(harnesses);
    for (const auto& [harness, list] : harnesses) {
      scores.push_back(score(fmt::format("{} of {}", group, harness), list));
      add_repeats(points_of({{harness, list}}), scores.back());
      add_shared(points, harness, scores.back());
    }
  }
  return scores;
}

std::string operator_text(const std::vector<OperatorRow>& rows) {
  std::string text = fmt::format("{:<48} {:>7} {:>8} {:>8} {:>8} {:>14}\n", "device, operation, precision",
                                 "rows", "mean %", "median %", "bias %", "floor % (of)");
  for (const OperatorScore& each : score_groups(rows)) {
    text += fmt::format("{:<48} {:>7} {:>8} {:>8} {:>8} {:>14}\n", each.name, each.errors.count,
                        figure(each.errors.mean, 1), figure(each.errors.median, 1), signed_figure(each.bias),
                        with_count(each.repeat_floor, each.repeated));
  }
  text +=
      "floor: what one who knew the median of every point that was measured again would still miss\n"
      "\nby harness: mean % as it is, and after one factor for the harness; how far it is, after one factor, "
      "from\nothers that measured the same shapes\n";
  for (const OperatorScore& each : score_harnesses(rows)) {
    text += fmt::format("{:<96} {:>6} {:>7} {:>7}  x{}  {}\n", each.name, each.errors.count,
                        figure(each.errors.mean, 1), figure(each.after_scale.mean, 1), figure(each.scale, 2),
                        with_count(each.shared_error, each.shared));
  }
  return text;
}

std::string operator_json(const inputs::Measurements& measurements, std::size_t bad_lines,
                          const std::vector<OperatorRow>& rows) {
  std::vector<double> errors;
  for (const OperatorRow& row : rows) errors.push_back(row.error());
  const costmodel::ErrorSummary all = costmodel::summarize(errors);
  JsonWriter json;
  json.begin_object()
      .field("rows", measurements.rows)
      .field("predicted", rows.size())
      .field("bad_lines", bad_lines);
  json.begin_object("not_modelled");
  for (const auto& [reason, count] : measurements.not_modelled) json.field(reason, count);
  json.end_object().field("median_ape", all.median).field("mean_ape", all.mean);
  add_scores("by_source", score_groups(rows), json);
  add_scores("by_harness", score_harnesses(rows), json);
  return json.end_object().take();
}

std::string operator_rows_csv(const std::vector<OperatorRow>& rows) {
  std::string text = "id,source,quantity,measured,predicted,ape\n";
  std::size_t id = 0;
  for (const OperatorRow& row : rows) {
    text += inputs::csv_line({std::to_string(++id), row.harness, row.group + " time_us",
                              fmt::format("{:.6g}", row.measured_s * 1e6),
                              fmt::format("{:.6g}", row.predicted_s * 1e6),
                              fmt::format("{:.4g}", 100 * std::abs(row.error()))});
  }
  return text;
}

}  // namespace trainfront::engine
