#include "engine/progress.hpp"

#include <doctest/doctest.h>

#include <cmath>

using trainfront::engine::readable_count;
using trainfront::engine::readable_duration;

TEST_CASE("counts are read at a glance") {
  CHECK(readable_count(0) == "0");
  CHECK(readable_count(999) == "999");
  CHECK(readable_count(1000) == "1.00 k");
  CHECK(readable_count(12345) == "12.3 k");
  CHECK(readable_count(999999) == "1.00 M");
  CHECK(readable_count(2.5e12) == "2.50 T");
  CHECK(readable_count(1.8e19) == "18.0 E");
}

TEST_CASE("durations are read at a glance") {
  CHECK(readable_duration(0.25) == "0.2 s");
  CHECK(readable_duration(59.4) == "59 s");
  CHECK(readable_duration(59.9) == "1 min 00 s");
  CHECK(readable_duration(3725) == "1 h 02 min");
  CHECK(readable_duration(12.2 * 86400) == "12 d 4 h");
  CHECK(readable_duration(INFINITY) == "?");
}
