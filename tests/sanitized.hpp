#pragma once

namespace trainfront {

// Built with AddressSanitizer, where memory and time cost several times as much: tests of sheer size are
// smaller or not run.
#ifdef TRAINFRONT_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace trainfront
