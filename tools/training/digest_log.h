#ifndef MILLRACE_TOOLS_TRAINING_DIGEST_LOG_H_
#define MILLRACE_TOOLS_TRAINING_DIGEST_LOG_H_

// One line for each global batch that training consumed:
//
//   epoch 0 batch 17 indices=6f0c... pixels=91ab...
//
// Runs that trained on the same data have the same file, whatever their number
// of ranks and workers, and however often they were killed and resumed.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "loader/batch_digest.h"
#include "tools/training/line_file.h"

namespace millrace::tools::training {

// Thread-compatible.
class DigestLog {
 public:
  // Begins an empty file. Errors as LineFile::Create().
  static absl::StatusOr<DigestLog> Create(const std::string& path);

  // Goes on with the file of a run that stopped: keeps the lines of batches
  // before `batch` of `epoch`, and drops those that the run consumed after the
  // checkpoint that is now resumed.
  static absl::StatusOr<DigestLog> Continue(const std::string& path,
                                            int64_t epoch, int64_t batch);

  // Written through at once.
  absl::Status Append(int64_t epoch, int64_t batch,
                      const loader::BatchDigest& digest);

 private:
  explicit DigestLog(LineFile file) : file_(std::move(file)) {}

  LineFile file_;
};

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_DIGEST_LOG_H_
