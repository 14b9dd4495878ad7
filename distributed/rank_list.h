#ifndef MILLRACE_DISTRIBUTED_RANK_LIST_H_
#define MILLRACE_DISTRIBUTED_RANK_LIST_H_

// Ranks in messages.

#include <string>

#include "absl/types/span.h"

namespace millrace::distributed {

// "0, 2-3": runs of neighbours joined. REQUIRES: `numbers` rises.
std::string JoinRuns(absl::Span<const int> numbers);

// "rank 3", "ranks 0, 2-3", "no rank". REQUIRES: `ranks` rises.
std::string RanksToString(absl::Span<const int> ranks);

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_RANK_LIST_H_
