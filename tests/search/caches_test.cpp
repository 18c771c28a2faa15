#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "search/lazy_table.hpp"
#include "search/lending_pool.hpp"
#include "search/shared_cache.hpp"

namespace trainfront::search {
namespace {

struct Tool {
  explicit Tool(std::int64_t key, std::size_t size = 1000) : of{key}, size_bytes{size} {}
  std::size_t bytes() const { return size_bytes; }
  std::int64_t of;
  std::size_t size_bytes;
  std::atomic<bool> in_use = false;
};

std::size_t length(const std::string& text) {
  return text.size();
}

}  // namespace

TEST_CASE("What is lent is nobody else's, and is lent again once it is given back") {
  LendingPool<Tool, 1> pool{1 << 20};
  int made = 0;
  const auto make = [&] {
    ++made;
    return std::make_unique<Tool>(7);
  };
  const Tool* first = nullptr;
  {
    const auto a = pool.borrow({7}, make);
    const auto b = pool.borrow({7}, make);
    CHECK(a.get() != b.get());
    CHECK(made == 2);
    first = a.get();
  }
  const auto c = pool.borrow({7}, make);
  const auto d = pool.borrow({7}, make);
  CHECK(made == 2);
  CHECK((c.get() == first || d.get() == first));
  const auto other = pool.borrow({8}, [] { return std::make_unique<Tool>(8); });
  CHECK(other->of == 8);
}

TEST_CASE("A full pool forgets, but not all at once, and what is too large for it is not kept") {
  LendingPool<Tool, 1> pool{36 * (1000 + kCacheEntryBytes)};
  int made = 0;
  const auto go_round = [&](std::int64_t keys) {
    for (std::int64_t key = 0; key < keys; ++key) {
      const auto tool = pool.borrow({key}, [&] {
        ++made;
        return std::make_unique<Tool>(key);
      });
      CHECK(tool->of == key);
    }
  };
  for (int round = 0; round < 3; ++round) go_round(200);
  CHECK(made > 400);
  for (int round = 0; round < 10; ++round) go_round(45);
  made = 0;
  for (int round = 0; round < 10; ++round) go_round(45);  // a quarter more than there is room for
  CHECK(made < 300);
  const auto large = [&] {
    ++made;
    return std::make_unique<Tool>(1, 50'000);
  };
  made = 0;
  pool.borrow({1000}, large);
  pool.borrow({1000}, large);
  CHECK(made == 2);
}

TEST_CASE("Threads that borrow at once never work in the same value") {
  LendingPool<Tool, 1> pool{1 << 16};
  std::atomic<int> clashes{0};
  const auto work = [&](std::int64_t seed) {
    for (std::int64_t i = 0; i < 20'000; ++i) {
      const std::int64_t key = (i * 7 + seed) % 5;
      const auto tool = pool.borrow({key}, [&] { return std::make_unique<Tool>(key); });
      if (tool->of != key || tool->in_use.exchange(true)) ++clashes;
      tool->in_use = false;
    }
  };
  std::vector<std::thread> threads;
  for (std::int64_t seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  CHECK(clashes == 0);
}

TEST_CASE("A shared value is made once, and one that the cache drops lives on with its users") {
  SharedCache<std::string, 2> cache{16 * 1000};
  int made = 0;
  const auto get = [&](std::int64_t key) {
    const auto make = [&] {
      ++made;
      return std::string(400, static_cast<char>('a' + key % 26));
    };
    return cache.get({key, 1}, make, length);
  };
  const auto kept = get(0);
  CHECK(get(0) == kept);
  CHECK(made == 1);
  for (std::int64_t key = 1; key < 500; ++key) CHECK(get(key)->front() == 'a' + key % 26);
  CHECK(made == 500);
  CHECK(*kept == std::string(400, 'a'));
  CHECK(*get(0) == *kept);
  CHECK(made == 501);
}

TEST_CASE("A lazy table keeps the first values that it has room for") {
  LazyTable<std::string> table{100, 100 * sizeof(void*) + 250};
  std::unique_ptr<const std::string> own;
  int made = 0;
  const auto get = [&](std::size_t number) {
    const auto make = [&] {
      ++made;
      return std::string(100, static_cast<char>('a' + number));
    };
    return table.get(number, own, make, length).front();
  };
  for (int round = 0; round < 3; ++round)
    for (std::size_t number = 0; number < 4; ++number) CHECK(get(number) == static_cast<char>('a' + number));
  CHECK(made == 2 + 3 * 2);
  CHECK(table.bytes() == 100 * sizeof(void*) + 200);
}

}  // namespace trainfront::search
