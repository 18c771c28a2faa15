#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/job.hpp"
#include "engine/transport.hpp"
#include "search/space.hpp"

namespace trainfront::engine {

// A sweep file read on all ranks, and the space that it spans.
struct LoadedSweep {
  search::Space space;
  std::vector<std::string> notes;
  std::uint64_t fingerprint = 0;  // of the sweep file, the files that it names, and the probability
};

// `probability`, unless empty, is what --probability says in place of the file's. Throws UsageError.
// Collective. All ranks must read the same bytes. `look_up`, unless empty: search::LayoutLimits'. Throws
// SharedFailure.
LoadedSweep load_sweep(World& world, const std::filesystem::path& file, const std::string& probability = {},
                       const std::function<void()>& look_up = {});

// In one process.
LoadedSweep load_sweep(const std::filesystem::path& file, const std::string& probability = {},
                       const std::function<void()>& look_up = {});

// Walks the whole space; the counts hold the plans without an index too. Collective.
JobResult run_sweep_job(World& world, const LoadedSweep& sweep, bool brute_force, const JobOptions& options);

// "auto", "bar", "plain", "none". Throws UsageError.
ProgressMode parse_progress(const std::string& text);

}  // namespace trainfront::engine
