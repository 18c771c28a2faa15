#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace trainfront::search {

// Values by number, each computed when first asked for and kept while there is room, for any number of
// threads. Beyond it they are made anew each time: walks come by in the same order again and again, so that
// the first to come are as good to keep as any. Values depend on their number alone.
template <class Value>
class LazyTable {
 public:
  LazyTable(std::size_t count, std::size_t most_bytes)
      : slots_(count), most_bytes_{most_bytes}, bytes_{count * sizeof(slots_[0])} {}
  ~LazyTable() {
    for (auto& slot : slots_) delete slot.load(std::memory_order_relaxed);
  }
  LazyTable(const LazyTable&) = delete;
  LazyTable& operator=(const LazyTable&) = delete;

  // Value `number`, by `make()` if nobody has made it. It lies in the table, or in `own` if there is no room.
  template <class Make, class Bytes>
  const Value& get(std::size_t number, std::unique_ptr<const Value>& own, const Make& make,
                   const Bytes& bytes_of) {
    std::atomic<const Value*>& slot = slots_[number];
    if (const Value* known = slot.load(std::memory_order_acquire)) return *known;
    own = std::make_unique<const Value>(make());
    const std::size_t bytes = bytes_of(*own);
    if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > most_bytes_) {
      bytes_.fetch_sub(bytes, std::memory_order_relaxed);
      return *own;
    }
    const Value* empty = nullptr;
    if (slot.compare_exchange_strong(empty, own.get(), std::memory_order_acq_rel)) return *own.release();
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);  // somebody else made it meanwhile
    return *empty;
  }

  // Of the values and their places.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::vector<std::atomic<const Value*>> slots_;
  std::size_t most_bytes_;
  std::atomic<std::size_t> bytes_;
};

}  // namespace trainfront::search
