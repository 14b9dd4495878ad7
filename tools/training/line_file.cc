#include "tools/training/line_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "tools/training/durable_file.h"

namespace millrace::tools::training {
namespace {

// The error of the call that has just failed on `path`. A path that can't be
// opened is the user's mistake; anything else is the disk's.
absl::Status FileError(absl::string_view action, const std::string& path) {
  const int error = errno;
  const absl::Status status =
      ErrnoStatus(error, absl::StrCat(action, " ", EscapeForMessage(path)));
  const bool usage = absl::IsNotFound(status) ||
                     absl::IsPermissionDenied(status) || error == EISDIR;
  return WithExitCode(status, usage ? ExitCode::kUsage : ExitCode::kStorage);
}

}  // namespace

LineFile::LineFile(std::string path, int fd)
    : path_(std::move(path)), fd_(fd) {}

LineFile::LineFile(LineFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

LineFile& LineFile::operator=(LineFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

LineFile::~LineFile() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<LineFile> LineFile::Open(const std::string& path, int flags) {
  // O_APPEND: each line lands at the end, also if somebody shortens the file.
  const int fd = open(path.c_str(),
                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0644);
  if (fd < 0) return FileError("open", path);
  return LineFile(path, fd);
}

absl::StatusOr<LineFile> LineFile::Create(const std::string& path) {
  return Open(path, O_TRUNC);
}

absl::StatusOr<LineFile> LineFile::Continue(
    const std::string& path,
    const std::function<bool(absl::string_view line)>& keep) {
  MILLRACE_ASSIGN_OR_RETURN(LineFile file, Open(path, 0));
  // A pipe or a terminal can't be read back or cut, and needs neither.
  if (lseek(file.fd_, 0, SEEK_CUR) < 0) return file;
  absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) return WithExitCode(text.status(), ExitCode::kUsage);
  size_t kept = 0;
  while (true) {
    const size_t end = text->find('\n', kept);
    if (end == std::string::npos) break;
    if (!keep(absl::string_view(*text).substr(kept, end - kept))) break;
    kept = end + 1;
  }
  if (kept < text->size() &&
      ftruncate(file.fd_, static_cast<off_t>(kept)) != 0) {
    return FileError("shorten", path);
  }
  return file;
}

absl::Status LineFile::Append(absl::string_view line) {
  const std::string text = absl::StrCat(line, "\n");
  absl::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = write(fd_, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return FileError("write", path_);
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace millrace::tools::training
