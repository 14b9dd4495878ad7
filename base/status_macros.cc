#include "base/status_macros.h"

#include <errno.h>

#include <cstring>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"

namespace millrace {

absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  absl::Status result(status.code(),
                      absl::StrCat(context, ": ", status.message()));
  status.ForEachPayload(
      [&result](absl::string_view url, const absl::Cord& payload) {
        result.SetPayload(url, payload);
      });
  return result;
}

absl::Status ErrnoStatus(int error_number, absl::string_view what) {
  const std::string message =
      absl::StrCat(what, ": ", std::strerror(error_number));
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(message);
    case ENOSPC:
    case EDQUOT:
      return WithExitCode(absl::ResourceExhaustedError(message),
                          ExitCode::kStorage);
    case ENAMETOOLONG:
    case ELOOP:
    case EISDIR:
      return absl::InvalidArgumentError(message);
    case EIO:
    case ESTALE:
    case EINTR:
    case EAGAIN:
    case ETIMEDOUT:
      return absl::UnavailableError(message);
    default:
      return absl::InternalError(message);
  }
}

}  // namespace millrace
