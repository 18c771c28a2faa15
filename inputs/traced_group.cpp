#include "inputs/traced_group.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "inputs/count.hpp"
#include "inputs/csv.hpp"
#include "inputs/measured_fabric.hpp"

namespace trainfront::inputs {
namespace {

constexpr std::string_view kUnlisted =
    "collective of a group whose ranks the trace does not list (nodes=1 in FILE.meta, if all are on one "
    "node)";
constexpr std::string_view kUneven = "collective of a group that is spread unevenly over nodes";
constexpr std::string_view kRacks = "collective of a part of several racks";
constexpr int kRackGpus = 72;

int divided_up(int count, int by) {
  return (count + by - 1) / by;
}

}  // namespace

std::vector<int> listed_ranks(std::string_view list, int size) {
  if (size < 1 || list.size() < 2 || list.front() != '[' || list.back() != ']') return {};
  list = list.substr(1, list.size() - 2);
  std::vector<int> ranks;
  bool is_cut = false;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string_view part = list.substr(begin, end - begin);
    begin = end + 1;
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (part == "..." && !is_cut) {
      is_cut = true;
      continue;
    }
    const std::optional<double> rank = csv_number(part);
    const std::optional<int> count = rank ? count_of(*rank + 1) : std::nullopt;
    if (!count) return {};
    if (!ranks.empty() && *count - 1 <= ranks.back()) return {};  // twice, or in an order of its own
    ranks.push_back(*count - 1);
  }
  if (!is_cut) return ranks.size() == static_cast<std::size_t>(size) ? ranks : std::vector<int>{};
  if (ranks.size() < 3 || ranks.size() >= static_cast<std::size_t>(size)) return {};
  const int first = ranks.front(), stride = ranks[1] - first, last = ranks.back();
  for (std::size_t i = 1; i + 1 < ranks.size(); ++i) {
    if (ranks[i] - ranks[i - 1] != stride) return {};
  }
  if (last - first != static_cast<long long>(stride) * (size - 1)) return {};
  ranks.clear();
  for (int i = 0; i < size; ++i) ranks.push_back(first + stride * i);
  return ranks;
}

std::optional<TracedJob> traced_job(const std::string& file, int world_size, const MeasurementDefaults& said,
                                    Diagnostics& faults) {
  TracedJob job{.ranks = world_size > 0 ? world_size : said.ranks, .nodes = said.nodes};
  job.node_gpus = node_gpus_of_fabric(said.fabric);
  job.assumed = said.fabric.find("-GPU node") == std::string::npos;
  if (world_size > 0 && said.ranks > 0 && world_size != said.ranks) {
    faults.add({file,
                {},
                "world_size",
                "the trace is of another number of ranks than stated",
                std::to_string(world_size),
                std::to_string(said.ranks),
                ""});
    return std::nullopt;
  }
  if (job.nodes > 0 && job.ranks > 0) {
    if (job.ranks % job.nodes != 0) {
      faults.add({file,
                  {},
                  "nodes",
                  "ranks cannot be spread evenly over the nodes that are stated",
                  fmt::format("{} ranks on {} nodes", job.ranks, job.nodes),
                  "",
                  ""});
      return std::nullopt;
    }
    job.node_gpus = job.ranks / job.nodes;
    job.assumed = false;
  }
  return job;
}

GroupSpread spread_of(const std::vector<int>& ranks, int size, const TracedJob& job, std::string_view fabric,
                      int domain_gpus) {
  if (job.nodes == 1) return {1};
  const long long all = job.ranks > 0 ? job.ranks : static_cast<long long>(job.nodes) * job.node_gpus;
  const bool is_whole = size == all;
  if (ranks.empty()) {
    if (all > 0 && all <= job.node_gpus) return {1};
    if (!is_whole) return {0, kUnlisted};
    return {divided_up(size, job.node_gpus)};
  }
  std::map<int, int> on_node;
  for (const int rank : ranks) ++on_node[rank / job.node_gpus];
  const int nodes = static_cast<int>(on_node.size());
  if (nodes == 1) return {1};
  if (read_fabric(fabric, size, nodes, domain_gpus).placement.domains < nodes) {  // racks count, not nodes
    const int rack = std::max(domain_gpus, kRackGpus);
    const bool from_first = ranks.back() + 1 == size;  // as a log's ranks, which are all of the job's
    if (ranks.front() / rack != ranks.back() / rack && !from_first) return {0, kRacks};
    return {nodes};
  }
  const int each = on_node.begin()->second;
  const bool is_even =
      std::all_of(on_node.begin(), on_node.end(), [&](const auto& node) { return node.second == each; });
  return is_even ? GroupSpread{nodes} : GroupSpread{0, kUneven};
}

}  // namespace trainfront::inputs
