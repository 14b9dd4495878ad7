#include "storage/file_status.h"

#include <errno.h>
#include <sys/resource.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace millrace::storage {

absl::Status FileStatus(int error_number, absl::string_view what,
                        absl::string_view path) {
  const absl::Status status = ErrnoStatus(
      error_number, absl::StrCat(what, " ", EscapeForMessage(path)));
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
      return status;
    case absl::StatusCode::kResourceExhausted:
      if (rlimit limit;
          error_number == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        return absl::ResourceExhaustedError(
            absl::StrCat(status.message(), " (the limit is ", limit.rlim_cur,
                         ": see ulimit -n)"));
      }
      return status;
    case absl::StatusCode::kUnavailable:
      return WithExitCode(status, ExitCode::kStorage);
    default:
      return absl::DataLossError(status.message());
  }
}

}  // namespace millrace::storage
