#ifndef MILLRACE_DISTRIBUTED_COMMUNICATOR_LOCAL_H_
#define MILLRACE_DISTRIBUTED_COMMUNICATOR_LOCAL_H_

// A job of one rank: every collective is done at once.

#include <memory>

#include "distributed/communicator.h"

namespace millrace::distributed {

std::unique_ptr<Communicator> MakeLocalCommunicator();

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_COMMUNICATOR_LOCAL_H_
