#ifndef MILLRACE_DISTRIBUTED_GRADIENT_REDUCER_H_
#define MILLRACE_DISTRIBUTED_GRADIENT_REDUCER_H_

// Sums gradients over ranks while backward is still computing them.
//
//   parameters  p0 p1 p2 ... pn      backward makes pn's gradient first
//   buckets     [.. b2 ..][b1][b0]   b0 (1 MiB, with the scalars) goes first,
//                                    then 25 MiB each, as each one fills up

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/tensor.h"
#include "distributed/communicator.h"

namespace millrace::distributed {

// A parameter's gradient, in the order of the model's parameters.
struct GradientSpec {
  // For messages: "layer1.0.conv1.weight".
  std::string name;
  // kFloat32 or kFloat64, the same for all.
  DType dtype = DType::kFloat32;
  int64_t elements = 0;
};

struct GradientReducerOptions {
  // Bytes of a bucket. Larger ones use the network better, smaller ones start
  // earlier. > 0.
  int64_t bucket_bytes = 25 << 20;
  // Of the one that is reduced first. > 0.
  int64_t first_bucket_bytes = 1 << 20;
  // Of each wait in Finish().
  absl::Duration timeout = absl::Minutes(10);

  absl::Status Validate() const;
};

// One step: StartStep(), MarkReady() for each gradient in whatever order
// backward makes them, Finish().
//
// Gradients are those of the *sum* of the samples' losses. scalars[0] is the
// number of samples behind them on this rank (may be 0); Finish() writes the
// sum of gradients over ranks divided by the sum of scalars[0], so that ranks
// with unequal numbers of samples count as they should.
//
// Confined to one thread at a time: MarkReady() may be called by the threads
// that run backward, one at a time.
class GradientReducer {
 public:
  virtual ~GradientReducer() = default;

  // `scalars`: further numbers to sum in the same reduction (the loss, a flag),
  // the same count in every step on every rank, at least 1. They travel in the
  // gradients' type. FailedPrecondition if a step is under way.
  virtual absl::Status StartStep(absl::Span<const double> scalars) = 0;

  // The gradient of parameter `index` is complete at `gradient` (host memory,
  // or device memory for a device reducer). It is copied out before this
  // returns, and its bucket's reduction starts when all of the bucket's
  // gradients are there. Never blocks for other ranks. InvalidArgument: index
  // outside, or marked before in this step.
  virtual absl::Status MarkReady(int index, const void* gradient) = 0;

  // Gradients that were not marked count as zeros. Waits for all sums and
  // writes them to gradients[i] (one pointer a parameter; null: not wanted).
  // Returns the sums of the scalars. On failure: the job's failure, or
  // DeadlineExceeded naming the buckets that are not through.
  virtual absl::StatusOr<std::vector<double>> Finish(
      absl::Span<void* const> gradients) = 0;

  // Bytes of all buckets, and how many of them had been summed by the time
  // Finish() was called, in the last step: how much was hidden behind backward.
  struct Overlap {
    int64_t total_bytes = 0;
    int64_t hidden_bytes = 0;
    int buckets = 0;
  };
  virtual Overlap last_overlap() const = 0;
};

// Sums in host memory over `communicator` (borrowed). All ranks must pass equal
// specs: FailedPrecondition naming the first that differs (a collective).
absl::StatusOr<std::unique_ptr<GradientReducer>> MakeHostGradientReducer(
    Communicator* communicator, std::vector<GradientSpec> specs,
    const GradientReducerOptions& options = {});

// Sums in the memory of CUDA device `device` with NCCL, whose communicator is
// set up over `communicator`. In gradient_reducer_nccl.cc with --config=cuda;
// gradient_reducer_stub.cc otherwise returns Unimplemented and names the flag.
absl::StatusOr<std::unique_ptr<GradientReducer>> MakeDeviceGradientReducer(
    Communicator* communicator, int device, std::vector<GradientSpec> specs,
    const GradientReducerOptions& options = {});

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_GRADIENT_REDUCER_H_
