#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "search/shared_cache.hpp"

namespace trainfront::search {

// Values that a thread works in, each lent to one at a time and kept for the next that asks for the same key.
// When a part of the pool is full its values are dropped. All values of one key are as good.
template <class Value, std::size_t N>
class LendingPool {
 public:
  using Key = std::array<std::int64_t, N>;

  struct GiveBack {
    void operator()(Value* value) const { pool->give_back(key, std::unique_ptr<Value>(value)); }
    LendingPool* pool = nullptr;
    Key key{};
  };
  // The pool must outlive it.
  using Loan = std::unique_ptr<Value, GiveBack>;

  explicit LendingPool(std::size_t most_bytes) : most_bytes_{most_bytes / kCacheParts} {}

  // A value of the key that nobody works in, or `make()`, which returns a unique_ptr.
  template <class Make>
  Loan borrow(const Key& key, const Make& make) {
    if (auto kept = take(key)) return Loan(kept.release(), {this, key});
    return Loan(make().release(), {this, key});
  }

 private:
  struct Shard {
    std::mutex guard;
    std::unordered_multimap<Key, std::unique_ptr<Value>, HashInPart> values;
    std::size_t bytes = 0;
  };

  std::unique_ptr<Value> take(const Key& key) {
    Shard& shard = shards_[hash_of(key) % kCacheParts];
    const std::lock_guard lock{shard.guard};
    const auto found = shard.values.find(key);
    if (found == shard.values.end()) return nullptr;
    std::unique_ptr<Value> value = std::move(found->second);
    shard.bytes -= value->bytes() + kCacheEntryBytes;
    shard.values.erase(found);
    return value;
  }

  void give_back(const Key& key, std::unique_ptr<Value> value) {
    const std::size_t bytes = value->bytes() + kCacheEntryBytes;
    if (bytes > most_bytes_) return;
    Shard& shard = shards_[hash_of(key) % kCacheParts];
    const std::lock_guard lock{shard.guard};
    if (shard.bytes + bytes > most_bytes_) {
      shard.values.clear();
      shard.bytes = 0;
    }
    try {
      shard.values.emplace(key, std::move(value));
    } catch (const std::bad_alloc&) {
      return;  // then it is not kept
    }
    shard.bytes += bytes;
  }

  std::size_t most_bytes_;
  std::array<Shard, kCacheParts> shards_;
};

}  // namespace trainfront::search
