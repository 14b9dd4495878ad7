#ifndef MILLRACE_LOADER_DATA_LOADER_H_
#define MILLRACE_LOADER_DATA_LOADER_H_

// Batches in time: reads, decodes and augments samples on worker threads, ahead
// of the training loop, and hands out batches in order.
//
//   workers: next sample -> Dataset::Read -> SampleTransform::Run
//                |                              | writes into the batch's slot
//   ring:   [batch k: done][k+1: 61 of 64][k+2: 3 of 64]
//                |
//   Next()   batch k, in order; its slot comes back when the batch is dropped

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/sampler.h"
#include "distributed/communicator.h"
#include "distributed/distributed_sampler.h"
#include "distributed/order.h"
#include "loader/batch.h"
#include "loader/collate.h"
#include "loader/loader_state.h"
#include "loader/sample_transform.h"
#include "storage/dataset.h"

namespace millrace::loader {

struct DataLoaderOptions {
  // Samples of one step over *all* ranks: PyTorch's batch_size times the number
  // of ranks. > 0.
  int64_t batch_size = 64;
  // Order of an epoch. PyTorch's shuffle=False is kSequential.
  distributed::Order order = distributed::Order::kFeistel;
  // What becomes of the samples that don't fill a batch. PyTorch's drop_last is
  // kDrop; its default is kShort.
  distributed::Tail tail = distributed::Tail::kDrop;
  // Decides order and augmentation. None: rank 0 draws one, seed() tells it.
  std::optional<uint64_t> seed;
  // An order of the user's own in place of `order`; indices must lie in
  // [0, dataset.size()).
  std::shared_ptr<const Sampler> sampler;
  // Makes batches in place of stacking the transform's outputs.
  CollateFunction collate;
  // The ranks that share the data; borrowed; null = this process alone.
  distributed::Communicator* communicator = nullptr;
  // The longest that Next() waits for a batch, and ranks for each other. > 0.
  // Then the error names the samples being read (exit code 6).
  absl::Duration timeout = absl::Minutes(5);

  // ---- Performance: results don't depend on these. ----

  // Worker threads. 0: samples are made in Next(), by the calling thread. None:
  // the allowed CPUs (affinity and cgroup quota) divided by the ranks on this
  // host, at least 1 and at most 8. In [0, 1024].
  std::optional<int> num_workers;
  // Batches made ahead of the consumer. More of them ride out slow samples, at
  // the cost of memory. Unlike PyTorch's it is the total: workers share
  // batches. In [1, 1024].
  int prefetch_factor = 2;
  // Take batches from memory that is pinned for the GPU. Unimplemented in
  // builds without CUDA.
  bool pin_memory = false;
  // Keep workers over the end of an epoch, and make the next epoch's first
  // batches while the last of this one are consumed. False: workers end with
  // the epoch.
  bool persistent_workers = true;
  // Memory for batches that the user holds or that wait. Beyond it, Next()
  // fails with ResourceExhausted and the number of batches held. > 0.
  int64_t memory_limit_bytes = int64_t{8} << 30;
  // Encoded bytes and decoding memory that workers hold at once, so that eight
  // huge pictures do not meet. The oldest sample always gets what it needs. >
  // 0.
  int64_t inflight_bytes = int64_t{1} << 30;

  // InvalidArgument, naming field and value, if one is outside its range.
  absl::Status Validate() const;
};

// Counts since the loader was made, of this rank.
struct LoaderStats {
  int64_t batches = 0;
  int64_t samples = 0;
  // Time that Next() waited.
  absl::Duration wait;
  // Time of all workers together in each stage.
  absl::Duration read;
  absl::Duration decode;
  absl::Duration transform;
  int64_t bytes_read = 0;
};

// Guarantees: global batch k of an epoch holds the same samples and the same
// bytes for every number of ranks and workers, every prefetch depth, and after
// every Restore().
//
//   MILLRACE_ASSIGN_OR_RETURN(auto loader, DataLoader::Create(dataset,
//                                                  transform, options));
//   for (int epoch = 0; epoch < 10; ++epoch) {
//     while (true) {
//       MILLRACE_ASSIGN_OR_RETURN(std::optional<Batch> batch, loader->Next());
//       if (!batch.has_value()) break;  // End of the epoch.
//       Train(batch->images(), batch->labels());
//     }
//   }
//
// Confined to one thread: the consumer's. (Workers are inside.) With a
// communicator, Create(), StartEpoch(), Restore() and the first Next() of an
// epoch are collectives: all ranks call them in the same order.
class DataLoader {
 public:
  // Workers start at the first Next(). `dataset` and `transform` are shared
  // with the caller. Rank 0 logs how many samples an epoch leaves out or visits
  // twice, if any. Fails as Validate(), and where ranks disagree on the seed.
  static absl::StatusOr<std::unique_ptr<DataLoader>> Create(
      std::shared_ptr<const storage::Dataset> dataset,
      std::shared_ptr<const SampleTransform> transform,
      const DataLoaderOptions& options);

  // Stops workers, waiting for the samples they are at, and drops what was
  // prefetched. Batches that the user holds stay valid.
  ~DataLoader();
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  // The next batch of the epoch, or nullopt, once, at its end; the call after
  // that begins the next epoch. Blocks until the batch is complete; the first
  // call of an epoch also until all ranks have agreed on it.
  //
  // A bad sample makes the Next() whose batch it is in fail: "epoch 3, rank 1:
  // sample 812 (/d/a.jpg): truncated JPEG"; calling again goes on with the
  // batch after it. DeadlineExceeded, ResourceExhausted: see the options.
  absl::StatusOr<std::optional<Batch>> Next();

  // Goes to the beginning of `epoch`, from wherever it stands. Never needed
  // between whole epochs. InvalidArgument: epoch outside [0, 2^31).
  absl::Status StartEpoch(int64_t epoch);

  // The position after the last batch that Next() gave.
  LoaderState state() const;

  // Goes on where `state` was taken, also on another number of ranks or
  // workers. Nothing of what lies before is read. Fails as
  // LoaderState::CheckSameRun().
  absl::Status Restore(const LoaderState& state);

  // Steps of an epoch, equal on all ranks.
  int64_t steps() const;
  uint64_t seed() const;
  int num_workers() const;
  const storage::Dataset& dataset() const;
  const distributed::DistributedSampler& sampler() const;

  // Thread-safe.
  LoaderStats stats() const;

 private:
  class Impl;
  explicit DataLoader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The number of workers that num_workers = none stands for, on a host where
// `local_ranks` share the allowed CPUs.
int AutoWorkers(int local_ranks);

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_DATA_LOADER_H_
