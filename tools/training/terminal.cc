#include "tools/training/terminal.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace millrace::tools::training {
namespace {

// Set by Open MPI for each rank, and so for what a rank starts.
constexpr char kRankVariable[] = "OMPI_COMM_WORLD_SIZE";

bool IsBelowRank(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/environ"));
  const std::string environment((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  return absl::StrContains(environment, absl::StrCat(kRankVariable, "="));
}

pid_t ParentOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text;
  std::getline(file, text);
  // "12 (name) S 11 ...", where the name may hold anything.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > text.size()) return 0;
  return static_cast<pid_t>(std::atoi(text.c_str() + name_end + 4));
}

// This process, or the nearest one above it that is no part of a rank.
pid_t ProcessThatShowsOutput() {
  pid_t pid = getpid();
  if (std::getenv(kRankVariable) == nullptr) return pid;
  while (pid > 1 && IsBelowRank(pid)) pid = ParentOf(pid);
  return pid;
}

}  // namespace

int OpenOutputTerminal() {
  if (isatty(STDOUT_FILENO) != 1) return -1;
  const std::string path =
      absl::StrCat("/proc/", ProcessThatShowsOutput(), "/fd/1");
  const int fd =
      open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0 && isatty(fd) == 1) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

}  // namespace millrace::tools::training
