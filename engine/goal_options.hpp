#pragma once

#include <optional>
#include <string>

#include "search/problem.hpp"

namespace trainfront::engine {

// The file's goal with what the command line says in its place: durations and money as text, empty where not
// given. Throws UsageError that names the option.
search::Goal wanted_goal(const search::Goal& of_file, const std::string& deadline, const std::string& budget);

// A probability that deadlines and budgets must hold with, given as an option; nothing for empty text. Throws
// UsageError unless from faults::kLeastProbability to kMostProbability.
std::optional<double> parse_probability_option(const char* option, const std::string& text);

// A duration or money given as an option; nothing for empty text. Throw UsageError unless above 0.
std::optional<double> parse_duration_option(const char* option, const std::string& text);
std::optional<double> parse_money_option(const char* option, const std::string& text);

}  // namespace trainfront::engine
