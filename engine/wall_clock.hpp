#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainfront::engine {

// Seconds since 1970-01-01T00:00:00Z.
std::int64_t utc_seconds();
// "2026-11-29T15:04:05Z" and back; none for another form.
std::string utc_text(std::int64_t seconds);
std::optional<std::int64_t> parse_utc(std::string_view text);

}  // namespace trainfront::engine
