#include "tools/training/stop_signal.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace millrace::tools::training {
namespace {

// Publishes nothing but itself.
std::atomic<int> noted_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

void NoteSignal(int signal_number) {
  if (noted_signal.exchange(signal_number) != 0) _exit(128 + signal_number);
}

void Handle(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  // These can't fail for valid signals.
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

void CatchStopSignals() { Handle(NoteSignal); }

void IgnoreStopSignals() { Handle(SIG_IGN); }

int StopSignal() { return noted_signal.load(std::memory_order_relaxed); }

}  // namespace millrace::tools::training
