#include "engine/commands/calibrate_report.hpp"

#include <doctest/doctest.h>

#include <string>

namespace trainfront::engine {

TEST_CASE("long names move all columns, not those of their own line") {
  ProfileFit fit;
  for (const char* form : {"form", "table, library's protocols near companion's"}) {
    costmodel::FitScore score;
    score.operation = fit.scores.empty() ? "network NVLink4 + IB NDR 8x400Gb/s per node" : "all_gather";
    score.form = form;
    score.by_shape = {.count = 3, .mean = 1.5, .median = 1.25};
    fit.scores.push_back(score);
  }
  const std::string table = fit_table(fit, "out.toml");
  std::size_t lines = 0, width = 0;
  for (std::size_t begin = 0; begin < table.find("profile: "); ++lines) {
    const std::size_t end = table.find('\n', begin);
    if (lines == 0) width = end - begin;
    CHECK(end - begin == width);
    begin = end + 1;
  }
  CHECK(lines == 4);
}

}  // namespace trainfront::engine
