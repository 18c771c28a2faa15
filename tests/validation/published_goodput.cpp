#include <doctest/doctest.h>
#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "costmodel/parameters.hpp"
#include "faults/cycle.hpp"
#include "inputs/catalog.hpp"
#include "inputs/csv.hpp"
#include "search/environment.hpp"

// How much of their time published trainings were effective, against what the model of failures says for
// them: checkpoints and restarts, nothing else. Prints the table of docs/failures.md.
namespace trainfront {
namespace {

const std::filesystem::path kFailures =
    std::filesystem::path(TRAINFRONT_DATA_DIR) / "hardware" / "failures.csv";

struct Published {
  double gpus = 0;
  double days = 0;
  double value = 0;
};

// The row of that system and metric; values that only say "more than" stand for what they exceed.
Published published(const std::string& system, const std::string& metric) {
  inputs::CsvFile csv = inputs::CsvFile::open(kFailures.string(), {.delimiter = ',', .comment = '#'});
  while (csv.next()) {
    if (csv[csv.column("system")] != system || csv[csv.column("metric")] != metric) continue;
    std::string value(csv[csv.column("value")]);
    if (value.starts_with('>')) value.erase(0, 1);
    Published row;
    row.gpus = inputs::csv_number(csv[csv.column("scale_gpus")]).value();
    row.days = inputs::csv_number(csv[csv.column("period_days")]).value_or(0);
    row.value = inputs::csv_number(value).value();
    return row;
  }
  FAIL("no row of " << system << ", " << metric);
  return {};
}

enum class Recovery { kFast, kBase, kSlow };  // ends of the catalogue's ranges, and its own choice

search::FailureModel failure_model(const inputs::Catalog& catalog, double node_mtbf_s, Recovery speed) {
  const auto figure = [&](const char* key, bool more_is_faster = false) {
    const inputs::RecoveryFigure& found = *catalog.find_recovery(key);
    if (speed == Recovery::kBase) return found.base;
    return (speed == Recovery::kFast) == more_is_faster ? found.high : found.low;
  };
  search::FailureModel failures;
  failures.node_mtbf_s = node_mtbf_s;
  failures.detect_s = figure("detect");
  failures.replace_s = figure("replace");
  failures.start_fixed_s = figure("start_fixed");
  failures.start_per_node_s = figure("start_per_node");
  failures.storage_bytes_per_s = figure("storage_bandwidth", true);
  failures.node_storage_bytes_per_s = figure("node_storage_bandwidth", true);
  failures.blocking_fixed_s = figure("checkpoint_block_fixed");
  failures.blocking_share = figure("checkpoint_block_share");
  return failures;
}

// Share of the time in which steps were done that stayed.
double effective(const search::FailureModel& failures, std::int64_t nodes, double parameters) {
  const faults::Protection checkpoints{faults::Scheme::kCheckpoint};
  constexpr double kBytes = 14;  // bf16 weights; fp32 master weights and Adam's two moments
  faults::Environment environment = search::recovery_costs(failures, checkpoints, nodes, kBytes * parameters);
  environment.group_mtbf_s = failures.node_mtbf_s;
  const faults::CycleTable table = faults::cycle_table(nodes, checkpoints, failures.law);
  const faults::RunTime run = faults::run_time(table, {0, 5}, environment, 1e6);
  return 5e6 / run.time_s;
}

struct Run {
  const char* system;
  const char* metric;    // of the effective share
  const char* failures;  // metric of the failures in that time; nullptr: the catalogue's rate of the device
  const char* device;
  double parameters;  // of a model as large as those trained, for its checkpoints
};
// Llama 3.1 405B, MegaScale's 175B and 530B; ByteRobust names none.
constexpr std::array<Run, 3> kRuns = {
    {{"Llama-3-405B", "effective training time", "unexpected", "h100-sxm", 405e9},
     {"MegaScale", "effective training rate", nullptr, "a100-80gb-sxm", 175e9},
     {"ByteRobust", "ETTR", nullptr, "h100-sxm", 175e9}}};

}  // namespace

TEST_CASE("the effective time of published trainings lies where the model of failures puts it") {
  if (!std::filesystem::exists(kFailures)) {
    MESSAGE("skipped: no " << kFailures.string());
    return;
  }
  const inputs::Catalog catalog = inputs::builtin_catalog();
  std::string page =
      "| training | GPUs | failures a day | effective: published | predicted | with the catalogue's slowest "
      "to fastest recovery |\n|---|---|---|---|---|---|\n";
  for (const Run& run : kRuns) {
    CAPTURE(run.system);
    const Published share = published(run.system, run.metric);
    const auto nodes = static_cast<std::int64_t>(share.gpus / 8);
    double node_mtbf_s = inputs::node_mtbf_s(catalog.find_failures(run.device)->base, 8);
    if (run.failures != nullptr) {
      const Published count = published(run.system, run.failures);
      node_mtbf_s = static_cast<double>(nodes) * count.days * 86400 / count.value;
    }
    const auto predicted = [&](Recovery speed) {
      return effective(failure_model(catalog, node_mtbf_s, speed), nodes, run.parameters);
    };
    const double base = predicted(Recovery::kBase);
    const double slow = predicted(Recovery::kSlow);
    const double fast = predicted(Recovery::kFast);
    page += fmt::format("| {} | {:.0f} | {:.1f}{} | {:.0f} % | {:.1f} % | {:.0f} to {:.0f} % |\n", run.system,
                        share.gpus, static_cast<double>(nodes) * 86400 / node_mtbf_s,
                        run.failures != nullptr ? "" : " (catalogue)", 100 * share.value, 100 * base,
                        100 * slow, 100 * fast);
    CHECK(slow < share.value);
    CHECK(share.value < fast);
    CHECK(std::abs(base - share.value) < 0.06);
  }
  // Llama 3's is said to be above 90 %, on 16,384 GPUs with 7.8 failures a day.
  const Published llama = published("Llama-3-405B", "unexpected");
  const double mtbf_s = 2048 * llama.days * 86400 / llama.value;
  const double base = effective(failure_model(catalog, mtbf_s, Recovery::kBase), 2048, 405e9);
  CHECK(base > 0.9);
  CHECK(base < 0.95);
  MESSAGE("\n" << page);
}

}  // namespace trainfront
