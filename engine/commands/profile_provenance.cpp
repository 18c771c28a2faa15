#include "engine/commands/profile_provenance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace trainfront::engine {
namespace {

std::string errors_text(const costmodel::ErrorSummary& summary, const char* what) {
  return summary.count == 0 ? "" : fmt::format(" {:.1f} % by {},", summary.mean, what);
}

std::string sizes_text(const costmodel::FitScore& score) {
  if (score.by_own_size.count == 0) return errors_text(score.by_size, "size");
  return errors_text(score.by_own_size, "size") + errors_text(score.by_size, "sizes that relatives lack too");
}

// Those that a section's line names: "all_gather: 70 samples of A; B; table; held-out MAPE ...".
std::vector<std::string> sources_in(std::string_view line) {
  constexpr std::string_view kBefore = " samples of ", kBetween = "; ";
  std::vector<std::string> parts;
  const std::size_t at = line.find(kBefore);
  if (at == std::string_view::npos) return parts;
  line.remove_prefix(at + kBefore.size());
  for (std::size_t end = line.find(kBetween); end != std::string_view::npos; end = line.find(kBetween)) {
    parts.emplace_back(line.substr(0, end));
    line.remove_prefix(end + kBetween.size());
  }
  if (!parts.empty()) parts.pop_back();  // the form; the errors are what is left of the line
  return parts;
}

}  // namespace

std::vector<std::string> earlier_sources(const costmodel::DeviceProfile& profile,
                                         const std::string& section) {
  for (const std::string& line : profile.sources) {
    if (line.starts_with(section + ": ")) return sources_in(line);
  }
  return {};
}

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
  const std::vector<std::string> earlier = earlier_sources(profile, section);
  return std::any_of(sources.begin(), sources.end(), [&](const std::string& source) {
    return std::find(earlier.begin(), earlier.end(), source) != earlier.end();
  });
}

void too_few(const std::string& what, std::size_t count, std::vector<std::string>& notes) {
  notes.push_back(fmt::format("{}: {} samples are too few to fit; its section stays as it was", what, count));
}

}  // namespace trainfront::engine
