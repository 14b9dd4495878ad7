#include "base/exit_code.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"

namespace millrace {
namespace {

constexpr char kPayloadUrl[] = "millrace/exit-code";

}  // namespace

absl::Status WithExitCode(absl::Status status, ExitCode code) {
  if (!status.ok()) {
    status.SetPayload(kPayloadUrl,
                      absl::Cord(absl::StrCat(static_cast<int>(code))));
  }
  return status;
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kDone;
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  if (int code;
      payload.has_value() && absl::SimpleAtoi(std::string(*payload), &code)) {
    return static_cast<ExitCode>(code);
  }
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kUsage;
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
      return ExitCode::kData;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kAborted:
      return ExitCode::kCommunication;
    case absl::StatusCode::kResourceExhausted:
      return ExitCode::kResource;
    case absl::StatusCode::kCancelled:
      return ExitCode::kInterrupted;
    default:
      return ExitCode::kInternal;
  }
}

}  // namespace millrace
