#include "engine/fingerprint.hpp"

#include "engine/atomic_file.hpp"

namespace trainfront::engine {

std::uint64_t fingerprint(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

std::uint64_t program_fingerprint() {
  return fingerprint(read_file("/proc/self/exe"));
}

}  // namespace trainfront::engine
