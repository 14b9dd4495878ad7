#ifndef MILLRACE_DISTRIBUTED_COMMUNICATOR_MPI_H_
#define MILLRACE_DISTRIBUTED_COMMUNICATOR_MPI_H_

// Ranks as processes: a Communicator whose bytes go over a Transport, which is
// MPI's outside of tests.

#include <memory>

#include "absl/status/statusor.h"
#include "distributed/communication_thread.h"
#include "distributed/communicator.h"

namespace millrace::distributed {

// Joins the ranks that `factory`'s transport leads to. Where reports of two
// ranks cross on their way, ranks may name either at first, and all the same
// one from Close() on (Precedes() in job_failure.h).
absl::StatusOr<std::unique_ptr<Communicator>> MakeMpiCommunicator(
    CommunicationThread::TransportFactory factory,
    CommunicationThreadOptions options);

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_COMMUNICATOR_MPI_H_
