#include "costmodel/fit_minimize.hpp"

#include <algorithm>
#include <cstddef>

namespace trainfront::costmodel {
namespace {

struct Vertex {
  std::vector<double> at;
  double cost = 0;
};

}  // namespace

std::vector<double> minimize(const std::function<double(const std::vector<double>&)>& cost,
                             const std::vector<double>& start, double step, int rounds) {
  const std::size_t dims = start.size();
  std::vector<Vertex> simplex(dims + 1, {start, 0});
  for (std::size_t i = 0; i < dims; ++i) simplex[i + 1].at[i] += step;
  for (Vertex& vertex : simplex) vertex.cost = cost(vertex.at);

  const auto by_cost = [](const Vertex& a, const Vertex& b) { return a.cost < b.cost; };
  for (int round = 0; round < rounds; ++round) {
    std::stable_sort(simplex.begin(), simplex.end(), by_cost);
    Vertex& worst = simplex.back();
    std::vector<double> centre(dims, 0);
    for (std::size_t i = 0; i < dims; ++i) {
      for (std::size_t j = 0; j < dims; ++j) centre[j] += simplex[i].at[j] / static_cast<double>(dims);
    }
    const auto along = [&](double factor) {
      Vertex vertex{centre, 0};
      for (std::size_t j = 0; j < dims; ++j) vertex.at[j] += factor * (worst.at[j] - centre[j]);
      vertex.cost = cost(vertex.at);
      return vertex;
    };
    Vertex mirrored = along(-1);
    if (mirrored.cost < simplex.front().cost) {
      Vertex further = along(-2);
      worst = further.cost < mirrored.cost ? std::move(further) : std::move(mirrored);
    } else if (mirrored.cost < simplex[dims - 1].cost) {
      worst = std::move(mirrored);
    } else {
      Vertex nearer = along(mirrored.cost < worst.cost ? -0.5 : 0.5);
      if (nearer.cost < std::min(mirrored.cost, worst.cost)) {
        worst = std::move(nearer);
        continue;
      }
      for (std::size_t i = 1; i <= dims; ++i) {
        for (std::size_t j = 0; j < dims; ++j) {
          simplex[i].at[j] = simplex[0].at[j] + 0.5 * (simplex[i].at[j] - simplex[0].at[j]);
        }
        simplex[i].cost = cost(simplex[i].at);
      }
    }
  }
  return std::min_element(simplex.begin(), simplex.end(), by_cost)->at;
}

}  // namespace trainfront::costmodel
