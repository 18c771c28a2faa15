#include "engine/near_best.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

namespace trainfront::engine {

std::vector<search::Neighbour> find_near_best(const search::Space& space, const search::Vicinity& around,
                                              std::size_t most, int threads) {
  constexpr std::uint64_t kPiece = 64;  // blocks
  std::atomic<std::uint64_t> next{0};
  std::mutex guard;
  std::exception_ptr thrown;
  search::Neighbours all(around);
#pragma omp parallel num_threads(threads)
  try {
    search::Neighbours mine(around);
    for (std::uint64_t block = next.fetch_add(kPiece); block < space.blocks(); block = next.fetch_add(kPiece))
      search::survey(space, block, block + kPiece, mine);
    const std::lock_guard lock(guard);
    all.merge(mine);
  } catch (...) {
    const std::lock_guard lock(guard);
    thrown = std::current_exception();
  }
  if (thrown) std::rethrow_exception(thrown);
  return all.nearest(most);
}

}  // namespace trainfront::engine
