#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trainfront::inputs {

// One measured training run as its table states it. Absent: the cell is blank or the table has no such
// column.
struct RunRow {
  std::string id, source, framework, model_name, gpu, interconnect, precision, zero, recompute, schedule,
      cp_type;
  std::string quantity;  // of `measured`: step_time_s, tokens_per_s_per_gpu, tflops_per_gpu, mfu_pct
  std::string notes, quality, split, flop_convention;
  std::string status;  // how the run ended: blank, ok or ran; failed (whatever the cause); oom

  std::optional<double> year;
  std::optional<double> layers, hidden, ffn, heads, kv_heads, head_dim, vocab, sequence_length, gated,
      tied_embeddings;
  std::optional<double> experts, experts_per_token, expert_ffn;
  std::optional<double> gpus, gpus_per_node, global_batch, micro_batch;
  std::optional<double> tp, sp, pp, vpp, cp, ep, etp, dp;
  std::optional<double> islands, inner_steps, wan_gbps;
  std::optional<double> measured, alt_step_time_s, alt_tokens_per_s_per_gpu, alt_tflops_per_gpu, alt_mfu_pct;

  std::size_t line = 0;
  std::string broken;  // the first cell that should be a number and is not: "n_gpus "8x""
};

struct RunTable {
  std::string file;
  std::vector<RunRow> rows;
  std::vector<std::string> unknown_columns;  // ignored
};

// True if the header is that of a run table: it says what was measured, how much, and on how many GPUs.
bool is_run_table(const std::vector<std::string>& header);

// Reads by header; the order of columns does not matter. std::runtime_error if the file cannot be read;
// CsvError if it is no CSV or lacks a column that every run needs. A record with a wrong number of fields is
// a CsvError too.
RunTable read_run_table(const std::filesystem::path& file);

// The same for text in memory.
RunTable parse_run_table(std::string name, std::string text);

}  // namespace trainfront::inputs
