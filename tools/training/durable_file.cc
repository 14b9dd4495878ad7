#include "tools/training/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace millrace::tools::training {
namespace {

// The error of the call that has just failed on `path`.
absl::Status FileError(absl::string_view action, const std::string& path) {
  return ErrnoStatus(errno, absl::StrCat(action, " ", EscapeForMessage(path)));
}

absl::Status WriteAll(int fd, absl::string_view bytes,
                      const std::string& path) {
  // Linux writes 2 GiB at a time at most.
  constexpr size_t kChunk = size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t written =
        write(fd, bytes.data(), std::min(bytes.size(), kChunk));
    if (written < 0) {
      if (errno == EINTR) continue;
      return FileError("write", path);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status FlushFolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FileError("open", folder);
  const absl::Cleanup close_folder = [fd] { close(fd); };
  // Some network file systems can't flush a folder; they need not, either.
  if (fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP) {
    return FileError("fsync", folder);
  }
  return absl::OkStatus();
}

absl::Status WriteUnfinished(const std::string& path, absl::string_view bytes) {
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return FileError("create", path);
  absl::Status status = WriteAll(fd, bytes, path);
  if (status.ok() && fsync(fd) != 0) status = FileError("fsync", path);
  // Network file systems report a full disk as late as this.
  if (close(fd) != 0 && status.ok()) status = FileError("close", path);
  return status;
}

}  // namespace

absl::Status WriteFileDurably(const std::string& path,
                              absl::string_view bytes) {
  const std::string unfinished = absl::StrCat(path, kUnfinishedSuffix);
  absl::Status status = WriteUnfinished(unfinished, bytes);
  if (status.ok() && rename(unfinished.c_str(), path.c_str()) != 0) {
    status = FileError("rename", unfinished);
  }
  if (!status.ok()) {
    unlink(unfinished.c_str());
    return WithExitCode(status, ExitCode::kStorage);
  }
  return WithExitCode(FlushFolderOf(path), ExitCode::kStorage);
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError("open", path);
  const absl::Cleanup close_file = [fd] { close(fd); };
  struct stat info;
  if (fstat(fd, &info) != 0) return FileError("stat", path);
  std::string bytes;
  bytes.reserve(static_cast<size_t>(info.st_size));
  std::string block(size_t{1} << 20, '\0');
  while (true) {
    const ssize_t got = read(fd, block.data(), block.size());
    if (got < 0) {
      if (errno == EINTR) continue;
      return FileError("read", path);
    }
    if (got == 0) return bytes;
    bytes.append(block, 0, static_cast<size_t>(got));
  }
}

}  // namespace millrace::tools::training
