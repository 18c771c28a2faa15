#include "inputs/quantity.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/near.hpp"

using namespace trainfront::inputs;

TEST_CASE("durations are seconds or carry a unit") {
  CHECK(parse_duration_s("90") == 90.0);
  CHECK(parse_duration_s("90s") == 90.0);
  CHECK(parse_duration_s("30m") == 1800.0);
  CHECK(parse_duration_s("30min") == 1800.0);
  CHECK(parse_duration_s("12h") == 43200.0);
  CHECK(parse_duration_s("30d") == 2592000.0);
  CHECK(parse_duration_s("2w") == 1209600.0);
  CHECK(parse_duration_s("0.5h") == 1800.0);
  CHECK(*parse_duration_s("60ms") == doctest::Approx(0.06));
  CHECK(*parse_duration_s("10us") == trainfront::near(1e-5));
  CHECK(parse_duration_s(" 12 h ") == 43200.0);
  CHECK(parse_duration_s("-5s") == -5.0);
}

TEST_CASE("durations add up from large units to small ones, each once") {
  CHECK(parse_duration_s("1d12h") == 129600.0);
  CHECK(parse_duration_s("1h 30m 5s") == 5405.0);
  CHECK(parse_duration_s("-1h30m") == -5400.0);
  for (const char* text : {"12h1d", "1h1h", "30m1h", "1h-5m", "1h 30"})
    CHECK_MESSAGE(!parse_duration_s(text), text);
}

TEST_CASE("what is no duration is refused") {
  for (const char* text : {"", " ", "h", "12x", "12 hours", "12H", "1e400s", "1e308d", "nan", "inf", "nans",
                           "1,5h", "0x10s", "--5s", "5ss"})
    CHECK_MESSAGE(!parse_duration_s(text), text);
}

TEST_CASE("money is dollars or carries k, M, B") {
  CHECK(parse_money_usd("2500000") == 2.5e6);
  CHECK(parse_money_usd("2.5M") == 2.5e6);
  CHECK(parse_money_usd("$850k") == 850e3);
  CHECK(parse_money_usd("1.2B") == 1.2e9);
  for (const char* text : {"", "$", "2.5m", "2.5MM", "M", "1e309", "nan", "2 500", "2.5M$", "EUR 5"})
    CHECK_MESSAGE(!parse_money_usd(text), text);
}

TEST_CASE("GB is a billion bytes, GiB is 2^30, and a bare number is neither") {
  CHECK(parse_size_bytes("80GB") == 80e9);
  CHECK(parse_size_bytes("80 GiB") == 80.0 * 1073741824.0);
  CHECK(parse_size_bytes("512MiB") == 536870912.0);
  CHECK(parse_size_bytes("1.5TB") == 1.5e12);
  CHECK(parse_size_bytes("100B") == 100.0);
  for (const char* text : {"80", "80G", "80gb", "80Gb", "GB", "", "80 GB s", "1e300PB", "nanGB"})
    CHECK_MESSAGE(!parse_size_bytes(text), text);
}

TEST_CASE("rates tell bits from bytes") {
  CHECK(parse_rate_bytes_per_s("200GB/s") == 200e9);
  CHECK(parse_rate_bytes_per_s("2GiB/s") == 2147483648.0);
  CHECK(parse_rate_bytes_per_s("400Gb/s") == 50e9);
  CHECK(parse_rate_bytes_per_s("400Gbps") == 50e9);
  CHECK(parse_rate_bytes_per_s("400Gbit/s") == 50e9);
  CHECK(parse_rate_bytes_per_s("1.6Tb/s") == 200e9);
  for (const char* text : {"200", "200GB", "200G/s", "200/s", "", "/s", "400GBps", "b/s"})
    CHECK_MESSAGE(!parse_rate_bytes_per_s(text), text);
}
