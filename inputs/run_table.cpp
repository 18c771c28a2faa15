#include "inputs/run_table.hpp"

#include <algorithm>
#include <array>

#include "inputs/csv.hpp"
#include "inputs/diagnostics.hpp"

namespace trainfront::inputs {

namespace {

struct TextColumn {
  std::string_view name;
  std::string RunRow::*member;
};

struct NumberColumn {
  std::string_view name;
  std::optional<double> RunRow::*member;
};

constexpr std::array kTexts = {
    TextColumn{"id", &RunRow::id},
    TextColumn{"source", &RunRow::source},
    TextColumn{"framework", &RunRow::framework},
    TextColumn{"model_name", &RunRow::model_name},
    TextColumn{"gpu", &RunRow::gpu},
    TextColumn{"interconnect", &RunRow::interconnect},
    TextColumn{"precision", &RunRow::precision},
    TextColumn{"zero_stage_or_dist_opt", &RunRow::zero},
    TextColumn{"recompute", &RunRow::recompute},
    TextColumn{"cp_type", &RunRow::cp_type},
    TextColumn{"schedule", &RunRow::schedule},
    TextColumn{"measured_quantity", &RunRow::quantity},
    TextColumn{"notes", &RunRow::notes},
    TextColumn{"quality", &RunRow::quality},
    TextColumn{"split", &RunRow::split},
    TextColumn{"flop_convention", &RunRow::flop_convention},
    TextColumn{"status", &RunRow::status},
};

constexpr std::array kNumbers = {
    NumberColumn{"year", &RunRow::year},
    NumberColumn{"n_layers", &RunRow::layers},
    NumberColumn{"hidden", &RunRow::hidden},
    NumberColumn{"ffn_hidden", &RunRow::ffn},
    NumberColumn{"n_heads", &RunRow::heads},
    NumberColumn{"n_kv_heads", &RunRow::kv_heads},
    NumberColumn{"head_dim", &RunRow::head_dim},
    NumberColumn{"vocab", &RunRow::vocab},
    NumberColumn{"seq_len", &RunRow::sequence_length},
    NumberColumn{"gated_mlp", &RunRow::gated},
    NumberColumn{"tied_embeddings", &RunRow::tied_embeddings},
    NumberColumn{"moe_experts", &RunRow::experts},
    NumberColumn{"moe_topk", &RunRow::experts_per_token},
    NumberColumn{"moe_ffn_hidden", &RunRow::expert_ffn},
    NumberColumn{"n_gpus", &RunRow::gpus},
    NumberColumn{"gpus_per_node", &RunRow::gpus_per_node},
    NumberColumn{"global_batch_seqs", &RunRow::global_batch},
    NumberColumn{"micro_batch", &RunRow::micro_batch},
    NumberColumn{"tp", &RunRow::tp},
    NumberColumn{"sp", &RunRow::sp},
    NumberColumn{"pp", &RunRow::pp},
    NumberColumn{"vpp", &RunRow::vpp},
    NumberColumn{"cp", &RunRow::cp},
    NumberColumn{"ep", &RunRow::ep},
    NumberColumn{"etp", &RunRow::etp},
    NumberColumn{"dp", &RunRow::dp},
    NumberColumn{"islands", &RunRow::islands},
    NumberColumn{"inner_steps_H", &RunRow::inner_steps},
    NumberColumn{"wan_gbps", &RunRow::wan_gbps},
    NumberColumn{"measured_value", &RunRow::measured},
    NumberColumn{"alt_step_time_s", &RunRow::alt_step_time_s},
    NumberColumn{"alt_tokens_per_s_per_gpu", &RunRow::alt_tokens_per_s_per_gpu},
    NumberColumn{"alt_tflops_per_gpu", &RunRow::alt_tflops_per_gpu},
    NumberColumn{"alt_mfu_pct", &RunRow::alt_mfu_pct},
};

// Told for the reader of the table alone.
constexpr std::array<std::string_view, 3> kSilent = {"source_where", "params_b", "alt_time_to_train_min"};

constexpr std::array<std::string_view, 3> kNeeded = {"measured_quantity", "measured_value", "n_gpus"};

bool is_known(std::string_view column) {
  const auto named = [&](const auto& entry) { return entry.name == column; };
  return std::any_of(kTexts.begin(), kTexts.end(), named) ||
         std::any_of(kNumbers.begin(), kNumbers.end(), named) ||
         std::find(kSilent.begin(), kSilent.end(), column) != kSilent.end();
}

// Where a table's columns stand.
struct Reader {
  explicit Reader(const CsvFile& csv) {
    for (std::size_t i = 0; i < kTexts.size(); ++i) texts[i] = csv.find_column(kTexts[i].name);
    for (std::size_t i = 0; i < kNumbers.size(); ++i) numbers[i] = csv.find_column(kNumbers[i].name);
  }

  RunRow read(const CsvFile& csv) const {
    RunRow row;
    row.line = csv.line();
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
      if (texts[i]) row.*kTexts[i].member = std::string(csv[*texts[i]]);
    }
    for (std::size_t i = 0; i < kNumbers.size(); ++i) {
      if (!numbers[i] || csv[*numbers[i]].empty()) continue;
      const std::string_view cell = csv[*numbers[i]];
      row.*kNumbers[i].member = csv_number(cell);
      if (!(row.*kNumbers[i].member) && row.broken.empty()) {
        row.broken = std::string(kNumbers[i].name) + " " + in_quotes(cell);
      }
    }
    if (row.id.empty()) row.id = "line " + std::to_string(row.line);
    return row;
  }

  std::array<std::optional<std::size_t>, kTexts.size()> texts;
  std::array<std::optional<std::size_t>, kNumbers.size()> numbers;
};

RunTable read_rows(CsvFile csv) {
  for (const std::string_view column : kNeeded) csv.column(column);
  RunTable table;
  table.file = csv.name();
  for (const std::string& column : csv.header()) {
    if (!is_known(column)) table.unknown_columns.push_back(column);
  }
  const Reader reader(csv);
  while (csv.next()) table.rows.push_back(reader.read(csv));
  return table;
}

}  // namespace

bool is_run_table(const std::vector<std::string>& header) {
  return std::all_of(kNeeded.begin(), kNeeded.end(), [&](std::string_view column) {
    return std::find(header.begin(), header.end(), column) != header.end();
  });
}

RunTable read_run_table(const std::filesystem::path& file) {
  return read_rows(CsvFile::open(file.string()));
}

RunTable parse_run_table(std::string name, std::string text) {
  return read_rows(CsvFile(std::move(name), std::move(text)));
}

}  // namespace trainfront::inputs
