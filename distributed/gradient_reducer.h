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
  // >= 0.
  int64_t elements = 0;
};

struct GradientReducerOptions {
  // Bytes of a bucket. Larger ones use the network better, smaller ones start
  // earlier. > 0.
  int64_t bucket_bytes = 25 << 20;
  // Of the one that is reduced first. > 0.
  int64_t first_bucket_bytes = 1 << 20;
  // Of each wait for other ranks.
  absl::Duration timeout = absl::Minutes(10);

  // InvalidArgument, naming field and value, if one is outside its range.
  absl::Status Validate() const;
};

// A CUDA stream, as a number so that no CUDA header is needed: cudaStream_t
// through reinterpret_cast. 0 is the default stream.
struct DeviceStream {
  uintptr_t handle = 0;
};

// One step: StartStep(), MarkReady() for each gradient in whatever order
// backward makes them, Finish(). After an error the reducer is of no more use.
//
// Gradients are those of the *sum* of the samples' losses. scalars[0] is the
// number of samples behind them on this rank (may be 0); Finish() writes the
// sum of gradients over ranks divided by the sum of scalars[0], so that ranks
// with unequal numbers of samples count as they should.
//
// Ranks may mark in different orders: buckets are reduced in one order, so a
// bucket that is complete waits for those before it.
//
// Confined to one thread at a time: MarkReady() may be called by the threads
// that run backward, one at a time. Destroying it never blocks for other ranks.
class GradientReducer {
 public:
  virtual ~GradientReducer() = default;

  // `scalars`: the sample count, then further numbers to sum in the same
  // reduction (the loss, a flag), the same count in every step on every rank,
  // at least 1: InvalidArgument. They travel in the gradients' type.
  // FailedPrecondition if a step is under way.
  virtual absl::Status StartStep(absl::Span<const double> scalars) = 0;

  // The gradient of parameter `index` is complete at `gradient`: in host
  // memory, where it is copied out before this returns; or, for a device
  // reducer, in device memory once the work queued on `stream` so far is done,
  // where work queued on `stream` later may overwrite it. The reduction of its
  // bucket starts when all of the bucket's gradients are there. Never blocks
  // for other ranks. InvalidArgument: index outside, null gradient, or marked
  // before in this step. FailedPrecondition: no step under way.
  virtual absl::Status MarkReady(int index, const void* gradient,
                                 DeviceStream stream) = 0;
  absl::Status MarkReady(int index, const void* gradient) {
    return MarkReady(index, gradient, DeviceStream());
  }

  // Gradients that were not marked count as zeros. Waits for all sums and
  // writes them to gradients[i] (one pointer a parameter; null: not wanted),
  // for a device reducer after the work queued on `stream` so far; they are
  // there when this returns. All zeros if the sum of scalars[0] is 0. Returns
  // the sums of the scalars. On failure: the job's failure, after the buckets
  // that are not through. InvalidArgument: another number of pointers than
  // parameters. FailedPrecondition: no step under way.
  virtual absl::StatusOr<std::vector<double>> Finish(
      absl::Span<void* const> gradients, DeviceStream stream) = 0;
  absl::StatusOr<std::vector<double>> Finish(
      absl::Span<void* const> gradients) {
    return Finish(gradients, DeviceStream());
  }

  // Bytes of all buckets, and how many of them had been summed by the time
  // Finish() was called, in the last step: how much was hidden behind backward.
  struct Overlap {
    int64_t total_bytes = 0;
    int64_t hidden_bytes = 0;
    int buckets = 0;
  };
  virtual Overlap last_overlap() const = 0;
};

// Sums in host memory over `communicator` (borrowed). A collective: all ranks
// must pass equal specs and bucket sizes, else FailedPrecondition with exit
// code 2, naming the first that differ. InvalidArgument for a spec of another
// type or a negative number of elements.
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
