#include "engine/reports/readable.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/reports/names.hpp"
#include "inputs/catalog_offers.hpp"

namespace trainfront::engine {
namespace {

// Three significant digits; in scientific notation only what is too small for any other.
std::string three_digits(double value) {
  if (value == 0) return "0";
  const std::string rounded = fmt::format("{:.2e}", value);  // 9.996 is of the magnitude of 10.0
  const int magnitude = std::stoi(rounded.substr(rounded.find('e') + 1));
  return magnitude < -9 ? rounded : fmt::format("{:.{}f}", value, std::max(0, 2 - magnitude));
}

// The value in thousands to the power of the returned step, so that it prints below 1000.
int thousands(double& value, int most) {
  int step = 0;
  while (std::abs(value) >= 999.5 && step < most) value /= 1000, ++step;
  return step;
}

}  // namespace

std::string readable_count(double count) {
  constexpr const char* kPrefix[] = {"", " k", " M", " G", " T", " P", " E"};
  if (count < 999.5) return fmt::format("{:.0f}", count);
  const int step = thousands(count, 6);
  return three_digits(count) + kPrefix[step];
}

std::string readable_duration(double seconds) {
  if (!(seconds < 1e15)) return "never";
  if (seconds < 59.95) return three_digits(seconds) + " s";
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  return three_digits(seconds / 86400) + " d";
}

std::string readable_money(double usd) {
  if (!std::isfinite(usd)) return "unbounded";
  constexpr const char* kSuffix[] = {"", "k", "M", "B", "T"};
  double scaled = usd;
  const int step = thousands(scaled, 4);
  if (step == 0 && (usd == 0 || std::abs(usd) >= 0.995)) return fmt::format("${:.2f}", usd);
  return fmt::format("${}{}", three_digits(scaled), kSuffix[step]);
}

std::string readable_bytes(double bytes) {
  constexpr const char* kUnit[] = {" B", " kB", " MB", " GB", " TB", " PB"};
  const int step = thousands(bytes, 5);
  return three_digits(bytes) + kUnit[step];
}

std::string readable_percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string readable_offer(const costmodel::Offer& offer) {
  return inputs::describe(offer);
}

std::string short_offer(const costmodel::Offer& offer) {
  return fmt::format("{} {} {}", offer.provider, offer.region, inputs::price_model_name(offer.price_model));
}

std::string short_layout(const costmodel::Layout& layout) {
  costmodel::Layout shown = layout;
  shown.recompute = costmodel::Recompute::kNone;
  shown.modules = {};
  std::string text = readable_layout(shown);
  const auto usual = layout.vpp > 1 ? costmodel::Schedule::kInterleaved : costmodel::Schedule::k1f1b;
  if (layout.pp > 1 && layout.schedule == usual) text.erase(text.rfind(' '));
  if (layout.recompute != costmodel::Recompute::kNone) {
    const std::string modules = modules_name(layout);
    text += fmt::format(" rc-{}", layout.modules.empty() ? name(layout.recompute) : modules);
  }
  return text;
}

std::string readable_layout(const costmodel::Layout& layout) {
  std::string text = fmt::format("tp{}", layout.tp);
  if (layout.sp) text += " sp";
  const auto degree = [&](const char* label, int value, int usual) {
    if (value != usual) text += fmt::format(" {}{}", label, value);
  };
  degree("cp", layout.cp, 1);
  if (layout.cp > 1 && layout.cp_type != costmodel::ContextExchange::kRing)
    text += fmt::format(" {}", name(layout.cp_type));
  degree("", layout.cp_heads, 0);
  degree("pp", layout.pp, 1);
  degree("vpp", layout.vpp, 1);
  degree("ep", layout.ep, 1);
  degree("etp", layout.etp, 1);
  text += fmt::format(" dp{} zero{}", layout.dp, layout.zero);
  degree("shard", layout.shard_group, 0);
  text += fmt::format(" mb{}", layout.micro_batch);
  if (layout.recompute != costmodel::Recompute::kNone)
    text += fmt::format(" recompute {}", name(layout.recompute));
  if (!layout.modules.empty()) text += fmt::format(" {}", modules_name(layout));
  if (layout.pp > 1) text += fmt::format(" {}", name(layout.schedule));
  return text;
}

std::string readable_protection(const faults::Protection& protection) {
  std::string text(name(protection.scheme));
  if (protection.r > 1) text += fmt::format(" r={}", protection.r);
  if (protection.sub_shards > 1) text += fmt::format(" m={}", protection.sub_shards);
  if (protection.rejoins) text += " rejoining";
  if (protection.tier != faults::CheckpointTier::kShared) text += fmt::format(" {}", name(protection.tier));
  const char* spare_nodes = protection.scheme == faults::Scheme::kSpares ? "" : "spare ";
  if (protection.spares > 0) {
    text += fmt::format(" +{} {}node{}", protection.spares, spare_nodes, protection.spares == 1 ? "" : "s");
  }
  if (protection.spares_per_1000 > 0)
    text += fmt::format(" +{:g}% {}nodes", protection.spares_per_1000 / 10.0, spare_nodes);
  return text;
}

}  // namespace trainfront::engine
