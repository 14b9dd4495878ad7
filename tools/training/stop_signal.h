#ifndef MILLRACE_TOOLS_TRAINING_STOP_SIGNAL_H_
#define MILLRACE_TOOLS_TRAINING_STOP_SIGNAL_H_

// SIGINT and SIGTERM as a request that the training loop looks at.

namespace millrace::tools::training {

// From now on the first SIGINT or SIGTERM of this process is only noted, by
// whatever thread it hits; a second one ends the process at once, with exit
// code 128 + its number. Other threads' blocking calls are restarted.
void CatchStopSignals();

// From now on both are ignored: for a process that is on its way out with an
// exit code of its own, which a launcher that tidies up must not change.
void IgnoreStopSignals();

// SIGINT or SIGTERM once it came; else 0. Thread-safe.
int StopSignal();

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_STOP_SIGNAL_H_
