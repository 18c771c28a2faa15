#pragma once

#include <string>

#include "engine/validation/accuracy_report.hpp"

namespace trainfront::engine {

// The result as a Markdown page that shows the plot of that file name. Deterministic: the same tables and
// constants give the same bytes.
std::string accuracy_page(const AccuracyReport& report, const std::string& plot_file);

}  // namespace trainfront::engine
