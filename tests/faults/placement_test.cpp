#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "faults/placement.hpp"

using namespace trainfront::faults;

TEST_CASE("offsets are distinct, start at 0 and stay below N") {
  for (const Placement placement : {Placement::kGolomb, Placement::kRandom, Placement::kConsecutive}) {
    for (const std::int64_t n : {1, 2, 9, 64, 1000}) {
      for (int r = 1; r <= std::min<std::int64_t>(n, 20); ++r) {
        const auto chosen = offsets(n, r, placement, 7);
        REQUIRE(std::ssize(chosen) == r);
        CHECK(chosen.front() == 0);
        CHECK(chosen.back() < n);
        CHECK(std::set<std::int64_t>(chosen.begin(), chosen.end()).size() == chosen.size());
        CHECK(std::is_sorted(chosen.begin(), chosen.end()));
      }
    }
  }
  CHECK(offsets(4, 5, Placement::kGolomb).empty());
  CHECK(offsets(4, 0, Placement::kRandom).empty());
}

TEST_CASE("where N allows, Golomb offsets let two types share one host at most") {
  for (const int r : {2, 3, 5, 9, 20}) {
    const auto hosts = overlaps(4096, r, offsets(4096, r, Placement::kGolomb));
    REQUIRE(!hosts.empty());
    CHECK(hosts.back().hosts <= 1);
    CHECK(hosts.back().types == r * (r - 1));
  }
}

TEST_CASE("overlaps count every other type and every shared host once") {
  for (const std::int64_t n : {5, 13, 64}) {
    for (int r = 1; r <= n; r += 3) {
      for (const Placement placement : {Placement::kGolomb, Placement::kRandom, Placement::kConsecutive}) {
        double types = 0;
        double hosts = 0;
        for (const Overlap& overlap : overlaps(n, r, offsets(n, r, placement, 3))) {
          types += overlap.types;
          hosts += overlap.types * overlap.hosts;
        }
        CHECK(types == n - 1);
        CHECK(hosts == r * (r - 1));
      }
    }
  }
}

TEST_CASE("the mean overlaps of random offsets are those of a count over all of them") {
  // N = 7, r = 3: of the C(6,2) = 15 sets that hold 0, count differences by hand of the program.
  const std::int64_t n = 7;
  double shared[4] = {};
  int sets = 0;
  for (std::int64_t a = 1; a < n; ++a) {
    for (std::int64_t b = a + 1; b < n; ++b) {
      for (const Overlap& overlap : overlaps(n, 3, {0, a, b})) shared[overlap.hosts] += overlap.types;
      ++sets;
    }
  }
  for (const Overlap& overlap : random_overlaps(n, 3)) {
    CHECK(overlap.types == doctest::Approx(shared[overlap.hosts] / sets).epsilon(1e-9));
  }
}

TEST_CASE("random offsets depend on the seed and on nothing else") {
  CHECK(offsets(500, 9, Placement::kRandom, 1) == offsets(500, 9, Placement::kRandom, 1));
  CHECK(offsets(500, 9, Placement::kRandom, 1) != offsets(500, 9, Placement::kRandom, 2));
}
