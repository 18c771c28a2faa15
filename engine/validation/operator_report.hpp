#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "costmodel/fit_score.hpp"
#include "engine/validation/operator_rows.hpp"

namespace trainfront::engine {

// How well a group of rows is predicted, and how well anything could predict it.
struct OperatorScore {
  std::string name;
  costmodel::ErrorSummary errors;
  double bias = 0;   // median signed error, per cent
  double scale = 1;  // median of measured over predicted
  costmodel::ErrorSummary after_scale;
  // Rows whose point was measured more than once, and what is still missed by one who knows every point's
  // median. Of a group, after one factor a harness.
  std::size_t repeated = 0;
  double repeat_floor = 0;  // mean, per cent
  // Of a harness: rows whose point others measured as well, and how far off those are after one factor.
  std::size_t shared = 0;
  double shared_error = 0;  // mean, per cent
};

// By device, operation and precision; and of each of these by harness ("... of HARNESS"). In order of names.
std::vector<OperatorScore> score_groups(const std::vector<OperatorRow>& rows);
std::vector<OperatorScore> score_harnesses(const std::vector<OperatorRow>& rows);

std::string operator_text(const std::vector<OperatorRow>& rows);
std::string operator_json(const inputs::Measurements& measurements, std::size_t bad_lines,
                          const std::vector<OperatorRow>& rows);
std::string operator_rows_csv(const std::vector<OperatorRow>& rows);

}  // namespace trainfront::engine
