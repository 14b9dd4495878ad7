#ifndef MILLRACE_TOOLS_CHILD_PROCESS_H_
#define MILLRACE_TOOLS_CHILD_PROCESS_H_

// A program run in place of the caller: signals sent to the caller are not lost
// and do not end it before the program has ended.

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::tools {

// How a program ended.
struct ChildEnd {
  pid_t pid = 0;
  // Of exit(), or -1 if a signal ended it.
  int exit_code = -1;
  // That ended it, or 0.
  int signal = 0;
};

// Called with each signal that this process gets while the child runs, and the
// child's id: HUP, INT, QUIT, TERM, USR1 or USR2; and with 0 once the child has
// started and ten times a second from then on.
using SignalHandler = std::function<void(int signal, pid_t child)>;

// Runs argv[0], looked up in PATH if it has no slash, until it ends. It gets a
// process group of its own, so a terminal's Ctrl-C reaches this process alone,
// and is killed if this process dies. Its descendants are not waited for.
// NotFound, PermissionDenied and so on if it can't be started.
//
// Call it from the only thread of the process: it blocks the signals named
// above, and leaves them blocked.
absl::StatusOr<ChildEnd> RunChild(const std::vector<std::string>& argv,
                                  const SignalHandler& on_signal);

// "SIGKILL" for 9; "signal 77" for one without a name.
std::string SignalName(int signal);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_CHILD_PROCESS_H_
