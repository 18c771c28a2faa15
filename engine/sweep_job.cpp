#include "engine/sweep_job.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "engine/atomic_file.hpp"
#include "engine/errors.hpp"
#include "engine/fingerprint.hpp"
#include "engine/goal_options.hpp"
#include "inputs/diagnostics.hpp"
#include "inputs/document.hpp"
#include "inputs/sweep_file.hpp"
#include "search/walk.hpp"

namespace trainfront::engine {
namespace {

// What is hashed of a sweep file: its values, so that comments and the order of the sections may change, and
// for every text that names a file beside it what that file holds.
class InputHash {
 public:
  explicit InputHash(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::uint64_t of(const inputs::Value& root) {
    std::vector<const inputs::Value::Member*> sections;
    for (const inputs::Value::Member& section : root.members) sections.push_back(&section);
    std::sort(sections.begin(), sections.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
    for (const inputs::Value::Member* section : sections) {
      for (const inputs::Value::Member& member : section->value.members) {
        if (section->key == "goal" && is_asked_of_the_front(member.key)) continue;
        add(section->key);
        add(member);
      }
    }
    return hash_;
  }

 private:
  // A deadline and a budget choose from the front; they do not change it.
  static bool is_asked_of_the_front(const std::string& goal) {
    return goal == "deadline" || goal == "budget";
  }

  void add(std::string_view text) {
    hash_ = fingerprint(text, fingerprint(std::to_string(text.size()), hash_));
  }

  void add(const inputs::Value::Member& member) {
    add(member.key);
    add(member.value);
  }

  void add(const inputs::Value& value) {
    add(inputs::describe(value));  // kind, numbers
    add(value.text);
    add(std::to_string(value.members.size()));
    if (value.kind == inputs::Value::Kind::kText && !value.text.empty()) {
      std::error_code error;
      const std::filesystem::path path = folder_ / value.text;
      if (std::filesystem::is_regular_file(path, error)) add(read_file(path));
    }
    for (const inputs::Value& item : value.items) add(item);
    for (const inputs::Value::Member& member : value.members) add(member);
  }

  std::filesystem::path folder_;
  std::uint64_t hash_ = kFingerprintSeed;
};

std::uint64_t input_fingerprint(const std::filesystem::path& file) {
  inputs::Diagnostics faults;
  const inputs::Document document = inputs::parse_toml(read_file(file), file.string(), faults);
  return InputHash(file.parent_path()).of(document.root);
}

}  // namespace

LoadedSweep load_sweep(const std::filesystem::path& file, const std::string& probability,
                       const std::function<void()>& look_up) {
  const auto wanted = parse_probability_option("--probability", probability);
  inputs::SweepFile read = inputs::read_sweep_file(file);
  std::uint64_t hash = input_fingerprint(file);
  // The front depends on it, wherever it was said.
  if (wanted) {
    read.problem.goal.probability = wanted;
    hash = fingerprint(fmt::format("probability {}", *wanted), hash);
  }
  search::LayoutLimits limits;
  limits.look_up = look_up;
  return {search::Space(std::move(read.problem), limits), std::move(read.notes), hash};
}

LoadedSweep load_sweep(World& world, const std::filesystem::path& file, const std::string& probability,
                       const std::function<void()>& look_up) {
  LoadedSweep sweep = world.together([&] { return load_sweep(file, probability, look_up); });
  const auto mine = std::bit_cast<std::int64_t>(sweep.fingerprint);
  const bool same = world.lowest(mine) == mine && ~world.lowest(~mine) == mine;
  world.together([&] {
    if (same) return true;
    throw MachineError(fmt::format("{} or a file that it names reads differently on different machines ({})",
                                   file.string(), world.host()));
  });
  return sweep;
}

JobResult run_sweep_job(World& world, const LoadedSweep& sweep, bool brute_force, const JobOptions& options) {
  const search::Space& space = sweep.space;
  JobWork work;
  work.plans = space.size();
  work.excluded = search::excluded_counts(space).plans;
  work.blocks = space.blocks();
  work.problem = sweep.fingerprint;
  work.walker = [&space, brute_force](std::uint64_t first, std::uint64_t last, const search::Front& incumbent,
                                      search::Harvest& harvest, const std::function<bool()>& give_up) {
    return search::walk(space, first, last, incumbent, {brute_force, give_up}, harvest);
  };
  JobResult result = run_job(world, work, options);
  result.harvest.counts += search::excluded_counts(space);
  return result;
}

ProgressMode parse_progress(const std::string& text) {
  if (text == "auto") return ProgressMode::kAuto;
  if (text == "bar") return ProgressMode::kBar;
  if (text == "plain") return ProgressMode::kPlain;
  if (text == "none") return ProgressMode::kNone;
  throw UsageError(
      fmt::format("--progress: {} found; auto, bar, plain or none are allowed", inputs::in_quotes(text)));
}

}  // namespace trainfront::engine
