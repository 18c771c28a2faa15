#include "engine/narrow.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <vector>

#include "engine/errors.hpp"
#include "engine/reports/names.hpp"
#include "inputs/catalog.hpp"
#include "inputs/diagnostics.hpp"
#include "inputs/suggest.hpp"

namespace trainfront::engine {
namespace {

struct Wish {
  std::string key;
  std::string value;
};

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

std::vector<Wish> parse_wishes(const std::string& text) {
  std::vector<Wish> wishes;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = trimmed(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      throw UsageError(
          fmt::format("--layout: {} found; key=value is needed, as in tp=8,pp=4", inputs::in_quotes(part)));
    }
    Wish wish{trimmed(std::string_view(part).substr(0, equals)),
              trimmed(std::string_view(part).substr(equals + 1))};
    const auto same = [&](const Wish& other) { return other.key == wish.key; };
    if (std::any_of(wishes.begin(), wishes.end(), same))
      throw UsageError(fmt::format("--layout: {} is given twice", wish.key));
    wishes.push_back(std::move(wish));
  }
  if (wishes.empty())
    throw UsageError("--layout: nothing found; key=value pairs are needed, as in tp=8,pp=4");
  return wishes;
}

[[noreturn]] void refuse(const Wish& wish, const std::string& allowed) {
  throw UsageError(
      fmt::format("--layout: {} = {} found; {}", wish.key, inputs::in_quotes(wish.value), allowed));
}

template <typename Integer>
Integer whole_number(const Wish& wish) {
  std::int64_t value = 0;
  const char* end = wish.value.data() + wish.value.size();
  const auto [stop, error] = std::from_chars(wish.value.data(), end, value);
  constexpr std::int64_t kMost = 1 << 30;
  if (error != std::errc() || stop != end || value < 0 || value > kMost)
    refuse(wish, "a whole number is needed");
  return static_cast<Integer>(value);
}

bool truth(const Wish& wish) {
  if (wish.value == "true" || wish.value == "1") return true;
  if (wish.value == "false" || wish.value == "0") return false;
  refuse(wish, "true or false is needed");
}

template <typename Enum>
Enum named(const Wish& wish, int count) {
  std::vector<std::string> names;
  for (int at = 0; at < count; ++at) {
    names.emplace_back(name(static_cast<Enum>(at)));
    if (names.back() == wish.value) return static_cast<Enum>(at);
  }
  refuse(wish, "one of " + inputs::join(names));
}

// Keeps what the wish allows; nothing left is the user's error.
template <typename T>
void keep(std::vector<T>& values, const Wish& wish, const std::function<bool(const T&)>& allowed) {
  std::erase_if(values, [&](const T& value) { return !allowed(value); });
  if (values.empty()) refuse(wish, "the sweep file has nothing that matches");
}

void keep_offers(search::Problem& problem, const Wish& wish,
                 const std::function<bool(const costmodel::Offer&)>& allowed) {
  for (search::HardwareClass& rented : problem.hardware) {
    std::erase_if(rented.offers, [&](const costmodel::Offer& offer) { return !allowed(offer); });
  }
  keep<search::HardwareClass>(problem.hardware, wish,
                              [](const search::HardwareClass& rented) { return !rented.offers.empty(); });
}

using Narrow = std::function<void(search::Problem&, const Wish&)>;

std::map<std::string, Narrow> layout_keys() {
  std::map<std::string, Narrow> keys;
  const auto number = [&](const char* key, std::vector<int> search::LayoutChoices::*values) {
    keys[key] = [values](search::Problem& problem, const Wish& wish) {
      problem.layout.*values = {whole_number<int>(wish)};
    };
  };
  number("tp", &search::LayoutChoices::tp);
  number("cp", &search::LayoutChoices::cp);
  number("pp", &search::LayoutChoices::pp);
  number("vpp", &search::LayoutChoices::vpp);
  number("ep", &search::LayoutChoices::ep);
  number("etp", &search::LayoutChoices::etp);
  number("zero", &search::LayoutChoices::zero);
  number("shard_group", &search::LayoutChoices::shard_group);
  number("micro_batch", &search::LayoutChoices::micro_batch);
  keys["sp"] = [](search::Problem& problem, const Wish& wish) { problem.layout.sp = {truth(wish)}; };
  keys["framework"] = [](search::Problem& problem, const Wish& wish) {
    problem.layout.framework = {named<costmodel::Framework>(wish, 3)};
  };
  keys["recompute"] = [](search::Problem& problem, const Wish& wish) {
    problem.layout.recompute = {named<costmodel::Recompute>(wish, 3)};
  };
  keys["schedule"] = [](search::Problem& problem, const Wish& wish) {
    problem.layout.schedule = {named<costmodel::Schedule>(wish, 4)};
  };
  keys["global_batch"] = [](search::Problem& problem, const Wish& wish) {
    problem.global_batches = {whole_number<std::int64_t>(wish)};
  };
  keys["gpus"] = [](search::Problem& problem, const Wish& wish) {
    problem.gpus = {whole_number<std::int64_t>(wish)};
  };
  return keys;
}

std::map<std::string, Narrow> plan_keys() {
  std::map<std::string, Narrow> keys = layout_keys();
  const auto offer = [&](const char* key, std::string costmodel::Offer::*member) {
    keys[key] = [member](search::Problem& problem, const Wish& wish) {
      keep_offers(problem, wish, [&](const costmodel::Offer& one) { return one.*member == wish.value; });
    };
  };
  offer("provider", &costmodel::Offer::provider);
  offer("region", &costmodel::Offer::region);
  offer("instance", &costmodel::Offer::instance);
  keys["price_model"] = [](search::Problem& problem, const Wish& wish) {
    keep_offers(problem, wish, [&](const costmodel::Offer& one) {
      return inputs::price_model_name(one.price_model) == wish.value;
    });
  };
  keys["device"] = [](search::Problem& problem, const Wish& wish) {
    keep<search::HardwareClass>(problem.hardware, wish, [&](const search::HardwareClass& rented) {
      return rented.hardware.device.id == wish.value;
    });
  };
  keys["protection"] = [](search::Problem& problem, const Wish& wish) {
    const auto scheme = named<faults::Scheme>(wish, 6);
    keep<faults::Protection>(problem.protections, wish,
                             [&](const faults::Protection& one) { return one.scheme == scheme; });
  };
  const auto protection = [&](const char* key, int faults::Protection::*member) {
    keys[key] = [member](search::Problem& problem, const Wish& wish) {
      const int wanted = wish.value == "-1" ? -1 : whole_number<int>(wish);
      keep<faults::Protection>(problem.protections, wish,
                               [&](const faults::Protection& one) { return one.*member == wanted; });
    };
  };
  protection("r", &faults::Protection::r);
  protection("sub_shards", &faults::Protection::sub_shards);
  protection("spares", &faults::Protection::spares);
  protection("k_max", &faults::Protection::k_max);
  const auto islands = [&](const char* key, int costmodel::Islands::*member) {
    keys[key] = [member](search::Problem& problem, const Wish& wish) {
      const int wanted = whole_number<int>(wish);
      keep<costmodel::Islands>(problem.islands, wish,
                               [&](const costmodel::Islands& one) { return one.*member == wanted; });
    };
  };
  islands("islands", &costmodel::Islands::count);
  islands("inner_steps", &costmodel::Islands::inner_steps);
  return keys;
}

// dp is no choice of its own: it is the GPU count over the group.
void apply_dp(search::Problem& problem, const Wish& wish) {
  const auto dp = whole_number<std::int64_t>(wish);
  const auto only = [&](const std::vector<int>& values) -> std::int64_t {
    return values.size() == 1 ? values[0] : 0;
  };
  const std::int64_t cp = problem.layout.cp.empty() ? 1 : only(problem.layout.cp);
  const std::int64_t group = only(problem.layout.tp) * only(problem.layout.pp) * cp;
  if (group == 0) refuse(wish, "dp needs tp and pp (and cp) beside it, or give gpus instead");
  if (problem.layout.cp.empty()) problem.layout.cp = {1};
  if (dp < 1) refuse(wish, "a number above 0 is needed");
  problem.gpus = {group * dp};
}

}  // namespace

search::Problem narrow(const search::Problem& problem, const std::string& text) {
  search::Problem narrowed = problem;
  const std::map<std::string, Narrow> keys = plan_keys();
  std::optional<Wish> dp;
  for (const Wish& wish : parse_wishes(text)) {
    if (wish.key == "dp") {
      dp = wish;
      continue;
    }
    const auto found = keys.find(wish.key);
    if (found == keys.end()) {
      std::vector<std::string> known = {"dp"};
      for (const auto& [key, unused] : keys) known.push_back(key);
      const std::string meant = inputs::nearest(wish.key, known);
      throw UsageError(fmt::format("--layout: unknown key {}; {}", inputs::in_quotes(wish.key),
                                   meant.empty() ? "one of " + inputs::join(known)
                                                 : "did you mean " + inputs::in_quotes(meant) + "?"));
    }
    found->second(narrowed, wish);
  }
  if (dp) apply_dp(narrowed, *dp);
  return narrowed;
}

std::optional<std::uint64_t> index_in(const search::Space& space, const search::Space& of,
                                      const search::Plan& plan) {
  const search::HardwareClass& from = of.problem().hardware[static_cast<std::size_t>(plan.hardware)];
  const costmodel::Offer& offer = from.offers[static_cast<std::size_t>(plan.offer)];
  const std::vector<search::HardwareClass>& classes = space.problem().hardware;
  for (std::size_t at = 0; at < classes.size(); ++at) {
    const std::vector<costmodel::Offer>& offers = classes[at].offers;
    const auto same = std::find(offers.begin(), offers.end(), offer);
    if (same == offers.end() || classes[at].hardware.device.id != from.hardware.device.id) continue;
    search::Plan there = plan;
    there.hardware = static_cast<int>(at);
    there.offer = static_cast<int>(same - offers.begin());
    return space.encode(there);
  }
  return std::nullopt;
}

}  // namespace trainfront::engine
