#include "engine/goal_options.hpp"

#include <fmt/core.h>

#include <charconv>

#include "engine/errors.hpp"
#include "faults/spread.hpp"
#include "inputs/diagnostics.hpp"
#include "inputs/quantity.hpp"

namespace trainfront::engine {
namespace {

std::optional<double> positive(const char* option, const std::string& text, std::optional<double> value,
                               std::string_view form) {
  if (text.empty()) return std::nullopt;
  if (value && *value > 0) return value;
  throw UsageError(
      fmt::format("{}: {} found; {}, above 0, is needed", option, inputs::in_quotes(text), form));
}

}  // namespace

std::optional<double> parse_duration_option(const char* option, const std::string& text) {
  return positive(option, text, inputs::parse_duration_s(text), inputs::kDurationForm);
}

std::optional<double> parse_money_option(const char* option, const std::string& text) {
  return positive(option, text, inputs::parse_money_usd(text), inputs::kMoneyForm);
}

std::optional<double> parse_probability_option(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && value >= faults::kLeastProbability && value <= faults::kMostProbability) return value;
  throw UsageError(fmt::format("{}: {} found; a number from {} to {} is needed", option,
                               inputs::in_quotes(text), faults::kLeastProbability, faults::kMostProbability));
}

search::Goal wanted_goal(const search::Goal& of_file, const std::string& deadline,
                         const std::string& budget) {
  search::Goal goal = of_file;
  if (!deadline.empty() || !budget.empty()) {
    goal.deadline_s = parse_duration_option("--deadline", deadline);
    goal.budget_usd = parse_money_option("--budget", budget);
  }
  return goal;
}

}  // namespace trainfront::engine
