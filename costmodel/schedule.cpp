#include "costmodel/schedule.hpp"

#include <algorithm>
#include <limits>

namespace trainfront::costmodel {
namespace {

StageOrder gpipe_order(int micro_batches) {
  StageOrder order;
  for (const Work work : {Work::kForward, Work::kInputGradient}) {
    for (int i = 0; i < micro_batches; ++i) order.push_back({work, 0, i});
  }
  return order;
}

// `warm` forwards, then forward and backward in turn, then the backwards that are left.
template <class Forward, class Backward>
StageOrder warm_steady_drain(int warm, int total, Forward forward, Backward backward) {
  StageOrder order;
  warm = std::min(warm, total);
  for (int i = 0; i < warm; ++i) order.push_back(forward(i));
  for (int i = warm; i < total; ++i) {
    order.push_back(forward(i));
    order.push_back(backward(i - warm));
  }
  for (int i = total - warm; i < total; ++i) order.push_back(backward(i));
  return order;
}

// Groups of `stages` micro-batches; where that does not divide them, the next larger equal groups (PyTorch,
// ScheduleInterleaved1F1B).
StageOrder interleaved_order(int stages, int chunks, int stage, int micro_batches) {
  const int group = micro_batches / std::max(1, micro_batches / stages);
  const auto chunk = [=](int i) { return i / group % chunks; };
  const auto micro_batch = [=](int i) { return i / (group * chunks) * group + i % group; };
  const int warm = 2 * (stages - 1 - stage) + (chunks - 1) * group;
  return warm_steady_drain(
      warm, micro_batches * chunks,
      [=](int i) {
        return StageOperation{Work::kForward, chunk(i), micro_batch(i)};
      },
      [=](int i) {
        return StageOperation{Work::kInputGradient, chunks - 1 - chunk(i), micro_batch(i)};
      });
}

// ZB-1p by hand: 1F1B with each weight gradient `stage` micro-batches behind its input gradient.
StageOrder zero_bubble_order(int stages, int stage, int micro_batches) {
  const StageOrder plain = stage_order(Schedule::k1f1b, stages, 1, stage, micro_batches);
  StageOrder order;
  for (const StageOperation& operation : plain) {
    order.push_back(operation);
    const int due = operation.micro_batch - stage;
    if (operation.work == Work::kInputGradient && due >= 0) order.push_back({Work::kWeightGradient, 0, due});
  }
  for (int i = std::max(0, micro_batches - stage); i < micro_batches; ++i) {
    order.push_back({Work::kWeightGradient, 0, i});
  }
  return order;
}

}  // namespace

StageOrder stage_order(Schedule schedule, int stages, int chunks, int stage, int micro_batches) {
  switch (schedule) {
    case Schedule::kGpipe:
      return gpipe_order(micro_batches);
    case Schedule::kZeroBubble:
      return zero_bubble_order(stages, stage, micro_batches);
    case Schedule::kInterleaved:
      return interleaved_order(stages, chunks, stage, micro_batches);
    case Schedule::k1f1b:
      break;
  }
  return warm_steady_drain(
      stages - 1 - stage, micro_batches,
      [](int i) {
        return StageOperation{Work::kForward, 0, i};
      },
      [](int i) {
        return StageOperation{Work::kInputGradient, 0, i};
      });
}

std::vector<StageOrder> greedy_zero_bubble_orders(std::span<const StageTime> stages, int micro_batches,
                                                  int in_flight) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const int p = static_cast<int>(stages.size());
  const auto at = [](int s) { return static_cast<std::size_t>(s); };
  std::vector<StageOrder> orders(stages.size());
  std::vector<double> free(stages.size(), 0.0);
  std::vector<int> forwards(stages.size(), 0), inputs(stages.size(), 0), weights(stages.size(), 0);
  // When a stage's next forward or input gradient can start: its neighbours' ends, by micro-batch.
  std::vector<std::vector<double>> forward_end(stages.size()), input_end(stages.size());
  const auto forward_ready = [&](int s) {
    if (forwards[at(s)] == micro_batches || forwards[at(s)] - weights[at(s)] >= in_flight) return kNever;
    if (s == 0) return 0.0;
    const auto& before = forward_end[at(s - 1)];
    return static_cast<std::size_t>(forwards[at(s)]) < before.size() ? before[at(forwards[at(s)])] : kNever;
  };
  const auto input_ready = [&](int s) {
    if (inputs[at(s)] >= forwards[at(s)]) return kNever;
    if (s == p - 1) return forward_end[at(s)][at(inputs[at(s)])];
    const auto& after = input_end[at(s + 1)];
    return static_cast<std::size_t>(inputs[at(s)]) < after.size() ? after[at(inputs[at(s)])] : kNever;
  };
  const auto next_start = [&](int s) {
    const double weight = weights[at(s)] < inputs[at(s)] ? 0.0 : kNever;
    return std::max(free[at(s)], std::min({forward_ready(s), input_ready(s), weight}));
  };
  while (true) {
    // The stage that can act first acts; what it finds ready then is all it can know of.
    int chosen = 0;
    for (int s = 1; s < p; ++s) {
      if (next_start(s) < next_start(chosen)) chosen = s;
    }
    const double now = next_start(chosen);
    if (now == kNever) return orders;
    const auto i = at(chosen);
    const StageTime& time = stages[i];
    if (input_ready(chosen) <= now) {
      orders[i].push_back({Work::kInputGradient, 0, inputs[i]++});
      free[i] = now + time.input_gradient_s;
      input_end[i].push_back(free[i]);
    } else if (forward_ready(chosen) <= now) {
      orders[i].push_back({Work::kForward, 0, forwards[i]++});
      free[i] = now + time.forward_s;
      forward_end[i].push_back(free[i]);
    } else {
      orders[i].push_back({Work::kWeightGradient, 0, weights[i]++});
      free[i] = now + time.weight_gradient_s;
    }
  }
}

Graph pipeline_graph(std::span<const StageOrder> orders, std::span<const StageTime> times, double transfer_s,
                     bool splits_backward) {
  const int p = static_cast<int>(orders.size());
  const int chunks = static_cast<int>(times.size()) / p;
  int micro_batches = 0;
  for (const StageOperation& operation : orders.front()) {
    micro_batches = std::max(micro_batches, operation.micro_batch + 1);
  }
  Graph graph(p);
  // Node of a pass at a position of the pipeline (chunk * p + stage), for a micro-batch.
  std::vector<int> forward(times.size() * static_cast<std::size_t>(micro_batches), -1);
  std::vector<int> backward(forward.size(), -1);
  const auto slot = [&](int position, int micro_batch) {
    return static_cast<std::size_t>(position) * static_cast<std::size_t>(micro_batches) +
           static_cast<std::size_t>(micro_batch);
  };
  for (int s = 0; s < p; ++s) {
    for (const StageOperation& operation : orders[static_cast<std::size_t>(s)]) {
      const int position = operation.chunk * p + s;
      const StageTime& time = times[static_cast<std::size_t>(position)];
      GraphNode node{s, 0, operation.work, s, operation.chunk, operation.micro_batch};
      switch (operation.work) {
        case Work::kForward:
          node.seconds = time.forward_s;
          forward[slot(position, operation.micro_batch)] = graph.add(node);
          break;
        case Work::kInputGradient:
          node.seconds = splits_backward ? time.input_gradient_s : time.backward_s();
          backward[slot(position, operation.micro_batch)] = graph.add(node);
          break;
        default:
          node.seconds = time.weight_gradient_s;
          graph.add(node);
      }
    }
  }
  const int positions = p * chunks;
  for (int position = 0; position < positions; ++position) {
    for (int i = 0; i < micro_batches; ++i) {
      const std::size_t here = slot(position, i);
      if (position > 0) graph.depend(forward[slot(position - 1, i)], forward[here], transfer_s);
      if (position + 1 < positions) {
        graph.depend(backward[slot(position + 1, i)], backward[here], transfer_s);
      } else {
        graph.depend(forward[here], backward[here]);
      }
    }
  }
  return graph;
}

Graph pipeline_graph(Schedule schedule, std::span<const StageTime> times, int stages, int micro_batches,
                     double transfer_s) {
  const int chunks = static_cast<int>(times.size()) / stages;
  std::vector<StageOrder> orders;
  for (int s = 0; s < stages; ++s) orders.push_back(stage_order(schedule, stages, chunks, s, micro_batches));
  return pipeline_graph(orders, times, transfer_s, schedule == Schedule::kZeroBubble);
}

}  // namespace trainfront::costmodel
