#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace trainfront::search {

// Numbers of combinations, which may be more than 64 bits count: then the most that they do.

inline std::uint64_t plus_saturating(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

inline std::uint64_t times_saturating(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

inline std::uint64_t times_saturating(std::initializer_list<std::uint64_t> factors) {
  if (std::find(factors.begin(), factors.end(), std::uint64_t{0}) != factors.end()) return 0;
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) product = times_saturating(product, factor);
  return product;
}

}  // namespace trainfront::search
