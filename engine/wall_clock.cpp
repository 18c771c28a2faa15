#include "engine/wall_clock.hpp"

#include <array>
#include <ctime>

namespace trainfront::engine {
namespace {

constexpr const char* kForm = "%Y-%m-%dT%H:%M:%SZ";

}  // namespace

std::int64_t utc_seconds() {
  return std::time(nullptr);
}

std::string utc_text(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), kForm, &parts);
  return text.data();
}

std::optional<std::int64_t> parse_utc(std::string_view text) {
  std::tm parts{};
  const std::string terminated(text);
  const char* end = ::strptime(terminated.c_str(), kForm, &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&parts);
}

}  // namespace trainfront::engine
