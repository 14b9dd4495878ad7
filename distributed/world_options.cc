#include "absl/strings/str_cat.h"
#include "distributed/world.h"

namespace millrace::distributed {

absl::Status WorldOptions::Validate() const {
  if (join_timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("join_timeout must be positive, got ",
                     absl::FormatDuration(join_timeout)));
  }
  if (failure_grace <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("failure_grace must be positive, got ",
                     absl::FormatDuration(failure_grace)));
  }
  return absl::OkStatus();
}

}  // namespace millrace::distributed
