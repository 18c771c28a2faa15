#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "inputs/profile_fields.hpp"
#include "inputs/profile_file.hpp"
#include "inputs/profile_steps.hpp"

namespace trainfront::inputs {
namespace {

using costmodel::DeviceProfile;
using costmodel::Evidence;

std::string toml_text(std::string_view text) {
  std::string escaped = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return escaped + '"';
}

// TOML floats need a digit after the point or an exponent.
std::string toml_number(double value) {
  std::string text = fmt::format("{:.6g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// One row of numbers for each place on the other axes.
std::string table_text(const std::string& section, AxisNames names, const costmodel::MonotoneTable& table) {
  std::string text = fmt::format("\n[{}.table]\n", section);
  for (std::size_t axis = 0; axis < names.size(); ++axis) {
    std::vector<std::string> sizes;
    for (const double log_size : table.axes[axis])
      sizes.push_back(fmt::format("{:.10g}", std::exp2(log_size)));
    text += fmt::format("{} = [{}]\n", names[axis], fmt::join(sizes, ", "));
  }
  text += "log_thousandths = [\n";
  const std::size_t columns = table.axes[names.size() - 1].size();
  for (std::size_t begin = 0; begin < table.log_values.size(); begin += columns) {
    std::vector<long> row;
    for (std::size_t i = begin; i < begin + columns; ++i)
      row.push_back(std::lround(table.log_values[i] / kLogUnit));
    text += fmt::format("  [{}],\n", fmt::join(row, ", "));
  }
  return text + "]\n";
}

}  // namespace

std::string write_profile(const DeviceProfile& profile, std::string_view device) {
  std::string text = fmt::format("schema = {}\ndevice = {}\nname = {}\nsources = [\n", kProfileSchema,
                                 toml_text(device), toml_text(profile.name));
  for (const std::string& source : profile.sources) text += fmt::format("  {},\n", toml_text(source));
  text += "]\n";
  visit_profile(profile, [&](const std::string& section, const auto& fit, AxisNames axes, auto&& fields) {
    if (fit.evidence == Evidence::kDataSheet) return;
    text += fmt::format("\n[{}]\nevidence = \"{}\"\n", section,
                        kEvidenceNames[static_cast<std::size_t>(fit.evidence)]);
    fields(fit, [&](std::string_view key, double value, double, double) {
      text += fmt::format("{} = {}\n", key, toml_number(value));
    });
    if constexpr (requires { fit.steps; }) {
      if (!axes.empty() && !fit.steps.empty()) text += "steps = " + steps_text(fit.steps);
    }
    if (!axes.empty() && !fit.table.empty()) text += table_text(section, axes, fit.table);
  });
  if (const costmodel::SwitchReduceFit& fit = profile.switch_reduce; fit.min_ranks > 0) {
    text += fmt::format(
        "\n[collective.switch_all_reduce]\nmin_ranks = {}\nbase_s = {}\nlink_share = {}\nroot_s = {}\n",
        fit.min_ranks, toml_number(fit.base_s), toml_number(fit.link_share), toml_number(fit.root_s));
  }
  if (const costmodel::NetworkFit& fit = profile.network; fit.latency_scale > 0) {
    text += fmt::format("\n[network]\nlatency_scale = {}\nefficiency = {}\nmost_domains = {}\n",
                        toml_number(fit.latency_scale), toml_number(fit.efficiency), fit.most_domains);
    text += fmt::format("kind = {}\n", toml_text(fit.kind));
    std::string measured;
    for (std::size_t i = 0; i < kCollectiveNames.size(); ++i) {
      if (!fit.of_collective[i]) continue;
      measured += fmt::format("{}\"{}\"", measured.empty() ? "" : ", ", kCollectiveNames[i]);
    }
    text += fmt::format("collectives = [{}]\n", measured);
  }
  return text;
}

}  // namespace trainfront::inputs
