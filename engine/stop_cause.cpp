#include "engine/stop_cause.hpp"

#include <csignal>

namespace trainfront::engine {

std::string name(const StopCause& cause) {
  switch (cause.kind) {
    case StopCause::Kind::kNone:
      return {};
    case StopCause::Kind::kFinish:
      return "finish";
    case StopCause::Kind::kTimeLimit:
      return "time limit";
    case StopCause::Kind::kSignal:
      break;
  }
  switch (cause.signal) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return "signal " + std::to_string(cause.signal);
  }
}

}  // namespace trainfront::engine
