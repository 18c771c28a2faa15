#include "inputs/measured_fabric.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

namespace trainfront::inputs {
namespace {

constexpr int kRackGpus = 72;
constexpr int kMostOfAServer = 16;  // GPUs on one scale-up fabric that are no rack yet (DGX-2)

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The number that ends just before `end`; 0 if there is none.
double number_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && (text[begin - 1] >= '0' && text[begin - 1] <= '9')) --begin;
  return begin == end ? 0 : std::strtod(std::string(text.substr(begin, end - begin)).c_str(), nullptr);
}

struct KnownFabric {
  std::string_view words, kind;
};
// The first that fits. Beside these go the kinds themselves.
constexpr std::array<KnownFabric, 26> kKnownFabrics{{{"a3-ultra", "gpudirect-rdma"},
                                                     {"gpudirect-rdma", "gpudirect-rdma"},
                                                     {"gpudirect-tcpxo", "gpudirect-tcpxo"},
                                                     {"tcpxo", "gpudirect-tcpxo"},
                                                     {"gpudirect-tcpx", "gpudirect-tcpx"},
                                                     {"tcpx", "gpudirect-tcpx"},
                                                     {"efa-v1", "efa-v1"},
                                                     {"efa-v2", "efa-v2"},
                                                     {"efa-v3", "efa-v3"},
                                                     {"efa-v4", "efa-v4"},
                                                     {"efa 4x100gb", "efa-v1"},
                                                     {"efa 32x100gb", "efa-v2"},
                                                     {"efa 16x200gb", "efa-v3"},
                                                     {"efa 8x400gb", "efa-v4"},
                                                     {"efa v1", "efa-v1"},
                                                     {"efa v2", "efa-v2"},
                                                     {"efa v3", "efa-v3"},
                                                     {"efa v4", "efa-v4"},
                                                     {"slingshot", "slingshot-11"},
                                                     {"nvl72", "nvl72-scale-out"},
                                                     {"roce", "roce-v2"},
                                                     {"infiniband", "infiniband"},
                                                     {"ib", "infiniband"},
                                                     {"ndr", "infiniband"},
                                                     {"hdr", "infiniband"},
                                                     {"tcp", "tcp"}}};

bool is_word_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Whole words only: "ib" is not in "fibre".
bool has_words(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) {
    const std::size_t end = at + words.size();
    if ((at == 0 || !is_word_part(text[at - 1])) && (end == text.size() || !is_word_part(text[end])))
      return true;
  }
  return false;
}

}  // namespace

std::string_view network_kind_of_fabric(std::string_view fabric) {
  std::string text(fabric);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  for (const KnownFabric& known : kKnownFabrics) {
    if (has_words(text, known.words)) return known.kind;
  }
  return {};
}

int node_gpus_of_fabric(std::string_view fabric) {
  constexpr int kUsual = 8;
  const std::size_t at = fabric.find("-GPU node");
  const double stated = at == std::string_view::npos ? 0 : number_before(fabric, at);
  return stated > 0 ? static_cast<int>(std::min(stated, 1e6)) : kUsual;
}

MeasuredFabric read_fabric(std::string_view fabric, int ranks, int nodes, int domain_gpus) {
  MeasuredFabric read;
  read.pairwise = contains(fabric, "pairwise");

  const double node_gpus = node_gpus_of_fabric(fabric);
  // "8x400Gb/s": cards of a node times the rate of one.
  if (const std::size_t unit = fabric.find("Gb/s"); unit != std::string_view::npos) {
    const double gigabits = number_before(fabric, unit);
    const std::size_t times = fabric.rfind('x', unit);
    const double cards = times == std::string_view::npos ? 0 : number_before(fabric, times);
    if (gigabits > 0 && cards > 0) read.nic_bytes_per_s = cards * gigabits / 8 * 1e9 / node_gpus;
  }

  int domains = nodes;
  if (contains(fabric, "NVL72")) {
    domains = (ranks + kRackGpus - 1) / kRackGpus;
  } else if (nodes > 1 && domain_gpus > kMostOfAServer) {
    read.taken_for_a_rack = read.nic_bytes_per_s <= 0 && ranks <= domain_gpus;
    read.taken_for_nodes = read.nic_bytes_per_s > 0;
    if (read.taken_for_a_rack) domains = 1;
  }
  domains = std::clamp(domains, 1, std::max(1, ranks));
  read.placement = {ranks, domains, ranks / domains};
  read.domain_bytes_per_s = read.nic_bytes_per_s * std::max<double>(node_gpus, read.placement.per_domain);
  return read;
}

}  // namespace trainfront::inputs
