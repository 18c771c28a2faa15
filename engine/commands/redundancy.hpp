#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/transport.hpp"

namespace trainfront::engine {

// Durations are text: seconds, or "90s", "30m", "12h".
struct RedundancyOptions {
  std::string file;  // a sweep file, whose plan gives the system instead of the options
  std::string plan;  // id of a plan of the file; empty: the one that answers its goal
  std::int64_t groups = 0;
  std::string mtbf;  // of the whole system; "inf": nothing fails
  double weibull_shape = 1;
  std::string rate = "falling";  // with the survivors; or constant
  bool failures_in_restart = false;
  std::string placement = "golomb";  // random, consecutive
  std::optional<int> sub_shards;     // a plan's own; else 1
  std::optional<int> k_max;          // a plan's own; else 0
  bool elastic = false;              // a row of elastic shrinking; always for a plan that is elastic
  std::string repair;                // with it: lost groups come back after so long; empty: they do not
  std::string restart = "10m";
  std::string checkpoint = "30s";  // a save
  std::string detect = "0";
  std::string reorder = "0.2";
  std::int64_t checkpoint_every = -1;  // steps; -1: the best interval
  std::string stack_time = "10s";
  std::string sync_time = "0";
  double stack_deviation = 0;
  std::int64_t steps = 10'000;
  std::string r;              // "MIN:MAX" or one number; empty: 2 to 20, or as far as the groups go
  std::int64_t simulate = 0;  // trials
  std::string failures;       // CSV of dated failures, for the simulated runs; empty: by the law
  std::uint64_t seed = 0;
  std::string plot;  // SVG file; empty: none
  int threads = 0;
  bool json = false;
};

// A table over r of what redundancy does for one system: closed forms, and simulations beside them. The
// trials are shared among ranks and threads; the numbers depend on neither. Throws UsageError.
int run_redundancy(const RedundancyOptions& options, World& world);

}  // namespace trainfront::engine
