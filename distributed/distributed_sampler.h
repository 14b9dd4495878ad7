#ifndef MILLRACE_DISTRIBUTED_DISTRIBUTED_SAMPLER_H_
#define MILLRACE_DISTRIBUTED_DISTRIBUTED_SAMPLER_H_

// Splits the global order of an epoch into global batches, and each of these
// between the ranks, with no communication.
//
//   positions  0 1 2 3 4 5 6 7 8 9 10      B = 4, W = 2
//   batch      0 0 0 0 1 1 1 1 2 2  2
//   rank       0 1 0 1 0 1 0 1 0 1  0

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/sampler.h"

namespace millrace::distributed {

// What happens to the positions left over when the batch size does not divide
// the epoch. It depends on the global batch size alone, not on the ranks.
enum class Tail {
  // Leave out the last N mod B positions: training's default.
  kDrop = 0,
  // A last batch of N mod B samples: evaluation's default.
  kShort = 1,
  // Fill the last batch from the epoch's head; those samples come twice.
  kPad = 2,
};

// "drop", "short", "pad", and back. InvalidArgument for another name.
absl::string_view Name(Tail tail);
absl::StatusOr<Tail> ParseTail(absl::string_view name);

struct DistributedSamplerOptions {
  // Samples of one step over all ranks. Required, > 0. May be below world_size:
  // some ranks then have nothing in some steps, and still take part.
  int64_t global_batch_size = 0;
  Tail tail = Tail::kDrop;
  // Ranks that share the data (> 0), and this one among them.
  int world_size = 1;
  int rank = 0;

  // InvalidArgument, naming field and value, if one is outside its range.
  absl::Status Validate() const;
};

// One sample of a step.
struct SampleRef {
  // Global position in the epoch: the key of its random numbers. A padded
  // position goes on counting past the end of the epoch.
  int64_t position = 0;
  // Dataset index.
  int64_t index = 0;
};

// Guarantees, for ranks whose options differ only in `rank`:
//  * global batch k is positions [k * B, (k + 1) * B) of the sampler's order,
//    cut or filled by the tail, whatever world_size is;
//  * position p belongs to rank p mod world_size, so shares of a batch are
//    disjoint, cover it, and differ by one at most;
//  * every rank takes steps() steps.
// Cost: O(1) time and memory a call, beyond the sampler's own.
//
// Thread-safe: immutable once created; `sampler` is borrowed and must outlive
// it.
class DistributedSampler {
 public:
  // Fails as Validate(); and with InvalidArgument where there would be no step
  // at all (an empty order, or kDrop with fewer samples than a batch), naming
  // both numbers.
  static absl::StatusOr<DistributedSampler> Create(
      const Sampler* sampler, const DistributedSamplerOptions& options);

  // Steps of an epoch, the same on all ranks.
  int64_t steps() const { return steps_; }

  // The largest number of samples that a step has on any rank: ceil(B / W).
  int64_t slot_size() const { return slot_size_; }

  // Positions that an epoch leaves out (kDrop) or visits twice (kPad).
  int64_t dropped() const;
  int64_t padded() const;

  // Samples of `step` on this rank, and on all. REQUIRES: step in [0, steps()).
  int64_t Count(int64_t step) const;
  int64_t GlobalCount(int64_t step) const;

  // This rank's i-th sample of a step, by rising position.
  // REQUIRES: epoch >= 0, step in [0, steps()), i in [0, Count(step)).
  SampleRef At(int64_t epoch, int64_t step, int64_t i) const;

  const Sampler& sampler() const { return *sampler_; }
  const DistributedSamplerOptions& options() const { return options_; }

 private:
  DistributedSampler(const Sampler* sampler,
                     const DistributedSamplerOptions& options);

  // First position of this rank in [kB, (k+1)B).
  int64_t FirstPosition(int64_t step) const;

  const Sampler* sampler_;
  DistributedSamplerOptions options_;
  int64_t steps_;
  int64_t slot_size_;
};

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_DISTRIBUTED_SAMPLER_H_
