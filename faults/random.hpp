#pragma once

#include <cmath>
#include <cstdint>

namespace trainfront::faults {

// Counter-based random numbers (Philox 4x32-10: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3",
// SC'11): the n-th number of a stream depends on (seed, stream, n) alone, so results do not depend on which
// rank or thread draws them.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  std::uint32_t bits() {
    if (used_ == 4) refill();
    return block_[used_++];
  }
  // In (0, 1), 53 bits.
  double uniform() {
    const std::uint64_t high = bits();
    const std::uint64_t low = bits();
    const std::uint64_t mantissa = ((high << 32) | low) >> 11;
    return (static_cast<double>(mantissa) + 0.5) * 0x1p-53;
  }
  // In [0, n), n > 0 and below 2^32, free of bias (Lemire, "Fast Random Integer Generation in an Interval",
  // 2019).
  std::uint32_t below(std::uint32_t n) {
    std::uint64_t product = std::uint64_t{bits()} * n;
    if (static_cast<std::uint32_t>(product) < n) {
      const std::uint32_t threshold = (0U - n) % n;
      while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{bits()} * n;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }
  // Mean 1.
  double exponential() { return -std::log(uniform()); }
  // A whole number from 1 on, of this mean (1 or more).
  int geometric(double mean) {
    int number = 1;
    while (uniform() > 1 / mean) ++number;
    return number;
  }
  // Mean 0, variance 1 (Box and Muller).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * uniform());
  }

 private:
  void refill() {
    std::uint32_t c0 = static_cast<std::uint32_t>(counter_);
    std::uint32_t c1 = static_cast<std::uint32_t>(counter_ >> 32);
    std::uint32_t c2 = static_cast<std::uint32_t>(stream_);
    std::uint32_t c3 = static_cast<std::uint32_t>(stream_ >> 32);
    std::uint32_t k0 = static_cast<std::uint32_t>(seed_);
    std::uint32_t k1 = static_cast<std::uint32_t>(seed_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c0;
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c2;
      c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<std::uint32_t>(p1);
      c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<std::uint32_t>(p0);
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    block_[0] = c0;
    block_[1] = c1;
    block_[2] = c2;
    block_[3] = c3;
    ++counter_;
    used_ = 0;
  }

  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t counter_ = 0;
  std::uint32_t block_[4] = {};
  int used_ = 4;
};

}  // namespace trainfront::faults
