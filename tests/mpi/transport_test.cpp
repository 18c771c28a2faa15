#include <doctest/doctest.h>

#include <chrono>
#include <ctime>
#include <map>
#include <string>
#include <thread>

#include "engine/errors.hpp"
#include "engine/transport.hpp"
#include "mpi/world.hpp"

using trainfront::engine::Message;
using trainfront::engine::SharedFailure;
using trainfront::engine::Tag;
using trainfront::engine::UsageError;
using trainfront::engine::World;
using trainfront::tests::world;

namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Text that no shift or loss of a piece leaves as it is.
std::string pattern(std::size_t bytes, int salt) {
  std::string text(bytes, '\0');
  std::uint32_t state = 12345u + static_cast<std::uint32_t>(salt);
  for (char& c : text) {
    state = state * 1664525u + 1013904223u;
    c = static_cast<char>(state >> 24);
  }
  return text;
}

Message next(World& ranks) {
  std::optional<Message> message = ranks.wait(30);
  REQUIRE(message.has_value());
  return std::move(*message);
}

}  // namespace

TEST_CASE("messages longer than a piece arrive whole, beside short ones") {
  World& ranks = world();
  const std::size_t long_bytes = (std::size_t{20} << 20) + 3;
  const int to = (ranks.rank() + 1) % ranks.size();
  const int from = (ranks.rank() + ranks.size() - 1) % ranks.size();
  ranks.send(to, Tag::kTest, pattern(long_bytes, ranks.rank()));
  ranks.send(to, Tag::kRequest, {});
  ranks.send(to, Tag::kTest, "after");

  std::map<Tag, std::vector<std::string>> got;
  for (int i = 0; i < 3; ++i) {
    const Message message = next(ranks);
    CHECK(message.from == from);
    got[message.tag].push_back(message.bytes);
  }
  REQUIRE(got[Tag::kTest].size() == 2);
  CHECK(got[Tag::kTest][0] == pattern(long_bytes, from));
  CHECK(got[Tag::kTest][1] == "after");
  REQUIRE(got[Tag::kRequest].size() == 1);
  CHECK(got[Tag::kRequest][0].empty());
  ranks.barrier();
}

TEST_CASE("a broadcast of any length reaches all ranks") {
  World& ranks = world();
  const std::string text = pattern((std::size_t{9} << 20) + 1, 7);
  CHECK(ranks.broadcast(ranks.rank() == 0 ? text : std::string()) == text);
  CHECK(ranks.broadcast({}).empty());
  const int last = ranks.size() - 1;
  CHECK(ranks.broadcast(ranks.rank() == last ? "from the last" : "", last) == "from the last");
}

TEST_CASE("ranks that wait for others sleep") {
  World& ranks = world();
  ranks.barrier();
  const double before = cpu_seconds();
  if (ranks.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(400));
  ranks.barrier();
  CHECK(cpu_seconds() - before < 0.2);
}

TEST_CASE("what one rank throws, all ranks throw, in the words of the lowest that did") {
  World& ranks = world();
  const int first = ranks.size() / 2;
  try {
    ranks.together([&] {
      if (ranks.rank() >= first) throw UsageError("rank " + std::to_string(ranks.rank()) + " cannot");
      return 1;
    });
    FAIL("nothing was thrown");
  } catch (const SharedFailure& failure) {
    CHECK(std::string(failure.what()) == "rank " + std::to_string(first) + " cannot");
    CHECK(failure.status == trainfront::engine::kBadInput);
  }
  CHECK(ranks.together([] { return 42; }) == 42);
}

TEST_CASE("the machines of the job are named once") {
  CHECK(world().hosts() == std::vector<std::string>{world().host()});  // these tests run on one machine
}

TEST_CASE("messages that nobody waits for any more do not reach the next job") {
  World& ranks = world();
  ranks.send(0, Tag::kTest, pattern(std::size_t{9} << 20, 1));
  ranks.settle();
  CHECK_FALSE(ranks.wait(0.02).has_value());
  ranks.barrier();
}

TEST_CASE("a message is under way until its receiver takes it") {
  World& ranks = world();
  if (ranks.size() == 1) return;
  if (ranks.rank() == 0) {
    ranks.send(1, Tag::kTest, "short enough to be sent before anybody asks for it");
    CHECK_FALSE(ranks.wait(0.02).has_value());
    CHECK(ranks.is_under_way(1, Tag::kTest));
    CHECK_FALSE(ranks.is_under_way(1, Tag::kReport));
  }
  ranks.barrier();
  if (ranks.rank() == 1) next(ranks);
  ranks.settle();
  CHECK_FALSE(ranks.is_under_way(1, Tag::kTest));
}
