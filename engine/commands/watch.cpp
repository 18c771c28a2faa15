#include "engine/commands/watch.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "engine/atomic_file.hpp"
#include "engine/errors.hpp"
#include "engine/goal_options.hpp"
#include "engine/reports/json_writer.hpp"
#include "engine/status.hpp"
#include "engine/status_reader.hpp"
#include "engine/terminal.hpp"
#include "engine/wall_clock.hpp"

namespace trainfront::engine {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

int status_of(Observed::State state) {
  switch (state) {
    case Observed::State::kRunning:
    case Observed::State::kFinished:
      return kDone;
    case Observed::State::kStopped:
      return kResumable;
    case Observed::State::kDead:
      return kInternalError;
  }
  return kInternalError;
}

// status.json itself; of a dead sweep, with what it could not write.
std::string observed_json(const Observed& seen) {
  if (seen.state != Observed::State::kDead) return seen.text;
  const std::string running = R"("state": "running")";
  std::string text = seen.text;
  const std::size_t at = text.find(running);
  if (at == std::string::npos) return text;
  JsonWriter because;
  because.value(std::string_view(seen.dead_because));
  std::string quoted = because.take();
  quoted.pop_back();
  return text.replace(at, running.size(), fmt::format(R"("state": "dead", "dead_because": {})", quoted));
}

void ask_to_finish(const std::filesystem::path& folder, const Observed& seen) {
  if (seen.state != Observed::State::kRunning) {
    throw UsageError(
        fmt::format("no sweep runs in {0}:\n{1}trainfront sweep SWEEP.toml -o {0} --front-so-far writes what "
                    "it has saved.",
                    folder.string(), observed_text(seen, folder)));
  }
  replace_file(folder / kFinishName, "asked for by trainfront watch --finish\n");
}

}  // namespace

int run_watch(const WatchOptions& options) {
  const std::filesystem::path folder = options.folder;
  const double every_s = *parse_duration_option("--every", options.every);
  const std::string host = host_name();
  const auto look = [&] { return observe(folder, utc_seconds(), host); };

  Observed seen = look();
  if (options.finish) ask_to_finish(folder, seen);
  const bool follows = !options.once && (!options.json || options.finish);
  const bool redraws = is_terminal(1);
  std::size_t lines = 0;  // drawn, to be drawn over
  for (;; seen = look()) {
    const bool last = !follows || seen.state != Observed::State::kRunning;
    if (!options.json) {
      const std::string text = observed_text(seen, folder);
      if (redraws && lines > 0) print(fmt::format("\033[{}A\033[J", lines));
      print(text);
      std::fflush(stdout);
      lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    } else if (last) {
      print(observed_json(seen));
    }
    if (last) return status_of(seen.state);
    std::this_thread::sleep_for(std::chrono::duration<double>(every_s));
  }
}

}  // namespace trainfront::engine
