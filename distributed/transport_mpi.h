#ifndef MILLRACE_DISTRIBUTED_TRANSPORT_MPI_H_
#define MILLRACE_DISTRIBUTED_TRANSPORT_MPI_H_

// MPI as a Transport: the only file that calls MPI is the source of this one.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distributed/transport.h"

namespace millrace::distributed {

// Initialises MPI, which the calling thread alone may use from then on. Blocks
// until all ranks have called it. FailedPrecondition if MPI was initialised
// before; Unavailable for MPI's own errors, here and in every call.
absl::StatusOr<std::unique_ptr<Transport>> JoinMpi();

// "Open MPI v4.1.4": the library's name and version. From any thread.
std::string MpiLibraryVersion();

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_TRANSPORT_MPI_H_
