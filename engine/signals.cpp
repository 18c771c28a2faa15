#include "engine/signals.hpp"

#include <csignal>

namespace trainfront::engine {
namespace {

// A handler can reach nothing else.
volatile std::sig_atomic_t g_raised = 0;
int g_depth = 0;

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGUSR1};

void note(int signal) {
  if (g_raised != 0 && signal == SIGINT) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  g_raised = signal;
}

}  // namespace

StopSignals::StopSignals() {
  if (g_depth++ > 0) return;
  g_raised = 0;
  struct sigaction action = {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | SA_NODEFER;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

StopSignals::~StopSignals() {
  --g_depth;
}

int StopSignals::raised() const {
  return g_raised;
}

}  // namespace trainfront::engine
