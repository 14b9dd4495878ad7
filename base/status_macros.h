#ifndef MILLRACE_BASE_STATUS_MACROS_H_
#define MILLRACE_BASE_STATUS_MACROS_H_

// Early returns for absl::Status and absl::StatusOr, and one line of context
// for a status on its way up.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// Returns the status of `expr` from the enclosing function unless it is OK.
#define MILLRACE_RETURN_IF_ERROR(expr)                                    \
  do {                                                                    \
    if (::absl::Status millrace_status = (expr); !millrace_status.ok()) { \
      return millrace_status;                                             \
    }                                                                     \
  } while (false)

// Evaluates `expr`, an absl::StatusOr<T>; assigns its value to `lhs`, which may
// be a declaration, or returns its status from the enclosing function.
//
// Expands to several statements: always use it inside braces. `lhs` with a
// comma in it needs parentheses around a type alias instead. A lambda that uses
// it needs an explicit return type.
#define MILLRACE_ASSIGN_OR_RETURN(lhs, expr) \
  MILLRACE_ASSIGN_OR_RETURN_IMPL_(           \
      MILLRACE_STATUS_CONCAT_(millrace_status_or_, __LINE__), lhs, expr)

#define MILLRACE_ASSIGN_OR_RETURN_IMPL_(result, lhs, expr) \
  auto result = (expr);                                    \
  if (!result.ok()) return std::move(result).status();     \
  lhs = *std::move(result)

#define MILLRACE_STATUS_CONCAT_IMPL_(a, b) a##b
#define MILLRACE_STATUS_CONCAT_(a, b) MILLRACE_STATUS_CONCAT_IMPL_(a, b)

// Ends the process with the message of a status that is not OK. For tools'
// examples and benchmarks only: libraries return statuses.
#define MILLRACE_CHECK_OK(expr)                                           \
  do {                                                                    \
    if (::absl::Status millrace_status = (expr); !millrace_status.ok()) { \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,             \
                   millrace_status.ToString().c_str());                   \
      std::abort();                                                       \
    }                                                                     \
  } while (false)

namespace millrace {

// The same code and payloads with `context` and ": " before the message, or OK.
absl::Status Annotate(const absl::Status& status, absl::string_view context);

// The status for `errno` value `error_number` after `what` failed, such as
// "open /d/a.jpg": NotFound, PermissionDenied, ResourceExhausted (ENOMEM,
// EMFILE, ENFILE; also ENOSPC and EDQUOT, which carry ExitCode::kStorage),
// InvalidArgument (ENAMETOOLONG, ELOOP, EISDIR), Unavailable (EIO, ESTALE,
// EINTR, ...), else Internal.
absl::Status ErrnoStatus(int error_number, absl::string_view what);

}  // namespace millrace

#endif  // MILLRACE_BASE_STATUS_MACROS_H_
