#ifndef MILLRACE_STORAGE_FILE_STATUS_H_
#define MILLRACE_STORAGE_FILE_STATUS_H_

// What a failed system call on a file of a data set means to the run.

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace millrace::storage {

// The status for `errno` value `error_number` after `what` ("open") failed on
// `path`: "open /d/a\x0A.jpg: No such file or directory".
//  * NotFound, PermissionDenied: this file alone (exit code kData);
//  * ResourceExhausted: memory, handles (with their limit) or space;
//  * Unavailable with exit code kStorage: the device or server failed;
//  * DataLoss for all else, such as a link to itself or a name that is too
//    long: the fault is the path's (exit code kData).
absl::Status FileStatus(int error_number, absl::string_view what,
                        absl::string_view path);

}  // namespace millrace::storage

#endif  // MILLRACE_STORAGE_FILE_STATUS_H_
