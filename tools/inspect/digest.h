#ifndef MILLRACE_TOOLS_INSPECT_DIGEST_H_
#define MILLRACE_TOOLS_INSPECT_DIGEST_H_

// `inspect digest`: proof that a run's batches hold the same bytes on another
// number of ranks or workers, on another machine or from another store.

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "distributed/communicator.h"
#include "distributed/distributed_sampler.h"
#include "distributed/order.h"

namespace millrace::tools {

struct DigestOptions {
  // What storage::OpenDataset() takes.
  std::string data;
  // A preset of augment::Pipeline, and the size of its output in pixels.
  std::string augment = "train";
  int image_size = 224;
  // Of the loader; batch_size counts samples over all ranks.
  int64_t batch_size = 64;
  distributed::Order order = distributed::Order::kFeistel;
  distributed::Tail tail = distributed::Tail::kDrop;
  uint64_t seed = 0;
  int64_t epoch = 0;
  // Batches from the beginning of the epoch; none = all. > 0.
  std::optional<int64_t> steps;

  // ---- Without influence on the digests. ----
  std::optional<int> workers;
  int prefetch = 2;
};

// Prints, on rank 0, "batch K indices=HASH pixels=HASH" for each global batch.
// A collective. Fails as the data set and the loader do.
absl::Status RunDigest(const DigestOptions& options,
                       distributed::Communicator& communicator,
                       std::ostream& out);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_INSPECT_DIGEST_H_
