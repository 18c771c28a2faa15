#include "inputs/measured_fabric.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace trainfront::inputs {
namespace {

constexpr int kRackGpus = 72;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The number that ends just before `end`; 0 if there is none.
double number_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && (text[begin - 1] >= '0' && text[begin - 1] <= '9')) --begin;
  return begin == end ? 0 : std::strtod(std::string(text.substr(begin, end - begin)).c_str(), nullptr);
}

}  // namespace

MeasuredFabric read_fabric(std::string_view fabric, int ranks, int nodes) {
  MeasuredFabric read;
  read.pairwise = contains(fabric, "pairwise");

  double node_gpus = 8;
  if (const std::size_t at = fabric.find("-GPU node"); at != std::string_view::npos) {
    if (const double stated = number_before(fabric, at); stated > 0) node_gpus = stated;
  }
  // "8x400Gb/s": cards of a node times the rate of one.
  if (const std::size_t unit = fabric.find("Gb/s"); unit != std::string_view::npos) {
    const double gigabits = number_before(fabric, unit);
    const std::size_t times = fabric.rfind('x', unit);
    const double cards = times == std::string_view::npos ? 0 : number_before(fabric, times);
    if (gigabits > 0 && cards > 0) read.nic_bytes_per_s = cards * gigabits / 8 * 1e9 / node_gpus;
  }

  int domains = nodes;
  if (contains(fabric, "NVL72")) domains = (ranks + kRackGpus - 1) / kRackGpus;
  domains = std::clamp(domains, 1, std::max(1, ranks));
  read.placement = {ranks, domains, ranks / domains};
  return read;
}

}  // namespace trainfront::inputs
