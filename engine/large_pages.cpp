#include "engine/large_pages.hpp"

#include <cstddef>
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
  char* const before = static_cast<char*>(::sbrk(0));
  void* volatile more = std::malloc(kMostBytes / 2);  // than is there: the heap grows
  const char* const after = static_cast<char*>(::sbrk(0));
  std::free(more);
  mallopt(M_TOP_PAD, kMostBytes / 2);
  char* const first = before + (kLargePage - reinterpret_cast<std::uintptr_t>(before) % kLargePage);
  if (first < after) ::madvise(first, static_cast<std::size_t>(after - first), MADV_HUGEPAGE);
}

#else

void use_large_pages() {}

#endif

}  // namespace trainfront::engine
