#include "costmodel/fit_table.hpp"

#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace trainfront::costmodel {
namespace {

using Triplet = Eigen::Triplet<double>;

// Chosen by cross-validation on the GEMM tables of A100, H100 and B200 (aiconfigurator, 095f58a): results
// move by less than half a point when these move by a factor of 3.
constexpr double kSmoothness = 0.1;  // weight of differences between neighbours, against one sample
constexpr double kPull = 0.02;       // weight of the form, against one sample
constexpr double kOutlier = 0.04;    // errors above this count linearly
constexpr int kFreeRounds = 3;       // without the constraint
constexpr int kConstrainedRounds = 8;
constexpr double kConstraint = 30;  // weight of a fall, grows with the rounds

struct Edge {
  int low = 0, high = 0;  // neighbours along an axis
  double distance = 1;    // octaves
  bool rises = true;
};

std::vector<Edge> edges_of(const TableShape& shape) {
  std::array<int, 3> length{}, stride{};
  for (std::size_t axis = 0; axis < 3; ++axis) length[axis] = static_cast<int>(shape.axes[axis].size());
  stride = {length[1] * length[2], length[2], 1};
  std::vector<Edge> edges;
  for (int node = 0; node < length[0] * stride[0]; ++node) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const int at = node / stride[axis] % length[axis];
      if (at + 1 == length[axis]) continue;
      const auto index = static_cast<std::size_t>(at);
      edges.push_back({node, node + stride[axis], shape.axes[axis][index + 1] - shape.axes[axis][index],
                       shape.rises[axis]});
    }
  }
  return edges;
}

// Adds weight (x_high - x_low - gap)^2.
void add_difference(const Edge& edge, double weight, double gap, std::vector<Triplet>& matrix,
                    Eigen::VectorXd& right) {
  matrix.emplace_back(edge.low, edge.low, weight);
  matrix.emplace_back(edge.high, edge.high, weight);
  matrix.emplace_back(edge.low, edge.high, -weight);
  matrix.emplace_back(edge.high, edge.low, -weight);
  right[edge.high] += weight * gap;
  right[edge.low] -= weight * gap;
}

// Samples of one cell enter the equations as one block.
struct CellSamples {
  struct Row {
    std::array<double, 8> corners;  // their shares
    double value, weight;
  };
  TableCell cell;
  std::vector<Row> rows;
};

std::vector<CellSamples> by_cell(const MonotoneTable& grid, std::span<const TableSample> samples,
                                 const std::vector<double>& node_prior) {
  std::map<std::array<std::size_t, 8>, CellSamples> cells;
  for (const TableSample& sample : samples) {
    const TableCell cell = locate(grid, sample.size[0], sample.size[1], sample.size[2]);
    double value = sample.log_value;
    for (std::size_t i = 0; i < 8; ++i) value -= cell.weight[i] * node_prior[cell.node[i]];
    CellSamples& found = cells[cell.node];
    found.cell = cell;
    found.rows.push_back({cell.weight, value, sample.weight});
  }
  std::vector<CellSamples> list;
  for (auto& [node, cell] : cells) list.push_back(std::move(cell));
  return list;
}

void add_samples(const std::vector<CellSamples>& cells, const Eigen::VectorXd& deviation, bool reweight,
                 std::vector<Triplet>& matrix, Eigen::VectorXd& right) {
  for (const CellSamples& cell : cells) {
    Eigen::Matrix<double, 8, 8> block = Eigen::Matrix<double, 8, 8>::Zero();
    std::array<int, 8> node{};
    for (std::size_t i = 0; i < 8; ++i) node[i] = static_cast<int>(cell.cell.node[i]);
    for (const CellSamples::Row& sample : cell.rows) {
      double error = sample.value;
      for (std::size_t i = 0; i < 8; ++i) error -= sample.corners[i] * deviation[node[i]];
      const double importance =
          reweight ? sample.weight / std::max(std::abs(error) / kOutlier, 1.0) : sample.weight;
      const Eigen::Map<const Eigen::Matrix<double, 8, 1>> row(sample.corners.data());
      block += importance * row * row.transpose();
      for (std::size_t i = 0; i < 8; ++i) right[node[i]] += importance * sample.corners[i] * sample.value;
    }
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 8; ++j) {
        if (block(i, j) != 0) {
          matrix.emplace_back(node[static_cast<std::size_t>(i)], node[static_cast<std::size_t>(j)],
                              block(i, j));
        }
      }
    }
  }
}

void make_monotone(std::vector<double>& values, const std::vector<Edge>& edges) {
  // Edges are sorted by their lower node, and lead upwards: one pass each way reaches every node.
  std::vector<double> above = values, below = values;
  for (const Edge& edge : edges) {
    if (edge.rises)
      above[static_cast<std::size_t>(edge.high)] =
          std::max(above[static_cast<std::size_t>(edge.high)], above[static_cast<std::size_t>(edge.low)]);
  }
  for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
    if (edge->rises)
      below[static_cast<std::size_t>(edge->low)] =
          std::min(below[static_cast<std::size_t>(edge->low)], below[static_cast<std::size_t>(edge->high)]);
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = (above[i] + below[i]) / 2;
}

}  // namespace

MonotoneTable fit_table(const TableShape& shape,
                        const std::function<double(const std::array<double, 3>&)>& prior,
                        std::span<const TableSample> samples) {
  MonotoneTable table{.axes = shape.axes, .log_values = {}};
  std::vector<double> node_prior;
  for (const double a : shape.axes[0]) {
    for (const double b : shape.axes[1]) {
      for (const double c : shape.axes[2])
        node_prior.push_back(prior({std::exp2(a), std::exp2(b), std::exp2(c)}));
    }
  }
  const auto nodes = static_cast<int>(node_prior.size());
  const std::vector<Edge> edges = edges_of(shape);
  const std::vector<CellSamples> cells = by_cell(table, samples, node_prior);

  Eigen::VectorXd deviation = Eigen::VectorXd::Zero(nodes);
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver;
  std::vector<bool> active(edges.size(), false);
  for (int round = 0; round < kFreeRounds + kConstrainedRounds; ++round) {
    std::vector<Triplet> entries;
    Eigen::VectorXd right = Eigen::VectorXd::Zero(nodes);
    for (int node = 0; node < nodes; ++node) entries.emplace_back(node, node, kPull);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Edge& edge = edges[i];
      add_difference(edge, kSmoothness / edge.distance, 0, entries, right);
      if (!edge.rises || round < kFreeRounds) continue;
      const double gap =
          node_prior[static_cast<std::size_t>(edge.low)] - node_prior[static_cast<std::size_t>(edge.high)];
      const double rise = deviation[edge.high] - deviation[edge.low] - gap;
      constexpr double kFlat = 1e-4, kFree = 1e-2;
      active[i] = rise < kFlat || (active[i] && rise < kFree);
      if (active[i]) add_difference(edge, kConstraint * (round - kFreeRounds + 1), gap, entries, right);
    }
    add_samples(cells, deviation, round > 0, entries, right);
    Eigen::SparseMatrix<double> matrix(nodes, nodes);
    matrix.setFromTriplets(entries.begin(), entries.end());
    solver.compute(matrix);
    deviation = solver.solve(right);
  }
  table.log_values.resize(node_prior.size());
  for (std::size_t i = 0; i < node_prior.size(); ++i) {
    table.log_values[i] = node_prior[i] + deviation[static_cast<Eigen::Index>(i)];
  }
  make_monotone(table.log_values, edges);
  return table;
}

std::vector<double> axis_within(std::span<const double> wanted, std::span<const TableSample> samples,
                                std::size_t axis) {
  double least = INFINITY, most = 0;
  for (const TableSample& sample : samples) {
    least = std::min(least, sample.size[axis]);
    most = std::max(most, sample.size[axis]);
  }
  // Nodes much nearer to each other than measured sizes are would share the same samples.
  constexpr double kApart = 1.05;
  std::vector<double> nodes{std::log2(least)};
  for (const double size : wanted) {
    if (size > least * kApart && size * kApart < most) nodes.push_back(std::log2(size));
  }
  if (most > least) nodes.push_back(std::log2(most));
  return nodes;
}

}  // namespace trainfront::costmodel
