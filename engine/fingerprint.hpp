#pragma once

#include <cstdint>
#include <string_view>

namespace trainfront::engine {

// FNV-1a, 64 bits (Fowler, Noll, Vo): finds damage and change, not malice. Hash several texts by passing on
// `seed`.
inline constexpr std::uint64_t kFingerprintSeed = 0xcbf29ce484222325;
std::uint64_t fingerprint(std::string_view bytes, std::uint64_t seed = kFingerprintSeed);

// Of the running executable's own bytes: another build may compute other numbers. Throws MachineError.
std::uint64_t program_fingerprint();

}  // namespace trainfront::engine
