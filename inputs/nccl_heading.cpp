#include "inputs/nccl_heading.hpp"

#include <algorithm>
#include <array>

#include "inputs/count.hpp"
#include "inputs/csv.hpp"
#include "inputs/nccl_line.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::Collective;

struct Named {
  std::string_view name;
  Collective collective;
};
// As nccl-tests names its programs, and as tables name the operation.
constexpr std::array<Named, 7> kPrograms{{{"all_reduce", Collective::kAllReduce},
                                          {"all_gather", Collective::kAllGather},
                                          {"reduce_scatter", Collective::kReduceScatter},
                                          {"alltoall", Collective::kAllToAll},
                                          {"all_to_all", Collective::kAllToAll},
                                          {"sendrecv", Collective::kSendRecv},
                                          {"send_recv", Collective::kSendRecv}}};

// Others of its programs: what they measure is not modelled.
constexpr std::array<std::string_view, 7> kOtherPrograms{"alltoallv", "all_to_allv", "broadcast", "gather",
                                                         "hypercube", "reduce",      "scatter"};

constexpr std::array<std::string_view, 16> kSettings{
    "NCCL_ALGO",        "NCCL_PROTO",         "NCCL_MIN_CTAS",     "NCCL_MAX_CTAS",
    "NCCL_NTHREADS",    "NCCL_MIN_NCHANNELS", "NCCL_IB_DISABLE",   "NCCL_MAX_NCHANNELS",
    "NCCL_NVLS_ENABLE", "NCCL_P2P_DISABLE",   "NCCL_SHM_DISABLE",  "NCCL_IB_QPS_PER_CONNECTION",
    "NCCL_P2P_LEVEL",   "NCCL_NET",           "NCCL_TUNER_PLUGIN", "NCCL_BUFFSIZE"};

// What a setting is set to, if a line says so anywhere: another's name may begin with its name.
std::string_view value_in(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    std::string_view rest = line.substr(at + name.size());
    constexpr std::string_view kByNccl = " set by environment to ";
    if (rest.starts_with(kByNccl)) {
      rest.remove_prefix(kByNccl.size());
    } else if (rest.starts_with('=')) {
      rest.remove_prefix(1);
    } else {
      continue;
    }
    rest.remove_prefix(std::min(rest.find_first_not_of("\"'"), rest.size()));
    const std::string_view value = rest.substr(0, rest.find_first_of(" \t\r\"'"));
    if (!value.empty()) return value;
  }
  return {};
}

// The program that a line before a run's rows names, without "_perf"; empty: none of nccl-tests'.
std::string_view program_in(std::string_view line) {
  std::string_view named;
  if (line.find("concluded") != std::string_view::npos) return named;
  for (std::size_t at = line.find("_perf"); at != std::string_view::npos; at = line.find("_perf", at + 1)) {
    const std::size_t before = line.find_last_not_of("abcdefghijklmnopqrstuvwxyz_", at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view name = line.substr(begin, at - begin);
    if (nccl_collective(name) ||
        std::find(kOtherPrograms.begin(), kOtherPrograms.end(), name) != kOtherPrograms.end())
      named = name;
  }
  return named;
}

}  // namespace

std::optional<Collective> nccl_collective(std::string_view name) {
  const auto* known = std::find_if(kPrograms.begin(), kPrograms.end(),
                                   [&](const Named& program) { return program.name == name; });
  if (known == kPrograms.end()) return std::nullopt;
  return known->collective;
}

std::vector<std::string> nccl_collectives() {
  std::vector<std::string> names;
  for (const Named& program : kPrograms) names.emplace_back(program.name);
  return names;
}

std::vector<std::string> nccl_settings(std::string_view line) {
  std::vector<std::string> found;
  if (line.find("NCCL_") == std::string_view::npos) return found;
  for (const std::string_view name : kSettings) {
    const std::string_view value = value_in(line, name);
    if (!value.empty()) found.push_back(std::string(name) + "=" + std::string(value));
  }
  return found;
}

bool begins_nccl_run(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  return !program_in(line).empty() ||
         (words.size() > 2 && words[0] == "#" && (words[1] == "Rank" || words[1] == "nThread"));
}

void read_nccl_heading(std::string_view line, NcclHeading& heading) {
  if (const std::string_view named = program_in(line); !named.empty()) {
    heading.collective = nccl_collective(named);
    heading.other_program = heading.collective ? "" : named;
  }
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() > 2 && words[0] == "#" && words[1] == "Rank") {
    if (const std::optional<int> counted = count_of(csv_number(words[2]).value_or(-1) + 1))
      heading.ranks.insert(*counted - 1);
    const auto on = std::find(words.begin(), words.end(), "on");
    if (on != words.end() && on + 1 != words.end()) heading.hosts.emplace(*(on + 1));
    if (const std::size_t bus = line.find("] "); bus != std::string_view::npos && bus + 2 < line.size()) {
      std::string_view gpu = line.substr(bus + 2);
      gpu = gpu.substr(0, gpu.find_last_not_of(" \r\t") + 1);
      if (!gpu.empty()) heading.gpu = gpu;
    }
  }
}

}  // namespace trainfront::inputs
