#ifndef MILLRACE_TOOLS_RANK_PROCESS_H_
#define MILLRACE_TOOLS_RANK_PROCESS_H_

// A program run as a rank of a job, with somebody beside it who sees how it
// ends: mpirun itself only tells that some process was killed.

#include <signal.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/child_process.h"

namespace millrace::tools {

// mpirun passes these on to all ranks; the wrapper of rank 0 gives TERM or INT
// to its program in their place, those of the others nothing.
inline constexpr int kSignalForTerm = SIGUSR1;
inline constexpr int kSignalForInt = SIGUSR2;

// Runs `argv` and returns why the job fails, if this was the cause: OK for exit
// code 0; an error with the program's own exit code; kCommunication for a
// program that was killed by a signal, naming it and the process; NotFound with
// kUsage if it can't be started. Gives TERM, INT, HUP and QUIT to the program;
// one that dies of such a signal has the signal's exit code (143, 130).
absl::Status RunAlone(const std::vector<std::string>& argv);

// The same under mpirun, for the rank in OMPI_COMM_WORLD_RANK: messages name
// rank and host, and the status goes to the file in MILLRACE_STATUS_FILE,
// unless the program wrote a better one. Rank 0 makes `ready_file` once it can
// take signals.
absl::Status RunAsRank(const std::vector<std::string>& argv,
                       const std::string& ready_file);

// What the end of a program means; `who` names it: "rank 1 (host)". `forwarded`
// are signals that it was sent on purpose.
absl::Status StatusOfEnd(const ChildEnd& end, const std::string& who,
                         const std::vector<int>& forwarded);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_RANK_PROCESS_H_
