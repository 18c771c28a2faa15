#include "inputs/run_spelling.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <initializer_list>

namespace trainfront::inputs {

namespace {

using costmodel::Precision;
using costmodel::Recompute;
using costmodel::Schedule;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Lower case, remarks in parentheses and blanks at the ends removed.
std::string without_remarks(std::string_view text) {
  std::string result;
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (depth == 0) result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (c == ')' && depth > 0) --depth;
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

// The number that begins at `at`, digits and a point; moves `at` behind it. 0 if there is none.
double number_at(std::string_view text, std::size_t& at) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data() + at, text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc()) return 0;
  at = static_cast<std::size_t>(end - text.data());
  return value;
}

// The number after `key`; 0 if the key is not there.
double number_after(std::string_view text, std::string_view key) {
  std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  at += key.size();
  while (at < text.size() && text[at] == ' ') ++at;
  return number_at(text, at);
}

struct Rate {
  double gbit_per_s = 0;
  double count = 0;  // "8x200": 8
  std::size_t end = 0;
};

// The last rate in Gb/s or Gbps: after it comes the network, before it the scale-up link.
Rate last_rate(std::string_view text) {
  Rate rate;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    const double first = number_at(text, at);
    double count = 0;
    double value = first;
    if (at + 1 < text.size() && text[at] == 'x' && is_digit(text[at + 1])) {
      count = first;
      ++at;
      value = number_at(text, at);
    }
    std::size_t unit = at;
    while (unit < text.size() && text[unit] == ' ') ++unit;
    if (text.substr(unit, 4) == "Gb/s" || text.substr(unit, 4) == "Gbps") rate = {value, count, unit + 4};
  }
  return rate;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string plain_name(std::string_view text) {
  std::string result;
  for (const char c : without_remarks(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) result += c;
  }
  return result;
}

std::optional<Precision> read_precision(std::string_view text) {
  const std::string word = without_remarks(text);
  if (contains(word, "fp4")) return std::nullopt;
  if (contains(word, "fp8") || contains(word, "float8")) return Precision::kFp8;
  // fp16 and bf16 run on the same units at the same rate.
  if (word.empty() || contains(word, "bf16") || contains(word, "bfloat16") || contains(word, "fp16") ||
      contains(word, "half")) {
    return Precision::kBf16;
  }
  return std::nullopt;
}

std::optional<Recompute> read_recompute(std::string_view text) {
  const std::string word = without_remarks(text);
  if (word == "none" || word == "off" || word == "0" || word == "no" || word == "false")
    return Recompute::kNone;
  if (word.starts_with("sel")) return Recompute::kSelective;
  if (word.starts_with("full") || word == "1" || word == "yes" || word == "true") return Recompute::kFull;
  return std::nullopt;
}

costmodel::RecomputeModules read_named_modules(std::string_view recompute) {
  const std::string text = lower_case(recompute);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  costmodel::RecomputeModules modules;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    costmodel::RecomputeModules one;
    const std::string word = text.substr(at, end - at);
    if (word == "core_attn" || word == "attn") {
      modules.add(costmodel::RecomputeModule::kCoreAttention);
    } else if (costmodel::read_modules(word, one)) {
      modules.bits = static_cast<std::uint8_t>(modules.bits | one.bits);
    }
    at = end;
  }
  costmodel::RecomputeModules usual;
  usual.add(costmodel::RecomputeModule::kCoreAttention);
  return modules == usual ? costmodel::RecomputeModules{} : modules;
}

std::optional<costmodel::ContextExchange> read_exchange(std::string_view text) {
  using enum costmodel::ContextExchange;
  const std::string word = plain_name(text);
  if (word == "p2p" || word == "ring") return kRing;
  if (word == "allgather") return kAllGather;
  if (word == "a2a" || word == "alltoall" || word == "ulysses") return kAllToAll;
  if (word == "a2ap2p" || word == "alltoallring") return kAllToAllRing;
  return std::nullopt;
}

std::optional<Schedule> read_schedule(std::string_view text) {
  const std::string word = without_remarks(text);
  if (word.empty() || word == "none") return Schedule::k1f1b;
  if (contains(word, "zb") || contains(word, "zero")) return Schedule::kZeroBubble;
  if (contains(word, "interleaved") || word == "1f1b-i") return Schedule::kInterleaved;
  if (contains(word, "1f1b")) return Schedule::k1f1b;
  if (contains(word, "gpipe") || contains(word, "afab")) return Schedule::kGpipe;
  return std::nullopt;
}

std::optional<Sharding> read_sharding(std::string_view text, int gpus_per_node) {
  const std::string all = lower_case(text);
  const std::string word = without_remarks(text);
  if (contains(all, "distributed optimizer") || contains(all, "dist-opt") || contains(all, "dist opt")) {
    return Sharding{.zero = 1};
  }
  if (word == "none" || word == "ddp" || word == "0") return Sharding{.zero = 0};
  if (contains(word, "fsdp"))
    return Sharding{.zero = 3, .shard_group = static_cast<int>(number_after(word, "fsdp="))};
  std::string_view stage = word;
  if (stage.starts_with("zero")) {
    stage.remove_prefix(4);
    if (!stage.empty() && (stage.front() == '-' || stage.front() == ' ')) stage.remove_prefix(1);
  }
  if (stage.empty() || stage.front() < '0' || stage.front() > '3') return std::nullopt;
  Sharding sharding{.zero = stage.front() - '0'};
  if (contains(stage, "within node")) sharding.shard_group = gpus_per_node;
  return sharding;
}

FlopConvention read_flop_convention(std::string_view text) {
  const std::string word = lower_case(text);
  FlopConvention convention;
  const auto has = [&](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return contains(word, part); });
  };
  if (contains(word, "hardware")) {
    convention.count = FlopCount::kHardware;
  } else if (has({"non-causal", "noncausal", "not causal", "full attention", "full score",
                  "full sequence"})) {
    convention.count = FlopCount::kFull;
  } else if (has({"causal convention not stated", "causality not stated"})) {
    convention.stated = false;
  } else if (has({"megatron-bridge", "causal", "c=0.5"})) {
    convention.count = FlopCount::kCausal;
  } else {
    convention.stated = false;
  }
  convention.peak_flops_per_s = 1e12 * number_after(word, "peak");
  return convention;
}

Interconnect read_interconnect(std::string_view text, int gpus_per_node) {
  Interconnect result;
  const std::string word = lower_case(text);
  if (contains(word, "efa")) {
    result.kind = "efa";
  } else if (contains(word, "roce")) {
    result.kind = "roce-v2";
  } else if (contains(word, "p3.")) {  // AWS P3 has Ethernet
    result.kind = "tcp";
  } else if (contains(word, "infiniband") || contains(word, " ib") || contains(word, "hdr") ||
             contains(word, "ndr")) {
    result.kind = "infiniband";
  }
  const Rate rate = last_rate(text);
  if (rate.gbit_per_s <= 0) return result;
  const double per_gpu = contains(word, "per gpu") ? 1 : (rate.count > 0 ? rate.count : 1) / gpus_per_node;
  result.nic_bytes_per_s = rate.gbit_per_s * 1e9 / 8 * per_gpu;
  return result;
}

double read_delay_s(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    const double value = number_at(text, at);
    std::size_t unit = at;
    while (unit < text.size() && text[unit] == ' ') ++unit;
    if (text.substr(unit, 2) == "ms") return value * 1e-3;
  }
  return 0;
}

}  // namespace trainfront::inputs
