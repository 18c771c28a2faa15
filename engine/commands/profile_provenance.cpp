#include "engine/commands/profile_provenance.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trainfront::engine {
namespace {

std::string errors_text(const costmodel::ErrorSummary& summary, const char* what) {
  return summary.count == 0 ? "" : fmt::format(" {:.1f} % by {},", summary.mean, what);
}

std::string sizes_text(const costmodel::FitScore& score) {
  if (score.by_own_size.count == 0) return errors_text(score.by_size, "size");
  return errors_text(score.by_own_size, "size") + errors_text(score.by_size, "size with relatives'");
}

}  // namespace

void set_provenance(const costmodel::FitScore& score, const std::vector<std::string>& sources,
                    costmodel::DeviceProfile& profile) {
  std::string names;
  for (const std::string& source : sources) names += (names.empty() ? "" : "; ") + source;
  const std::string section =
      fmt::format("{}{}{}: ", score.operation, score.precision.empty() ? "" : " ", score.precision);
  std::erase_if(profile.sources, [&](const std::string& line) { return line.starts_with(section); });
  std::string line = fmt::format("{}{} samples of {}; {}; held-out MAPE{}{}", section, score.samples, names,
                                 score.form, errors_text(score.by_shape, "shape"), sizes_text(score));
  if (line.back() == ',') line.pop_back();
  profile.sources.push_back(std::move(line));
}

bool rests_on(const costmodel::DeviceProfile& profile, const std::string& section,
              const std::vector<std::string>& sources) {
  return std::any_of(profile.sources.begin(), profile.sources.end(), [&](const std::string& line) {
    if (!line.starts_with(section + ": ")) return false;
    return std::any_of(sources.begin(), sources.end(),
                       [&](const std::string& source) { return line.find(source) != std::string::npos; });
  });
}

void too_few(const std::string& what, std::size_t count, std::vector<std::string>& notes) {
  notes.push_back(fmt::format("{}: {} samples are too few to fit; its section stays as it was", what, count));
}

}  // namespace trainfront::engine
