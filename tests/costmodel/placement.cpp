#include <doctest/doctest.h>

#include <map>

#include "costmodel/collective_time.hpp"
#include "costmodel/data_parallel_time.hpp"
#include "costmodel/segment.hpp"

namespace trainfront::costmodel {

TEST_CASE("a group within a domain, one per domain, and whole domains") {
  CHECK(place_group(1, 8, 8) == Placement{8, 1, 8});
  CHECK(place_group(2, 4, 8) == Placement{4, 1, 4});
  CHECK(place_group(8, 16, 8) == Placement{16, 16, 1});
  CHECK(place_group(1, 64, 8) == Placement{64, 8, 8});
  CHECK(place_group(2, 16, 8) == Placement{16, 4, 4});
  CHECK(place_group(5, 1, 8) == Placement{1, 1, 1});
}

TEST_CASE("a group that straddles a domain's edge is placed by its worst members") {
  // 12 of 8: 8 + 4 or 4 + 8. 3 of 8: the groups 6..8 and 15..17 leave one member alone.
  CHECK(place_group(1, 12, 8) == Placement{12, 2, 4});
  CHECK(place_group(1, 3, 8) == Placement{3, 2, 1});
}

TEST_CASE("racks are filled in segments that keep groups whole, servers to the last GPU") {
  Layout layout;
  layout.tp = 16;
  CHECK(segment_gpus(layout, 72) == 64);
  CHECK(segment_gpus(layout, 8) == 8);
  layout.tp = 12;
  CHECK(segment_gpus(layout, 72) == 72);
  layout.tp = 1;
  layout.ep = 64;
  CHECK(segment_gpus(layout, 72) == 64);
  layout.ep = 128;
  CHECK(segment_gpus(layout, 72) == 64);
  layout.ep = 72;
  CHECK(segment_gpus(layout, 72) == 72);
}

TEST_CASE("a job that fits into one domain has no group beyond it") {
  Layout layout;
  CHECK(dense_replicas(layout, 6, 8).all == Placement{6, 1, 6});  // 6 GPUs of a server
  CHECK(dense_replicas(layout, 64, 72).all == Placement{64, 1, 64});
  CHECK(dense_replicas(layout, 128, 72).all.domains == 2);
  layout.shard_group = 8;
  CHECK(dense_replicas(layout, 64, 72).across_shards == Placement{8, 1, 8});
}

// Every group of a large grid, member by member.
TEST_CASE("place_group equals enumeration for domains of 4, 6, 8, 18 and 72") {
  for (const int domain : {4, 6, 8, 18, 72}) {
    for (int stride = 1; stride <= 20; ++stride) {
      for (int size = 2; size <= 24; ++size) {
        int domains = 0, least = size;
        for (int block = 0; block < domain; ++block) {
          for (int offset = 0; offset < stride; ++offset) {
            std::map<int, int> members;
            for (int i = 0; i < size; ++i) ++members[(block * stride * size + offset + i * stride) / domain];
            domains = std::max(domains, static_cast<int>(members.size()));
            if (members.size() == 1) continue;
            for (const auto& [at, count] : members) least = std::min(least, count);
          }
        }
        const Placement placement = place_group(stride, size, domain);
        CAPTURE(domain);
        CAPTURE(stride);
        CAPTURE(size);
        CHECK(placement.domains == domains);
        CHECK(placement.per_domain <= least);
        // The bound is tight but for middle domains whose fill varies.
        if (domain % stride == 0 || stride >= domain) CHECK(placement.per_domain == least);
      }
    }
  }
}

}  // namespace trainfront::costmodel
