#include "distributed/gradient_reducer.h"

#include "absl/strings/str_cat.h"

namespace millrace::distributed {

absl::Status GradientReducerOptions::Validate() const {
  if (bucket_bytes <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("bucket_bytes must be positive, got ", bucket_bytes));
  }
  if (first_bucket_bytes <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "first_bucket_bytes must be positive, got ", first_bucket_bytes));
  }
  if (timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "timeout must be positive, got ", absl::FormatDuration(timeout)));
  }
  return absl::OkStatus();
}

}  // namespace millrace::distributed
