#include "costmodel/graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "costmodel/pipeline_time.hpp"
#include "costmodel/schedule.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

using Stages = std::vector<StageTime>;

double graph_time(Schedule schedule, const Stages& times, int stages, int micro_batches,
                  double transfer_s = 0) {
  const Timeline timeline = run_graph(pipeline_graph(schedule, times, stages, micro_batches, transfer_s));
  REQUIRE(timeline.complete);
  return timeline.length_s;
}

// Times are whole numbers, so that sums are exact and equality means equality.
class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}

  int between(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }
  StageTime stage() {
    return {static_cast<double>(between(1, 40)), static_cast<double>(between(1, 40)),
            static_cast<double>(between(0, 30))};
  }
  Stages stages(int count) {
    Stages result;
    for (int i = 0; i < count; ++i) result.push_back(stage());
    return result;
  }
  // Alike but for the ends, which have an embedding and a head more.
  Stages ends_differ(int count) {
    Stages result(static_cast<std::size_t>(count), stage());
    result.front().forward_s += between(0, 5);
    result.front().input_gradient_s += between(0, 5);
    result.back().forward_s += between(0, 20);
    result.back().input_gradient_s += between(0, 20);
    result.back().weight_gradient_s += between(0, 20);
    return result;
  }

 private:
  std::mt19937 random_;
};

TEST_CASE("two resources by hand: the longest path goes through the delay") {
  Graph graph(2);
  const int a = graph.add({.resource = 0, .seconds = 2});
  const int b = graph.add({.resource = 0, .seconds = 1});
  const int c = graph.add({.resource = 1, .seconds = 4});
  graph.depend(a, c, 3);
  const Timeline timeline = run_graph(graph);
  CHECK(timeline.complete);
  CHECK(timeline.length_s == 9);
  CHECK(timeline.start_s[static_cast<std::size_t>(b)] == 2);
  const std::vector<PathStep> path = critical_path(graph, timeline);
  REQUIRE(path.size() == 2);
  CHECK(path[0].node == a);
  CHECK(path[1].node == c);
  CHECK(path[1].delay_s == 3);
}

TEST_CASE("a cycle is noticed") {
  Graph graph(2);
  const int a = graph.add({.resource = 0, .seconds = 1});
  const int b = graph.add({.resource = 1, .seconds = 1});
  graph.depend(a, b);
  graph.depend(b, a);
  CHECK_FALSE(run_graph(graph).complete);
}

TEST_CASE("the path's nodes and delays sum to the graph's length") {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const int p = random.between(1, 6);
    const Graph graph =
        pipeline_graph(Schedule::k1f1b, random.stages(p), p, random.between(1, 12), random.between(0, 9));
    const Timeline timeline = run_graph(graph);
    double sum = 0;
    for (const PathStep& step : critical_path(graph, timeline)) {
      sum += step.delay_s + graph.nodes()[static_cast<std::size_t>(step.node)].seconds;
    }
    REQUIRE(sum == timeline.length_s);
  }
}

TEST_CASE("every stage runs every pass of every micro-batch once") {
  for (const Schedule schedule :
       {Schedule::kGpipe, Schedule::k1f1b, Schedule::kInterleaved, Schedule::kZeroBubble}) {
    const int chunks = schedule == Schedule::kInterleaved ? 3 : 1;
    for (int s = 0; s < 4; ++s) {
      StageOrder order = stage_order(schedule, 4, chunks, s, 8);
      CHECK(order.size() ==
            static_cast<std::size_t>(8 * chunks * (schedule == Schedule::kZeroBubble ? 3 : 2)));
      for (int c = 0; c < chunks; ++c) {
        for (int m = 0; m < 8; ++m) {
          CHECK(std::count(order.begin(), order.end(), StageOperation{Work::kForward, c, m}) == 1);
          CHECK(std::count(order.begin(), order.end(), StageOperation{Work::kInputGradient, c, m}) == 1);
        }
      }
    }
  }
}

TEST_CASE("GPipe's closed form is the graph, for any stages") {
  Random random(2);
  for (int i = 0; i < 15000; ++i) {
    const int p = random.between(1, 8);
    const int m = random.between(1, 12);
    const Stages stages = random.stages(p);
    REQUIRE(gpipe_time(stages, m) == graph_time(Schedule::kGpipe, stages, p, m));
  }
}

TEST_CASE("1F1B's closed form is the graph, for any stages and any number of micro-batches") {
  Random random(3);
  for (int i = 0; i < 30000; ++i) {
    const int p = random.between(1, 8);
    const int m = random.between(1, 16);
    const Stages stages = random.stages(p);
    const double truth = graph_time(Schedule::k1f1b, stages, p, m);
    REQUIRE(one_f_one_b_time(stages, m) == truth);
    const PipelineCurve curve = one_f_one_b_curve(stages);
    if (m >= curve.min_micro_batches) REQUIRE(curve.time(m) == truth);
  }
}

TEST_CASE("a transfer that stops its sender is part of the sender's pass") {
  Random random(4);
  for (int i = 0; i < 5000; ++i) {
    const int p = random.between(2, 6);
    const int m = random.between(1, 12);
    const Stages stages = random.stages(p);
    const double transfer = random.between(0, 10);
    // By hand: a node each for computing and for sending, on one resource.
    Graph graph(p);
    std::vector<std::vector<int>> forward(static_cast<std::size_t>(p)), backward(static_cast<std::size_t>(p));
    for (int s = 0; s < p; ++s) {
      for (const StageOperation& operation : stage_order(Schedule::k1f1b, p, 1, s, m)) {
        const StageTime& time = stages[static_cast<std::size_t>(s)];
        const bool is_forward = operation.work == Work::kForward;
        int node = graph.add({.resource = s, .seconds = is_forward ? time.forward_s : time.backward_s()});
        (is_forward ? forward : backward)[static_cast<std::size_t>(s)].push_back(node);
        if (is_forward ? s + 1 < p : s > 0) {
          (is_forward ? forward : backward)[static_cast<std::size_t>(s)].back() =
              graph.add({.resource = s, .seconds = transfer});
          // What must wait for data waits for the sending; what must precede is the computing.
          graph.depend(node, node + 1);
        }
      }
    }
    const auto computing = [&](int s, int node, bool is_forward) {
      return (is_forward ? s + 1 < p : s > 0) ? node - 1 : node;
    };
    for (int s = 0; s + 1 < p; ++s) {
      const auto here = static_cast<std::size_t>(s);
      for (std::size_t k = 0; k < static_cast<std::size_t>(m); ++k) {
        graph.depend(forward[here][k], computing(s + 1, forward[here + 1][k], true));
        graph.depend(backward[here + 1][k], computing(s, backward[here][k], false));
      }
    }
    const PipelineCurve curve = pipeline_curve(Schedule::k1f1b, stages, p, transfer, true);
    const double truth = run_graph(graph).length_s;
    if (m >= curve.min_micro_batches) REQUIRE(curve.time(m) == truth);
  }
}

TEST_CASE("interleaved: equal chunks, transfers shorter than a chunk's work: the closed form is the graph") {
  Random random(5);
  for (int i = 0; i < 10000; ++i) {
    const int p = random.between(2, 6);
    const int v = random.between(2, 4);
    const int m = p * random.between(2, 4);
    const StageTime stage = random.stage();
    const Stages chunks(static_cast<std::size_t>(p * v), stage);
    const double transfer =
        random.between(0, static_cast<int>(std::min(stage.forward_s, stage.backward_s()) / 2));
    REQUIRE(interleaved_curve(chunks, p, transfer).time(m) ==
            graph_time(Schedule::kInterleaved, chunks, p, m, transfer));
  }
}

TEST_CASE(
    "interleaved: a head up to three times a chunk, transfers a tenth of it: the closed form is the graph") {
  Random random(6);
  for (int i = 0; i < 10000; ++i) {
    const int p = random.between(2, 6);
    const int v = random.between(2, 4);
    const int m = p * random.between(1, 4);
    const double forward = random.between(100, 150);
    const StageTime stage{forward, forward + random.between(0, 50), forward};
    Stages chunks(static_cast<std::size_t>(p * v), stage);
    chunks.front().forward_s += random.between(0, 10);  // embedding
    chunks.back().forward_s += 30 * random.between(1, 10);
    chunks.back().input_gradient_s += 60 * random.between(1, 10);
    const double transfer = random.between(0, 10);
    REQUIRE(interleaved_curve(chunks, p, transfer).time(m) ==
            graph_time(Schedule::kInterleaved, chunks, p, m, transfer));
  }
}

TEST_CASE("interleaved: for any chunks that differ, exact at one, two and four groups, near beside them") {
  Random random(7);
  for (int i = 0; i < 10000; ++i) {
    const int p = random.between(2, 6);
    const int v = random.between(2, 4);
    const int groups = random.between(1, 8);
    const Stages chunks = random.stages(p * v);
    double shortest = 1000;
    for (const StageTime& chunk : chunks) {
      shortest = std::min({shortest, chunk.forward_s, chunk.backward_s()});
    }
    const double transfer = random.between(0, static_cast<int>(shortest));
    const double truth = graph_time(Schedule::kInterleaved, chunks, p, groups * p, transfer);
    const double closed = interleaved_curve(chunks, p, transfer).time(groups * p);
    if (groups <= 2 || groups == 4) {
      REQUIRE(closed == truth);
    } else {
      REQUIRE(closed == near(truth).epsilon(0.04));
    }
  }
}

TEST_CASE("interleaved: the recurrence is the graph, for any chunks and transfers") {
  Random random(11);
  for (int i = 0; i < 5000; ++i) {
    const int p = random.between(2, 6);
    const int v = random.between(2, 4);
    const int m = p * random.between(1, 4);
    const Stages chunks = random.stages(p * v);
    const double transfer = random.between(0, 60);
    const double truth = graph_time(Schedule::kInterleaved, chunks, p, m, transfer);
    REQUIRE(interleaved_time(chunks, p, m, transfer) == truth);
  }
}

TEST_CASE("interleaved: transfers longer than the passes of equal chunks are within a few per cent") {
  Random random(12);
  for (int i = 0; i < 500; ++i) {
    const int p = random.between(2, 6);
    const int v = random.between(2, 4);
    const int m = p * random.between(2, 12);
    const StageTime stage{100, 100, 80};
    const Stages chunks(static_cast<std::size_t>(p * v), stage);
    const double transfer = random.between(101, 600);
    REQUIRE(interleaved_curve(chunks, p, transfer).time(m) ==
            near(graph_time(Schedule::kInterleaved, chunks, p, m, transfer)).epsilon(0.03));
  }
}

TEST_CASE("interleaved: six micro-batches on four stages run as one group of six") {
  const StageOrder order = stage_order(Schedule::kInterleaved, 4, 2, 0, 6);
  CHECK(order[5] == StageOperation{Work::kForward, 0, 5});
  CHECK(order[6] == StageOperation{Work::kForward, 1, 0});
  const Stages chunks(8, {1, 1, 1});
  CHECK(graph_time(Schedule::kInterleaved, chunks, 4, 6) == 3 * (6 * 2 + 3));
}

TEST_CASE("zero bubble: the recurrence is the graph, for any stages") {
  Random random(8);
  for (int i = 0; i < 10000; ++i) {
    const int p = random.between(1, 8);
    const int m = random.between(1, 14);
    const Stages stages = random.stages(p);
    REQUIRE(zero_bubble_time(stages, m) == graph_time(Schedule::kZeroBubble, stages, p, m));
  }
}

TEST_CASE("zero bubble's curve: the graph where stages are equal, never below it elsewhere") {
  Random random(9);
  for (int i = 0; i < 5000; ++i) {
    const int p = random.between(1, 6);
    const int m = random.between(2 * p, 5 * p);
    const Stages equal(static_cast<std::size_t>(p), random.stage());
    REQUIRE(zero_bubble_curve(equal).time(m) == zero_bubble_time(equal, m));
    const Stages differ = random.ends_differ(p);
    REQUIRE(zero_bubble_curve(differ).time(m) >= zero_bubble_time(differ, m));
  }
}

TEST_CASE(
    "a greedy zero-bubble schedule with twice the memory is never slower than 1F1B by much, and runs to its "
    "end") {
  Random random(10);
  for (int i = 0; i < 500; ++i) {
    const int p = random.between(2, 6);
    const int m = random.between(2 * p, 4 * p);
    const StageTime stage{10.0 + random.between(0, 3), 10.0 + random.between(0, 3),
                          10.0 - random.between(0, 3)};
    const Stages stages(static_cast<std::size_t>(p), stage);
    const auto time = [&](int in_flight) {
      const std::vector<StageOrder> orders = greedy_zero_bubble_orders(stages, m, in_flight);
      for (const StageOrder& order : orders) REQUIRE(order.size() == static_cast<std::size_t>(3 * m));
      const Timeline timeline = run_graph(pipeline_graph(orders, stages, 0, true));
      REQUIRE(timeline.complete);
      return timeline.length_s;
    };
    const double work = m * stage.total();
    REQUIRE(time(2 * p) >= work + (p - 1) * stage.forward_s);
    REQUIRE(time(p) <= one_f_one_b_time(stages, m));
    REQUIRE(time(2 * p) <= time(p));
  }
}

}  // namespace
}  // namespace trainfront::costmodel
