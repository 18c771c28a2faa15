#include <doctest/doctest.h>

#include "costmodel/dispatch_time.hpp"
#include "tests/costmodel/test_device.hpp"
#include "tests/near.hpp"

namespace trainfront::costmodel {
namespace {

// DeepSeek-V3: 8 of 256 experts a token (arXiv 2412.19437, section 2.1.2).
Dispatch of_deepseek_v3(int groups, int groups_per_token) {
  return {.tokens = 4096,
          .token_bytes = 7168 * 2,
          .copies = 8,
          .groups = groups,
          .groups_per_token = groups_per_token};
}

TEST_CASE("without groups a token visits as many nodes as draws with return do") {
  CHECK(places_visited(1, of_deepseek_v3(0, 0)) == near(1));
  CHECK(places_visited(8, of_deepseek_v3(0, 0)) == near(8 * (1 - 0.343609)).epsilon(1e-5));
}

TEST_CASE("four of eight groups: four nodes at most where a node holds a group") {
  const Dispatch limited = of_deepseek_v3(8, 4);
  CHECK(places_visited(8, limited) == near(4));
  // Two groups a node: missed if neither is chosen, 4/8 * 3/7.
  CHECK(places_visited(4, limited) == near(4 * (1 - 12.0 / 56)));
  CHECK(places_visited(1, limited) == near(1));
  // Two nodes a group, two experts of it: half of the time both on one.
  CHECK(places_visited(16, limited) == near(4 * 1.5));
}

TEST_CASE("limited routing never sends more, and less where it binds") {
  Hardware hardware = h100_cluster();
  for (const int ranks : {8, 16, 32, 64, 128, 256}) {
    CAPTURE(ranks);
    const Placement placement = place_group(1, ranks, 8);
    const double anywhere = dispatch_time(hardware, of_deepseek_v3(0, 0), placement).seconds;
    const double limited = dispatch_time(hardware, of_deepseek_v3(8, 4), placement).seconds;
    CHECK(limited <= anywhere);
    if (ranks == 64) CHECK(limited < 0.8 * anywhere);
  }
  CHECK(dispatch_time(hardware, of_deepseek_v3(8, 4), {}).seconds == 0);
}

}  // namespace
}  // namespace trainfront::costmodel
