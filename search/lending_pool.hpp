#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/shared_cache.hpp"

namespace trainfront::search {

// Values that a thread works in, each lent to one at a time and kept for the next that asks for the same key.
// When the pool is full half of its values are dropped. All values of one key are as good.
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

  explicit LendingPool(std::size_t most_bytes) : most_bytes_{most_bytes} {}

  // A value of the key that nobody works in, or `make()`, which returns a unique_ptr.
  template <class Make>
  Loan borrow(const Key& key, const Make& make) {
    if (auto kept = take(key)) return Loan(kept.release(), {this, key});
    return Loan(make().release(), {this, key});
  }

 private:
  std::unique_ptr<Value> take(const Key& key) {
    const std::lock_guard lock{guard_};
    const auto found = values_.find(key);
    if (found == values_.end()) return nullptr;
    std::unique_ptr<Value> value = std::move(found->second);
    bytes_ -= bytes_of(*value);
    values_.erase(found);
    return value;
  }

  void give_back(const Key& key, std::unique_ptr<Value> value) {
    const std::size_t bytes = bytes_of(*value);
    if (bytes > most_bytes_) return;
    std::vector<std::unique_ptr<Value>> dropped;  // freed when the lock is
    const std::lock_guard lock{guard_};
    try {
      while (bytes_ + bytes > most_bytes_)
        erase_half(values_, [&](std::unique_ptr<Value>& other) {
          const std::size_t less = bytes_of(*other);
          dropped.push_back(std::move(other));
          bytes_ -= less;
        });
      values_.emplace(key, std::move(value));
    } catch (const std::bad_alloc&) {
      return;  // then it is not kept
    }
    bytes_ += bytes;
  }

  static std::size_t bytes_of(const Value& value) { return value.bytes() + kCacheEntryBytes; }

  struct Hash {
    std::size_t operator()(const Key& key) const { return hash_of(key); }
  };

  std::size_t most_bytes_;
  std::mutex guard_;
  std::unordered_multimap<Key, std::unique_ptr<Value>, Hash> values_;
  std::size_t bytes_ = 0;
};

}  // namespace trainfront::search
