#include "tools/training/digest_log.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace millrace::tools::training {
namespace {

// Whether `line` is of a batch before `batch` of `epoch`.
bool IsBefore(absl::string_view line, int64_t epoch, int64_t batch) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  int64_t line_epoch = 0;
  int64_t line_batch = 0;
  return words.size() == 6 && words[0] == "epoch" &&
         absl::SimpleAtoi(words[1], &line_epoch) && words[2] == "batch" &&
         absl::SimpleAtoi(words[3], &line_batch) &&
         std::pair(line_epoch, line_batch) < std::pair(epoch, batch);
}

}  // namespace

absl::StatusOr<DigestLog> DigestLog::Create(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(LineFile file, LineFile::Create(path));
  return DigestLog(std::move(file));
}

absl::StatusOr<DigestLog> DigestLog::Continue(const std::string& path,
                                              int64_t epoch, int64_t batch) {
  MILLRACE_ASSIGN_OR_RETURN(
      LineFile file,
      LineFile::Continue(path, [epoch, batch](absl::string_view line) {
        return IsBefore(line, epoch, batch);
      }));
  return DigestLog(std::move(file));
}

absl::Status DigestLog::Append(int64_t epoch, int64_t batch,
                               const loader::BatchDigest& digest) {
  return file_.Append(
      absl::StrCat("epoch ", epoch, " batch ", batch, " ", digest.ToString()));
}

}  // namespace millrace::tools::training
