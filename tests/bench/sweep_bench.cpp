// Walks whole sweep files and prints what it took: sweep_bench [--threads N] [--brute-force] [--again]
// [--table]
// [--blocks N] [--piece N] SWEEP.toml...
#include <fmt/core.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "inputs/sweep_file.hpp"
#include "search/walk.hpp"

namespace {

using namespace trainfront;
using Clock = std::chrono::steady_clock;

struct Options {
  int threads = 1;
  bool brute_force = false;
  bool again = false;        // once more, knowing the front
  bool table = false;        // a row of docs/performance.md's table
  std::uint64_t blocks = 0;  // 0: all; else so many pieces, evenly spread
  std::uint64_t piece = 64;  // blocks that a thread walks at once
  std::vector<std::string> files;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--threads" && i + 1 < argc) {
      options.threads = std::atoi(argv[++i]);
    } else if (argument == "--blocks" && i + 1 < argc) {
      options.blocks = static_cast<std::uint64_t>(std::atoll(argv[++i]));
    } else if (argument == "--piece" && i + 1 < argc) {
      options.piece = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::atoll(argv[++i])));
    } else if (argument == "--brute-force") {
      options.brute_force = true;
    } else if (argument == "--again") {
      options.again = true;
    } else if (argument == "--table") {
      options.table = true;
    } else {
      options.files.emplace_back(argument);
    }
  }
  return options;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of all threads; what a machine that others use too would have taken alone.
double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Threads take blocks from a counter and share the front when a block is done.
search::Harvest walk_all(const search::Space& space, const Options& options, const search::Front& known) {
  const std::uint64_t stride =
      options.blocks > 0 ? std::max(options.piece, space.blocks() / options.blocks) : options.piece;
  std::atomic<std::uint64_t> next{0};
  std::mutex guard;
  search::Harvest whole;
  whole.front = known;
  const auto work = [&] {
    search::Front incumbent = known;
    search::Harvest mine;
    for (std::uint64_t block = next.fetch_add(stride); block < space.blocks();
         block = next.fetch_add(stride)) {
      search::walk(space, block, block + options.piece, incumbent, {.brute_force = options.brute_force},
                   mine);
      const std::lock_guard lock{guard};
      whole.merge(mine);
      incumbent = whole.front;
      mine = {};
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < options.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return whole;
}

void report(const std::string& file, const search::Space& space, const search::Harvest& harvest,
            const Options& options, double setup_s, double walk_s, double cpu_s) {
  const search::Counts& counts = harvest.counts;
  const double plans = static_cast<double>(counts.plans);
  const double evaluated = static_cast<double>(counts.evaluated);
  std::uint64_t illegal = 0, pruned = 0;
  for (std::uint64_t n : counts.illegal) illegal += n;
  for (std::uint64_t n : counts.pruned) pruned += n;
  fmt::print("{}: {:.3g} plans, {} blocks, {} threads{}\n", file, static_cast<double>(space.size()),
             space.blocks(), options.threads, options.brute_force ? ", brute force" : "");
  fmt::print("  set up {:.2f} s, walk {:.2f} s ({:.2f} s of processor), peak memory {:.0f} MB\n", setup_s,
             walk_s, cpu_s, peak_memory_mb());
  fmt::print("  {:.4g} M plans covered and {:.4g} M evaluated per second of processor\n", plans / cpu_s / 1e6,
             evaluated / cpu_s / 1e6);
  fmt::print(
      "  illegal {:.4g}, out of memory {:.4g}, evaluated {:.4g} ({:.2g} of the plans), pruned {:.4g}, not "
      "finite {:.4g}\n",
      static_cast<double>(illegal), static_cast<double>(counts.out_of_memory), evaluated, evaluated / plans,
      static_cast<double>(pruned), static_cast<double>(counts.non_finite));
  for (int bound = 0; bound < search::kBounds; ++bound)
    fmt::print("  pruned by {}: {:.4g}\n", search::bound_name(static_cast<search::Bound>(bound)),
               static_cast<double>(counts.pruned[static_cast<std::size_t>(bound)]));
  fmt::print("  front of {} points", harvest.front.points().size());
  if (!harvest.front.empty()) {
    const auto& fastest = harvest.front.points().front();
    const auto& cheapest = harvest.front.points().back();
    fmt::print(", {:.1f} d for ${:.3g} M to {:.1f} d for ${:.3g} M", fastest.time_s / 86400,
               fastest.cost_usd / 1e6, cheapest.time_s / 86400, cheapest.cost_usd / 1e6);
  }
  fmt::print("\n");
}

void row(const std::string& file, const search::Space& space, const search::Harvest& harvest,
         const Options& options, double setup_s, double walk_s, double cpu_s) {
  const search::Counts& counts = harvest.counts;
  std::uint64_t pruned = 0;
  for (std::uint64_t n : counts.pruned) pruned += n;
  const auto evaluated = static_cast<double>(counts.evaluated);
  const double evaluable = evaluated + static_cast<double>(pruned);
  fmt::print("| {}{} | {:.3g} | {} | {:.2f} | {:.2f} | {:.3g} | {:.3g} | {:.3g} | {:.2g} % | {:.0f} | {} |\n",
             file.substr(file.find_last_of('/') + 1), options.brute_force ? ", brute force" : "",
             static_cast<double>(space.size()), options.threads, setup_s + walk_s, cpu_s + setup_s,
             static_cast<double>(counts.plans) / cpu_s / 1e6, evaluated / cpu_s / 1e6, evaluable,
             evaluable > 0 ? 100 * evaluated / evaluable : 0, peak_memory_mb(),
             harvest.front.points().size());
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  for (const std::string& file : options.files) {
    const auto start = Clock::now();
    const search::Space space{inputs::read_sweep_file(file).problem};
    const double setup_s = seconds_since(start);
    const auto walking = Clock::now();
    const double cpu_before_s = cpu_seconds();
    const search::Harvest harvest = walk_all(space, options, {});
    const auto print = options.table ? row : report;
    print(file, space, harvest, options, setup_s, seconds_since(walking), cpu_seconds() - cpu_before_s);
    if (!options.again) continue;
    // What the walk's own search for a front costs: tables that are warm both times.
    for (const bool known : {false, true}) {
      const auto begin = Clock::now();
      const double cpu_begin_s = cpu_seconds();
      const search::Harvest same = walk_all(space, options, known ? harvest.front : search::Front{});
      print(file + (known ? ", again, the front known" : ", again"), space, same, options, 0,
            seconds_since(begin), cpu_seconds() - cpu_begin_s);
    }
  }
  return options.files.empty() ? 2 : 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
