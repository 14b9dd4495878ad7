#ifndef MILLRACE_STORAGE_FILE_DESCRIPTOR_H_
#define MILLRACE_STORAGE_FILE_DESCRIPTOR_H_

// An open file that closes itself.

#include <unistd.h>

#include <utility>

namespace millrace::storage {

// Thread-compatible.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  // Takes over `fd`; a negative one is no file.
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    // Nothing was written through it, so closing has nothing to report.
    if (fd_ >= 0) (void)close(fd_);
  }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  bool ok() const { return fd_ >= 0; }
  int get() const { return fd_; }

  // The caller closes it from now on.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace millrace::storage

#endif  // MILLRACE_STORAGE_FILE_DESCRIPTOR_H_
