#include "engine/large_pages.hpp"

#include <cstdint>
#include <cstdlib>  // which says whether it is glibc's

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace trainfront::engine {

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)

void use_large_pages() {
  constexpr std::uintptr_t kLargePage = std::uintptr_t{1} << 21U;
  constexpr int kHeapBytes = 1 << 28;  // of address space; memory is taken page by page
  constexpr int kMostBytes = 1 << 25;  // that malloc can be told to take from the heap at once
  mallopt(M_MMAP_THRESHOLD, kMostBytes);
  mallopt(M_TRIM_THRESHOLD, 2 * kHeapBytes);  // what is freed stays for the next
  mallopt(M_TOP_PAD, kHeapBytes);
  const auto before = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  void* volatile more = std::malloc(kMostBytes / 2);  // than is there: the heap grows
  const auto after = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  std::free(more);
  mallopt(M_TOP_PAD, kMostBytes / 2);
  const std::uintptr_t first = (before + kLargePage - 1) / kLargePage * kLargePage;
  const std::uintptr_t last = after / kLargePage * kLargePage;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

#else

void use_large_pages() {}

#endif

}  // namespace trainfront::engine
