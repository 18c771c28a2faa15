#pragma once

#include <string>

namespace trainfront::engine {

// Why a sweep ends before all is covered. Travels between ranks as bytes.
struct StopCause {
  enum class Kind : int { kNone, kSignal, kFinish, kTimeLimit };
  Kind kind = Kind::kNone;
  int signal = 0;  // of kSignal

  bool operator==(const StopCause&) const = default;
};

// "SIGTERM", "finish", "time limit"; empty for kNone.
std::string name(const StopCause& cause);

}  // namespace trainfront::engine
