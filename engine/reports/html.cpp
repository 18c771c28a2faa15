#include "engine/reports/html.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "costmodel/parameters.hpp"
#include "engine/reports/chart.hpp"
#include "engine/reports/front_table.hpp"
#include "engine/reports/names.hpp"
#include "engine/reports/readable.hpp"
#include "engine/reports/run_parts.hpp"

namespace trainfront::engine {
namespace {

// A browser that shows more rows than this does so slowly; front.csv has all.
constexpr std::size_t kMostRows = 2000;

constexpr const char* kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #1a1a1a; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
svg { width: 100%; max-width: 60rem; height: auto; }
svg text { fill: #444; } .grid { stroke: #ddd; } .front { fill: none; stroke: #8aa9cf; stroke-width: 1.5; }
.plan { fill: #2a5d9f; } .marked { fill: #c8501e; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; white-space: nowrap; }
th, td { padding: 0.25rem 0.6rem; text-align: left; border-bottom: 1px solid #ddd; }
tr.marked td { background: #fbe9e1; font-weight: 600; fill: inherit; }
.partial { background: #fbe9e1; padding: 0.6rem; font-weight: 600; }
pre { background: #f5f5f5; padding: 0.8rem; overflow-x: auto; }
)";

// The unit in which times to train are small numbers.
struct TimeUnit {
  double seconds;
  const char* name;
};

TimeUnit time_unit(std::span<const PlanRow> rows) {
  const double longest = rows.back().outcome.time_to_train_s;
  if (longest > 2 * 86400) return {86400, "days"};
  if (longest > 2 * 3600) return {3600, "hours"};
  return {60, "minutes"};
}

std::string chart(std::span<const PlanRow> rows, std::optional<std::uint64_t> marked) {
  const TimeUnit unit = time_unit(rows);
  std::vector<ChartPoint> points;
  for (const PlanRow& row : rows) {
    ChartPoint point{
        row.outcome.time_to_train_s / unit.seconds, row.outcome.cost_usd, {}, row.plan.index == marked};
    point.title = fmt::format("{}, {}: {} {}, {}, {}, {}", readable_duration(row.outcome.time_to_train_s),
                              readable_money(row.outcome.cost_usd), row.plan.gpus, row.offer.device,
                              readable_offer(row.offer), readable_layout(row.plan.layout),
                              readable_protection(row.plan.protection));
    if (point.y > 0) points.push_back(std::move(point));  // what is owned and free has no place on a log axis
  }
  const auto tick = [](double value) { return fmt::format("{:g}", value); };
  return chart_svg(points, {fmt::format("time to train ({})", unit.name), tick},
                   {"cost (dollars)", readable_money});
}

std::string table(std::span<const PlanRow> rows, std::optional<std::uint64_t> marked) {
  std::string html = "<div class=\"scroll\"><table>\n<tr>";
  for (const std::string& header : front_columns()) html += "<th>" + html_escape(header) + "</th>";
  html += "</tr>\n";
  for (const PlanRow& row : rows.first(std::min(rows.size(), kMostRows))) {
    html += row.plan.index == marked ? "<tr class=\"marked\">" : "<tr>";
    for (const std::string& cell : front_cells(row)) html += "<td>" + html_escape(cell) + "</td>";
    html += "</tr>\n";
  }
  html += "</table></div>\n";
  if (rows.size() > kMostRows) {
    html += fmt::format("<p>The first {} of {} plans; all are in front.csv.</p>\n", kMostRows, rows.size());
  }
  return html;
}

std::string counts_list(const search::Counts& counts) {
  std::string html = "<ul>\n";
  const auto item = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) html += fmt::format("<li>{} {}</li>\n", count, html_escape(what));
  };
  item(counts.plans, "plans in all");
  item(counts.out_of_memory, "do not fit into memory");
  item(counts.non_finite - counts.struck_too_often, "would never end: failures come faster than progress");
  item(counts.struck_too_often, "are struck too often: failures come more often than every two steps");
  for (std::size_t rule = 0; rule < counts.illegal.size(); ++rule) {
    item(counts.illegal[rule],
         fmt::format("are illegal: {}", costmodel::rule_name(static_cast<costmodel::Rule>(rule))));
  }
  return html + "</ul>\n";
}

std::string partial_notice(const search::Space& space, const Remaining& remaining) {
  std::string html = fmt::format(
      "<p class=\"partial\">This sweep ended early: {} of the plans were not looked at, and better ones may "
      "be "
      "among them.</p>\n<ul>\n",
      readable_percent(remaining.share));
  for (const Remaining::Part& part : remaining.parts) {
    const costmodel::Hardware& hardware =
        space.problem().hardware[static_cast<std::size_t>(part.hardware)].hardware;
    html += fmt::format("<li>{} of the plans on {}, at {} GPU counts from {} to {}</li>\n",
                        readable_percent(part.share), html_escape(hardware.device.id), part.gpus.size(),
                        part.gpus.front(), part.gpus.back());
  }
  return html + "</ul>\n";
}

}  // namespace

std::string report_html(const search::Space& space, const search::Harvest& harvest,
                        std::span<const PlanRow> rows, const Answer& answer, const std::string& failure,
                        const Remaining* remaining) {
  const search::Problem& problem = space.problem();
  const std::string model = problem.model.name.empty() ? "the model" : problem.model.name;
  std::optional<std::uint64_t> marked;
  if (answer.plan) marked = answer.plan->index;

  std::string html = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">";
  html += "<title>Trainfront: " + html_escape(model) + "</title><style>" + kStyle + "</style></head><body>\n";
  html += "<h1>Dollars against time-to-train: " + html_escape(model) + "</h1>\n";
  html += fmt::format("<p>{} parameters, {} tokens in sequences of {}, {}.</p>\n",
                      readable_count(static_cast<double>(costmodel::count_parameters(problem.model).total)),
                      readable_count(problem.recipe.tokens), problem.recipe.sequence_length,
                      name(problem.recipe.precision));
  if (remaining != nullptr) html += partial_notice(space, *remaining);
  if (answer.plan) {
    const PlanRow answer_row = plan_row(space, *marked);
    html += "<h2>Answer: " + html_escape(answer.criterion) + "</h2>\n<pre>" +
            html_escape(plan_text(space, answer_row)) + "</pre>\n";
    html += "<pre>" + html_escape(losses_text(run_parts(space, answer_row), answer_row.outcome)) + "</pre>\n";
  } else {
    html += "<h2>No answer</h2>\n<p>" + html_escape(failure) + "</p>\n";
  }
  if (!rows.empty()) {
    html += fmt::format("<h2>The front: {} plans that no other beats in both</h2>\n", rows.size());
    html += chart(rows, marked) + table(rows, marked);
    for (const std::string& warning : front_warnings(rows)) html += "<p>" + html_escape(warning) + "</p>\n";
  }
  html += "<h2>What became of the plans</h2>\n" + counts_list(harvest.counts);
  return html + "</body></html>\n";
}

}  // namespace trainfront::engine
