#ifndef MILLRACE_TOOLS_TRAINING_LINE_FILE_H_
#define MILLRACE_TOOLS_TRAINING_LINE_FILE_H_

// A file that grows by lines, each of which is there as soon as it is written,
// also if the process is killed right after.

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace::tools::training {

// Thread-compatible.
class LineFile {
 public:
  // Empties `path`, or makes it. Errors as ErrnoStatus(), with exit code
  // kStorage; NotFound and PermissionDenied with kUsage.
  static absl::StatusOr<LineFile> Create(const std::string& path);

  // Goes on with `path`, or makes it: lines for which keep(line) is false, all
  // after them, and a last one without its end are cut off.
  static absl::StatusOr<LineFile> Continue(
      const std::string& path,
      const std::function<bool(absl::string_view line)>& keep);

  ~LineFile();
  LineFile(LineFile&& other) noexcept;
  LineFile& operator=(LineFile&& other) noexcept;

  // Writes `line` and a line end by one write(2).
  // REQUIRES: no line end in `line`.
  absl::Status Append(absl::string_view line);

 private:
  LineFile(std::string path, int fd);

  // Opens for appending, with `flags` of open(2) besides.
  static absl::StatusOr<LineFile> Open(const std::string& path, int flags);

  std::string path_;
  // -1 once moved from.
  int fd_;
};

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_LINE_FILE_H_
