#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trainfront::inputs {

// Quantities as people write them, in SI. Each returns nothing for text that is not one, overflows a double
// or is not finite; a sign is read, ranges are the caller's business.

// "90", "90s", "30m", "12h", "30d", "2w", "250ms", "10us", and sums in falling units: "1d12h". Seconds.
std::optional<double> parse_duration_s(std::string_view text);

// "2500000", "2.5M", "$850k", "1.2B". Dollars.
std::optional<double> parse_money_usd(std::string_view text);

// "80GB" (1e9), "80GiB" (2^30), "512MiB", "1.5TB", "100B". A bare number is refused: GB is not GiB. Bytes.
std::optional<double> parse_size_bytes(std::string_view text);

// "200GB/s", "1.5TiB/s", and in bits "400Gb/s", "400Gbit/s", "400Gbps". A bare number is refused. Bytes per
// second.
std::optional<double> parse_rate_bytes_per_s(std::string_view text);

// What each of them reads, for messages.
inline constexpr std::string_view kDurationForm = "seconds or text like \"90s\", \"30m\", \"12h\", \"30d\"";
inline constexpr std::string_view kMoneyForm = "dollars or text like \"2.5M\", \"850k\"";
inline constexpr std::string_view kSizeForm =
    "text with a unit like \"80GB\" (1e9 bytes) or \"80GiB\" (2^30 bytes)";
inline constexpr std::string_view kRateForm =
    "text with a unit like \"200GB/s\", \"200GiB/s\" or \"400Gb/s\"";

}  // namespace trainfront::inputs
