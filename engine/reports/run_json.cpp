#include "engine/reports/run_json.hpp"

#include <cstdint>
#include <numeric>

#include "engine/reports/json_writer.hpp"
#include "engine/wall_clock.hpp"
#include "search/walk.hpp"

namespace trainfront::engine {

std::string run_json(const RunReport& report, const JobResult& job) {
  const JobFacts& facts = job.facts;
  const search::Counts& counts = job.harvest.counts;
  JsonWriter json;
  json.begin_object().field("schema", 1).field("status", report.status).field("complete", job.complete);
  if (!job.complete) json.field("partial", true).field("stopped_by", name(job.stopped_by));
  json.field("trainfront", TRAINFRONT_VERSION).field("sweep_file", report.sweep_file);
  json.field("started", report.started).field("finished", utc_text(utc_seconds()));
  json.field("elapsed_s", facts.elapsed_s).field("elapsed_all_runs_s", facts.elapsed_all_s);
  json.field("runs", facts.runs).field("ranks", facts.ranks).field("threads_per_rank", facts.threads);
  json.begin_array("hosts");
  for (const std::string& host : facts.hosts) json.value(host);
  json.end_array().field("brute_force", report.brute_force).field("covered", counts.plans);
  // covered = illegal + out_of_memory + evaluated + pruned
  json.field("illegal", std::accumulate(counts.illegal.begin(), counts.illegal.end(), std::uint64_t{0}));
  json.field("out_of_memory", counts.out_of_memory);
  json.field("evaluated", counts.evaluated).begin_object("pruned");
  for (int bound = 0; bound < search::kBounds; ++bound) {
    json.field(search::bound_name(static_cast<search::Bound>(bound)),
               counts.pruned[static_cast<std::size_t>(bound)]);
  }
  json.end_object();
  const auto walked = static_cast<double>(counts.plans - facts.excluded);
  json.field("plans_per_s", facts.elapsed_all_s > 0 ? walked / facts.elapsed_all_s : 0.0);
  json.field("blocks_resumed", facts.blocks_resumed).field("checkpoints", facts.checkpoints);
  json.field("checkpoint_s", facts.checkpoint_s);
  json.field("status_s", facts.status_s).field("bookkeeping_s", facts.bookkeeping_s).begin_array("notes");
  for (const std::string& note : report.notes) json.value(note);
  return json.end_array().end_object().take();
}

}  // namespace trainfront::engine
