#include "tools/rank_process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "distributed/exit_status.h"

namespace millrace::tools {
namespace {

// A shell's code for a process that a signal ended.
constexpr int kSignalCodes = 128;

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown host";
}

// Runs `argv`; `translate` maps a signal of this process to the one that the
// program gets, 0 for none.
absl::Status Run(const std::vector<std::string>& argv, const std::string& who,
                 const std::function<int(int signal)>& translate) {
  std::vector<int> forwarded;
  const absl::StatusOr<ChildEnd> end =
      RunChild(argv, [&](int signal, pid_t child) {
        const int translated = translate(signal);
        if (translated == 0) return;
        forwarded.push_back(translated);
        // To the group, so that a shell's script ends with what it runs.
        kill(-child, translated);
      });
  if (!end.ok()) return WithExitCode(end.status(), ExitCode::kUsage);
  return StatusOfEnd(*end, who, forwarded);
}

}  // namespace

absl::Status StatusOfEnd(const ChildEnd& end, const std::string& who,
                         const std::vector<int>& forwarded) {
  if (end.exit_code == 0) return absl::OkStatus();
  if (end.exit_code > 0) {
    return WithExitCode(absl::UnknownError(absl::StrCat(
                            who, " exited with code ", end.exit_code)),
                        static_cast<ExitCode>(end.exit_code));
  }
  std::string message =
      absl::StrCat(who, " was killed by signal ", end.signal, " (",
                   SignalName(end.signal), "), process ", end.pid);
  if (std::find(forwarded.begin(), forwarded.end(), end.signal) !=
      forwarded.end()) {
    return WithExitCode(absl::CancelledError(message),
                        static_cast<ExitCode>(kSignalCodes + end.signal));
  }
  if (end.signal == SIGKILL) {
    absl::StrAppend(&message, "; probably out of memory: check dmesg");
  }
  return WithExitCode(absl::UnavailableError(message),
                      ExitCode::kCommunication);
}

absl::Status RunAlone(const std::vector<std::string>& argv) {
  return Run(argv, "the program", [](int signal) {
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
                   signal == SIGQUIT
               ? signal
               : 0;
  });
}

absl::Status RunAsRank(const std::vector<std::string>& argv,
                       const std::string& ready_file) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const bool is_first = rank != nullptr && std::string(rank) == "0";
  bool said_ready = !is_first;
  const std::string who = absl::StrCat("rank ", rank == nullptr ? "?" : rank,
                                       " (", HostName(), ")");
  const absl::Status status = Run(argv, who, [&](int signal) {
    if (!said_ready) {
      // On another host than launch's the folder may be missing: launch then
      // does without.
      const int fd =
          open(ready_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
      if (fd >= 0) close(fd);
      said_ready = true;
    }
    if (signal == kSignalForTerm) return is_first ? SIGTERM : 0;
    if (signal == kSignalForInt) return is_first ? SIGINT : 0;
    // From mpirun, which ends the job.
    return signal;
  });
  distributed::ReportExitStatus(status);
  return status;
}

}  // namespace millrace::tools
