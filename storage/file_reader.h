#ifndef MILLRACE_STORAGE_FILE_READER_H_
#define MILLRACE_STORAGE_FILE_READER_H_

// The whole of a file, into a sample's scratch.

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/dataset.h"

namespace millrace::storage {

// The largest file that ReadFile() takes, in bytes: image decoders count bytes
// in 32 bits with a sign.
inline constexpr int64_t kMaxFileBytes = 2147483647;

// Reads the regular file at `path`, links followed, into sample->Scratch(). The
// bytes live as the scratch does. Never waits for a writer: what is a pipe,
// socket, device or directory by now is refused.
//
// Fails as FileStatus() says, and with DataLoss for what is no regular file,
// larger than kMaxFileBytes, or became shorter while it was read; with
// ResourceExhausted where there is no memory for it. Every message has the
// path.
absl::StatusOr<absl::string_view> ReadFile(const char* path, Sample* sample);

}  // namespace millrace::storage

#endif  // MILLRACE_STORAGE_FILE_READER_H_
