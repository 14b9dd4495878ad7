#ifndef MILLRACE_DISTRIBUTED_COMMUNICATOR_THREADS_H_
#define MILLRACE_DISTRIBUTED_COMMUNICATOR_THREADS_H_

// N ranks as N threads of one process, for tests and simulation.

#include <memory>
#include <vector>

#include "distributed/communicator.h"

namespace millrace::distributed {

// Element r is rank r's, for one thread. All share the group's state, which
// lives until the last is destroyed. Sums add in rank order. Destroying one
// that was not closed counts as a lost rank: the others fail with Unavailable.
// REQUIRES: size > 0.
std::vector<std::unique_ptr<Communicator>> MakeThreadCommunicators(int size);

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_COMMUNICATOR_THREADS_H_
