#include "tests/support/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

extern char** environ;

namespace millrace {
namespace {

// Null-terminated, for exec; refers to `strings`.
std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Appends what `fd` has to `text`; closes it at the end.
void ReadFrom(int* fd, std::string* text) {
  char buffer[4096];
  const ssize_t size = read(*fd, buffer, sizeof(buffer));
  if (size > 0) {
    text->append(buffer, static_cast<size_t>(size));
  } else if (size == 0 || errno != EINTR) {
    close(*fd);
    *fd = -1;
  }
}

}  // namespace

Subprocess::Subprocess(const std::vector<std::string>& argv,
                       const SubprocessOptions& options)
    : deadline_(absl::Now() + options.limit) {
  // All memory is allocated before the fork.
  std::vector<std::string> arguments = argv;
  std::vector<char*> argument_pointers = Pointers(arguments);
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (options.environment.count(text.substr(0, text.find('='))) == 0) {
      environment.push_back(text);
    }
  }
  for (const auto& [name, value] : options.environment) {
    environment.push_back(absl::StrCat(name, "=", value));
  }
  std::vector<char*> environment_pointers = Pointers(environment);
  int out[2];
  int err[2];
  EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
  EXPECT_EQ(pipe2(err, O_CLOEXEC), 0);
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);
    // A job in the background of a shell without job control ignores SIGINT,
    // and so would all that it starts.
    for (const int number : {SIGINT, SIGQUIT, SIGTERM}) {
      signal(number, SIG_DFL);
    }
    const int null = open("/dev/null", O_RDONLY);
    if (null >= 0 && dup2(null, 0) == 0 && dup2(out[1], 1) == 1 &&
        dup2(err[1], 2) == 2) {
      execvpe(argument_pointers[0], argument_pointers.data(),
              environment_pointers.data());
    }
    _exit(127);
  }
  EXPECT_GT(pid_, 0);
  // Also here: the group must exist when this returns.
  setpgid(pid_, pid_);
  close(out[1]);
  close(err[1]);
  out_fd_ = out[0];
  err_fd_ = err[0];
}

Subprocess::~Subprocess() {
  if (pid_ > 0) {
    deadline_ = absl::InfinitePast();
    Wait();
  }
}

bool Subprocess::ReadSome() {
  if (out_fd_ < 0 && err_fd_ < 0) return false;
  const absl::Duration left = deadline_ - absl::Now();
  pollfd fds[2] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}};
  const int ready =
      left <= absl::ZeroDuration()
          ? 0
          : poll(fds, 2, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1);
  if (ready == 0) {
    result_.timed_out = true;
    return false;
  }
  if (ready < 0) return errno == EINTR;
  if (fds[0].revents != 0) ReadFrom(&out_fd_, &result_.out);
  if (fds[1].revents != 0) ReadFrom(&err_fd_, &result_.err);
  return true;
}

bool Subprocess::WaitForLine(const std::string& text) {
  while (true) {
    const size_t found = result_.out.find(text);
    if (found != std::string::npos &&
        result_.out.find('\n', found) != std::string::npos) {
      return true;
    }
    if (!ReadSome()) return false;
  }
}

SubprocessResult Subprocess::Wait() {
  while (ReadSome()) {
  }
  if (result_.timed_out) kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  // What is left of its descendants.
  kill(-pid_, SIGKILL);
  pid_ = -1;
  if (out_fd_ >= 0) close(out_fd_);
  if (err_fd_ >= 0) close(err_fd_);
  out_fd_ = err_fd_ = -1;
  if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
  return result_;
}

SubprocessResult RunProcess(const std::vector<std::string>& argv,
                            const SubprocessOptions& options) {
  return Subprocess(argv, options).Wait();
}

std::vector<std::string> WithMpi(const std::vector<std::string>& argv) {
  std::vector<std::string> command = {"tests/support/with_mpi.sh"};
  command.insert(command.end(), argv.begin(), argv.end());
  return command;
}

}  // namespace millrace
