#include "tools/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace millrace::tools {
namespace {

sigset_t WatchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal :
       {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD}) {
    sigaddset(&set, signal);
  }
  return set;
}

// The child's side of fork(): does not return. Tells `errno` through `error_fd`
// if exec fails.
void BecomeProgram(char* const* argv, const sigset_t& old_mask, pid_t parent,
                   int error_fd) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before that.
  if (getppid() != parent) _exit(1);
  sigprocmask(SIG_SETMASK, &old_mask, nullptr);
  execvp(argv[0], argv);
  const int error = errno;
  // Nothing can be done if even this fails; the parent then sees code 127.
  if (write(error_fd, &error, sizeof(error)) < 0) _exit(127);
  _exit(127);
}

// Waits until exec has succeeded (0) or failed (errno).
int ExecError(int fd) {
  int error = 0;
  ssize_t size = 0;
  do {
    size = read(fd, &error, sizeof(error));
  } while (size < 0 && errno == EINTR);
  return size == sizeof(error) ? error : 0;
}

}  // namespace

absl::StatusOr<ChildEnd> RunChild(const std::vector<std::string>& argv,
                                  const SignalHandler& on_signal) {
  std::vector<std::string> arguments = argv;
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const sigset_t watched = WatchedSignals();
  sigset_t old_mask;
  sigprocmask(SIG_BLOCK, &watched, &old_mask);
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "fork");
  if (child == 0) {
    BecomeProgram(pointers.data(), old_mask, parent, error_pipe[1]);
  }
  close(error_pipe[1]);
  const int exec_error = ExecError(error_pipe[0]);
  close(error_pipe[0]);
  const timespec tick = {0, 100000000};
  ChildEnd end;
  end.pid = child;
  if (exec_error == 0) on_signal(0, child);
  while (true) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
      break;
    }
    const int signal = sigtimedwait(&watched, nullptr, &tick);
    if (signal == SIGCHLD || exec_error != 0) continue;
    on_signal(signal > 0 ? signal : 0, child);
  }
  if (exec_error != 0) {
    return ErrnoStatus(exec_error,
                       absl::StrCat("start ", EscapeForMessage(argv[0])));
  }
  return end;
}

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? absl::StrCat("signal ", signal)
                         : absl::StrCat("SIG", name);
}

}  // namespace millrace::tools
