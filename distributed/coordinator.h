#ifndef MILLRACE_DISTRIBUTED_COORDINATOR_H_
#define MILLRACE_DISTRIBUTED_COORDINATOR_H_

// Keeps the ranks of a job in step: one small exchange before each epoch, in
// which every rank says what it is about to do. A difference stops all ranks
// before the first step, where it would otherwise be a wrong result or a hang.
// PROTOCOL.md has the exchange in lettered steps.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distributed/communicator.h"

namespace millrace::distributed {

// What all ranks must agree on: names and values, in the same order everywhere.
// For an epoch: dataset fingerprint and size, options, seed, epoch, global
// step, steps, and the program's version.
using Terms = std::vector<std::pair<std::string, std::string>>;

// Thread-compatible; its calls are collectives of the communicator.
class Coordinator {
 public:
  // `communicator` is borrowed. `timeout` limits each exchange.
  Coordinator(Communicator* communicator, absl::Duration timeout);

  // OK on all ranks if all passed the same terms. Else FailedPrecondition with
  // exit code 2 on all ranks, and the same text: each field that differs, with
  // its values and the ranks that have them, most first ("epoch 3: ranks
  // disagree on seed: 1 on ranks 0, 2-3; 2 on rank 1"); after the fifth field
  // only how many more. `what` names the occasion ("epoch 3").
  absl::Status Agree(const std::string& what, const Terms& terms);

  // The job's seed: the one the user gave, where all ranks that have one have
  // the same; rank 0 draws one where none has. FailedPrecondition as Agree().
  absl::StatusOr<uint64_t> AgreeOnSeed(std::optional<uint64_t> seed);

  Communicator& communicator() { return *communicator_; }

 private:
  Communicator* communicator_;
  absl::Duration timeout_;
};

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_COORDINATOR_H_
