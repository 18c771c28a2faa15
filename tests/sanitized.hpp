#pragma once

namespace trainfront {

// Built with AddressSanitizer, where memory and time cost several times as much: tests of sheer size are
// smaller or not run.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace trainfront
