// The search's inner loops by themselves (Google Benchmark). "items" are plans.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "faults/cycle.hpp"
#include "faults/cycle_kernel.hpp"
#include "search/cycle_vector.hpp"
#include "search/front.hpp"

namespace {

using namespace trainfront;

// Columns of SPARe r 2 .. columns + 1 on 256 groups, laid out as the walk does.
struct Columns {
  explicit Columns(std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) {
      tables.push_back(faults::cycle_table(
          256, {.scheme = faults::Scheme::kSpare, .r = 2 + static_cast<int>(j % 19)}, {}));
      const faults::CycleTable& table = tables.back();
      const faults::CycleColumn& column = table.columns[0];
      const auto terms = faults::environment_terms(
          {.group_mtbf_s = 2e6, .restart_s = 600, .save_s = 10, .detect_s = 60, .reorder_s = 0.2});
      const auto sums = faults::cycle_sums(table, column, {2.0, 30.0}, terms.masked_s);
      const auto rate = faults::cycle_rate(sums, terms);
      const std::array<double, 17> values = {
          sums.work_rate,    sums.patch_steps, sums.shared,       sums.shared_twice, sums.most_shared,
          sums.last_patch_s, sums.step_s,      rate.failure_rate, rate.efficiency,   rate.interval,
          rate.losing,       rate.cycle,       sums.patch_rate,   sums.again,        sums.again_twice,
          sums.last_again_s, sums.left_share};
      for (std::size_t i = 0; i < values.size(); ++i) arrays[i].push_back(values[i]);
    }
    times.resize(count);
  }
  search::SumArrays sums() {
    return {.work_rate = arrays[0].data(),
            .patch_steps = arrays[1].data(),
            .shared = arrays[2].data(),
            .shared_twice = arrays[3].data(),
            .patch_rate = arrays[12].data(),
            .again = arrays[13].data(),
            .again_twice = arrays[14].data(),
            .most_shared = arrays[4].data(),
            .last_patch_s = arrays[5].data(),
            .last_again_s = arrays[15].data(),
            .left_share = arrays[16].data(),
            .step_s = arrays[6].data(),
            .seconds = nullptr,
            .gained = nullptr};
  }
  search::RateArrays rates() const {
    return {.failure_rate = arrays[7].data(),
            .efficiency = arrays[8].data(),
            .interval = arrays[9].data(),
            .losing = arrays[10].data(),
            .cycle = arrays[11].data()};
  }

  std::vector<faults::CycleTable> tables;
  std::array<std::vector<double>, 17> arrays;
  std::vector<double> times;
};

// Time-to-train of one step under so many protections, and the least of them.
void kernel(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  Columns columns(count);
  double steps = 1e6;
  for (auto _ : state) {
    search::run_times(count, columns.sums(), columns.rates(), steps, columns.times.data());
    benchmark::DoNotOptimize(search::least_of(columns.times.data(), count));
    steps += 1;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(kernel)->Arg(20)->Arg(44)->Arg(256);

// The same, one by one.
void kernel_scalar(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  Columns columns(count);
  double steps = 1e6;
  for (auto _ : state) {
    double least = 1e300;
    for (const faults::CycleTable& table : columns.tables) {
      const double time =
          faults::run_time(
              table, {2.0, 30.0},
              {.group_mtbf_s = 2e6, .restart_s = 600, .save_s = 10, .detect_s = 60, .reorder_s = 0.2}, steps)
              .time_s;
      least = time < least ? time : least;
    }
    benchmark::DoNotOptimize(least);
    steps += 1;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(kernel_scalar)->Arg(44);

// A front of so many points.
search::Front front_of(std::int64_t points) {
  std::vector<search::Point> all;
  for (std::int64_t i = points; i > 0; --i) {
    const double t = static_cast<double>(i);
    all.push_back({t, 1e6 / t, static_cast<std::uint64_t>(i)});
  }
  search::Front front;
  front.add_all(all);
  return front;
}

void front_dominated_from(benchmark::State& state) {
  const search::Front front = front_of(state.range(0));
  double usd_per_s = 0.01;
  for (auto _ : state) {
    benchmark::DoNotOptimize(front.dominated_from(usd_per_s));
    usd_per_s = usd_per_s < 100 ? usd_per_s * 1.01 : 0.01;
  }
}
BENCHMARK(front_dominated_from)->Arg(10)->Arg(1000)->Arg(1'000'000);

void front_merge(benchmark::State& state) {
  const search::Front front = front_of(state.range(0));
  for (auto _ : state) {
    search::Front merged = front;
    merged.merge(front);
    benchmark::DoNotOptimize(merged);
  }
  state.SetItemsProcessed(state.iterations() * 2 * static_cast<std::int64_t>(front.points().size()));
}
BENCHMARK(front_merge)->Arg(10)->Arg(1000)->Arg(1'000'000);

// Pieces of a hundred points in no order, all of which stay, until there are so many.
void front_build(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    search::Front front;
    std::vector<search::Point> piece;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t number = i * 611'953 % count;
      piece.push_back({static_cast<double>(number + 1), static_cast<double>(2 * count - number), number});
      if (piece.size() < static_cast<std::size_t>(state.range(1))) continue;
      front.add_all(piece);
      piece.clear();
    }
    front.add_all(piece);
    benchmark::DoNotOptimize(front);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(front_build)->Args({1000, 100})->Args({100'000, 1000})->Args({1'000'000, 20'000});

}  // namespace

BENCHMARK_MAIN();
