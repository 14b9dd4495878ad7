#ifndef MILLRACE_TOOLS_BENCH_LOADER_SOURCE_H_
#define MILLRACE_TOOLS_BENCH_LOADER_SOURCE_H_

// Batches of a loader, as a training loop would take them.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "distributed/order.h"
#include "tools/bench/sample_source.h"

namespace millrace::tools {

struct LoaderSourceOptions {
  // What storage::OpenDataset() takes.
  std::string data;
  // A preset of augment::Pipeline, and the side of its output in pixels.
  std::string preset = "train";
  int image_size = 224;
  int64_t batch_size = 64;
  distributed::Order order = distributed::Order::kFeistel;
  uint64_t seed = 0;
  // As DataLoaderOptions' num_workers and prefetch_factor.
  std::optional<int> workers;
  int prefetch = 2;
};

// Opens the data set. Epochs are whole: the last batch may be short. Checked
// are the indices of each epoch, each label, and, of the first batch, that all
// pixels are finite and within what Normalize can give.
absl::StatusOr<std::unique_ptr<SampleSource>> OpenLoaderSource(
    const LoaderSourceOptions& options);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_BENCH_LOADER_SOURCE_H_
