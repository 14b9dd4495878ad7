#include "distributed/exit_status.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace millrace::distributed {
namespace {

absl::Status WriteNewFile(const std::string& path, absl::string_view text) {
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) {
    return ErrnoStatus(errno, absl::StrCat("create ", EscapeForMessage(path)));
  }
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      close(fd);
      return ErrnoStatus(error, absl::StrCat("write ", EscapeForMessage(path)));
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  if (close(fd) != 0) {
    return ErrnoStatus(errno, absl::StrCat("close ", EscapeForMessage(path)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteExitStatus(const std::string& path,
                             const absl::Status& status) {
  if (status.ok()) return absl::OkStatus();
  // A link to a finished file appears whole, and only if there is none yet.
  const std::string temporary = absl::StrCat(path, ".", getpid());
  MILLRACE_RETURN_IF_ERROR(
      WriteNewFile(temporary, absl::StrCat(static_cast<int>(ExitCodeOf(status)),
                                           "\n", status.message())));
  const int linked = link(temporary.c_str(), path.c_str());
  const int error = errno;
  unlink(temporary.c_str());
  if (linked != 0 && error != EEXIST) {
    return ErrnoStatus(error, absl::StrCat("link ", EscapeForMessage(path)));
  }
  return absl::OkStatus();
}

void ReportExitStatus(const absl::Status& status) {
  const char* path = std::getenv(kStatusFileVariable);
  if (path == nullptr || *path == '\0') return;
  WriteExitStatus(path, status).IgnoreError();
}

absl::StatusOr<std::optional<ExitStatus>> ReadExitStatus(
    const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::optional<ExitStatus>();
  const std::string text((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  const size_t end = text.find('\n');
  int code = 0;
  if (end == std::string::npos ||
      !absl::SimpleAtoi(text.substr(0, end), &code) || code <= 0 ||
      code > 255) {
    return absl::DataLossError(
        absl::StrCat("status file ", EscapeForMessage(path), " of ",
                     text.size(), " bytes can't be read"));
  }
  return std::optional<ExitStatus>(
      {static_cast<ExitCode>(code), text.substr(end + 1)});
}

}  // namespace millrace::distributed
