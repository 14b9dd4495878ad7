#ifndef MILLRACE_TOOLS_BENCH_READ_SOURCE_H_
#define MILLRACE_TOOLS_BENCH_READ_SOURCE_H_

// Encoded samples of a store, read by several threads and thrown away: the rate
// that no loader on this store can exceed.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "distributed/order.h"
#include "tools/bench/sample_source.h"

namespace millrace::tools {

struct ReadSourceOptions {
  // What storage::OpenDataset() takes.
  std::string data;
  // Samples between two looks at the clock. > 0.
  int64_t batch_size = 64;
  distributed::Order order = distributed::Order::kFeistel;
  uint64_t seed = 0;
  // Reading threads; 0 = the calling one; none = as the loader chooses.
  std::optional<int> workers;
};

// Opens the data set. Checked: each sample comes once an epoch and is not
// empty.
absl::StatusOr<std::unique_ptr<SampleSource>> OpenReadSource(
    const ReadSourceOptions& options);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_BENCH_READ_SOURCE_H_
