#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace trainfront::search {

// Caches are split into so many parts, each with a lock of its own.
inline constexpr std::size_t kCacheParts = 16;
inline constexpr std::size_t kCacheEntryBytes = 96;  // key, pointers and counts of an entry

// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
template <std::size_t N>
std::size_t hash_of(const std::array<std::int64_t, N>& key) {
  std::uint64_t hash = 0;
  for (const std::int64_t part : key) {
    hash += static_cast<std::uint64_t>(part) + 0x9e3779b97f4a7c15U;
    hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
    hash ^= hash >> 31U;
  }
  return hash;
}

// Within a part; which part, the remainder says.
struct HashInPart {
  template <std::size_t N>
  std::size_t operator()(const std::array<std::int64_t, N>& key) const {
    return hash_of(key) / kCacheParts;
  }
};

// Erases every second entry of a map that is not empty, whose order is that of chance: of what comes by in
// turns, more than there is room for, a part is then found, and what is old goes in the end. `drop` is told
// of each.
template <class Map, class Drop>
void erase_half(Map& map, const Drop& drop) {
  bool drops = map.size() == 1;
  for (auto entry = map.begin(); entry != map.end(); drops = !drops) {
    if (drops) drop(entry->second);
    entry = drops ? map.erase(entry) : std::next(entry);
  }
}

// Values that many threads share, each computed when first asked for. When a part of the cache is full half
// of its values are dropped and made anew when asked for again; those in use live on with their users. Values
// depend on their key alone, so it does not matter who asks first.
template <class Value, std::size_t N>
class SharedCache {
 public:
  using Key = std::array<std::int64_t, N>;

  explicit SharedCache(std::size_t most_bytes) : most_bytes_{most_bytes / kCacheParts} {}

  // `make` returns the Value, `bytes_of` what it takes. Made outside the lock: if two threads make the same
  // value the first one's stays.
  template <class Make, class Bytes>
  std::shared_ptr<const Value> get(const Key& key, const Make& make, const Bytes& bytes_of) {
    const std::size_t hash = hash_of(key);
    Shard& shard = shards_[hash % kCacheParts];
    {
      const std::lock_guard lock{shard.guard};
      const auto found = shard.values.find(key);
      if (found != shard.values.end()) return found->second.value;
    }
    auto value = std::make_shared<const Value>(make());
    const std::size_t bytes = bytes_of(*value) + kCacheEntryBytes;
    if (bytes > most_bytes_) return value;
    std::vector<std::shared_ptr<const Value>> dropped;  // freed when the lock is
    const std::lock_guard lock{shard.guard};
    while (shard.bytes + bytes > most_bytes_)
      erase_half(shard.values, [&](Entry& entry) {
        dropped.push_back(std::move(entry.value));
        shard.bytes -= entry.bytes;
      });
    const auto [entry, is_new] = shard.values.try_emplace(key, Entry{std::move(value), bytes});
    if (is_new) shard.bytes += bytes;
    return entry->second.value;
  }

 private:
  struct Entry {
    std::shared_ptr<const Value> value;
    std::size_t bytes = 0;
  };
  struct Shard {
    std::mutex guard;
    std::unordered_map<Key, Entry, HashInPart> values;
    std::size_t bytes = 0;
  };

  std::size_t most_bytes_;
  std::array<Shard, kCacheParts> shards_;
};

}  // namespace trainfront::search
