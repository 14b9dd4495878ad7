#include "storage/file_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "storage/file_descriptor.h"
#include "storage/file_status.h"

namespace millrace::storage {
namespace {

FileDescriptor OpenForReading(const char* path) {
  while (true) {
    // O_NONBLOCK: a pipe that took the file's place must not wait for a writer.
    // It changes nothing for regular files.
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 || errno != EINTR) return FileDescriptor(fd);
  }
}

absl::Status CheckFile(const struct stat& info, const char* path) {
  if (!S_ISREG(info.st_mode)) {
    return absl::DataLossError(
        absl::StrCat("read ", EscapeForMessage(path), ": ",
                     S_ISDIR(info.st_mode) ? "is a directory"
                                           : "is a pipe, socket or device"));
  }
  if (info.st_size > kMaxFileBytes) {
    return absl::DataLossError(absl::StrCat("read ", EscapeForMessage(path),
                                            ": file of ", info.st_size,
                                            " bytes, most is ", kMaxFileBytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<absl::string_view> ReadFile(const char* path, Sample* sample) {
  const FileDescriptor file = OpenForReading(path);
  // ENXIO: a socket, or a device without its driver.
  if (!file.ok()) return FileStatus(errno, "open", path);
  struct stat info;
  if (fstat(file.get(), &info) != 0) return FileStatus(errno, "stat", path);
  if (absl::Status status = CheckFile(info, path); !status.ok()) return status;

  const size_t size = static_cast<size_t>(info.st_size);
  char* const bytes = sample->Scratch(size);
  if (bytes == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "read ", EscapeForMessage(path), ": no memory for ", size, " bytes"));
  }
  size_t done = 0;
  while (done < size) {
    const ssize_t count =
        pread(file.get(), bytes + done, size - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FileStatus(errno, "read", path);
    if (count == 0) {
      return absl::DataLossError(absl::StrCat("read ", EscapeForMessage(path),
                                              ": file became shorter, want ",
                                              size, " bytes, got ", done));
    }
    done += static_cast<size_t>(count);
  }
  return absl::string_view(bytes, size);
}

}  // namespace millrace::storage
