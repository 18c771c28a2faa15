#pragma once

#include <string>
#include <vector>

namespace trainfront::engine {

struct ValidateOptions {
  std::vector<std::string> files;
  std::vector<std::string> catalogs;  // laid over the shipped one: profiles, devices, nodes
  std::string rows;                   // CSV of every compared row; empty: none
  std::string page;                   // Markdown page of the result, with a plot beside it; empty: none
  bool json = false;
};

// Compares predictions with published training runs or operator measurements; the files' headers tell which.
int run_validate(const ValidateOptions& options);

}  // namespace trainfront::engine
