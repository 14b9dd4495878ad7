#ifndef MILLRACE_TOOLS_TRAINING_DURABLE_FILE_H_
#define MILLRACE_TOOLS_TRAINING_DURABLE_FILE_H_

// Files that are there wholly or not at all, also after a crash.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace::tools::training {

// Appended to a file's name while it is being written.
inline constexpr absl::string_view kUnfinishedSuffix = ".tmp";

// Puts `bytes` at `path`, replacing what is there: written to `path` with
// kUnfinishedSuffix, flushed to the disk, renamed, and the folder flushed. A
// crash leaves the old file or the new one, and at worst an unfinished one
// beside it. After an error the unfinished file is removed and `path` is as it
// was. Errors as ErrnoStatus(), with exit code kStorage.
absl::Status WriteFileDurably(const std::string& path, absl::string_view bytes);

// The whole of a file. Errors as ErrnoStatus().
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_DURABLE_FILE_H_
