#ifndef MILLRACE_DISTRIBUTED_DISAGREEMENT_H_
#define MILLRACE_DISTRIBUTED_DISAGREEMENT_H_

// How it is told that ranks have different values of something.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace millrace::distributed {

struct RankValue {
  int rank = 0;
  std::string value;
};

// "seed: 1 on ranks 0, 2-3; 2 on rank 1": each value once, those of most ranks
// first, unprintable bytes escaped. Empty if all values are equal.
// REQUIRES: ranks rise.
std::string DescribeDifference(absl::string_view name,
                               const std::vector<RankValue>& values);

// FailedPrecondition with exit code 2 and the message "WHAT: ranks disagree on
// DIFFERENCE".
absl::Status DisagreementError(absl::string_view what,
                               absl::string_view difference);

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_DISAGREEMENT_H_
