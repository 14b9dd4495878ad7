#ifndef MILLRACE_DISTRIBUTED_TORCH_DISTRIBUTED_SAMPLER_H_
#define MILLRACE_DISTRIBUTED_TORCH_DISTRIBUTED_SAMPLER_H_

// The order of torch.utils.data.DistributedSampler, index for index.
//
// It pads or drops by rank, so what an epoch holds depends on the number of
// ranks: a compatibility class, for runs that must repeat a PyTorch run.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sampler.h"
#include "distributed/torch_permutations.h"

namespace millrace::distributed {

struct TorchDistributedSamplerOptions {
  // Samples in the data set. Required, in [1, 2^62].
  int64_t dataset_size = 0;
  // > 0.
  int world_size = 1;
  uint64_t seed = 0;
  // torch.randperm(dataset_size) with seed + epoch; else dataset order.
  bool shuffle = true;
  // Cut the order to a multiple of world_size; else repeat its head up to one.
  bool drop_last = false;

  // InvalidArgument, naming field and value: a field outside its range, or
  // drop_last with fewer samples than ranks ("3 samples < 7 ranks"), where
  // PyTorch gives every rank nothing.
  absl::Status Validate() const;
};

// The padded or cut order as one global list: rank r's share is positions r,
// r + W, r + 2W, ..., which is just what DistributedSampler hands out for a
// global batch of W times PyTorch's batch size.
//
// Memory: 8 bytes a sample for each of the last two epochs asked for.
//
// Thread-safe.
class TorchDistributedSampler : public Sampler {
 public:
  // Fails as Validate().
  static absl::StatusOr<TorchDistributedSampler> Create(
      const TorchDistributedSamplerOptions& options);

  TorchDistributedSampler(TorchDistributedSampler&&) = default;
  TorchDistributedSampler& operator=(TorchDistributedSampler&&) = default;

  // num_samples * world_size, as PyTorch's total_size.
  int64_t size() const override;
  int64_t IndexAt(int64_t epoch, int64_t position) const override;
  std::string Describe() const override;

  // list(DistributedSampler(...)) on `rank` after set_epoch(epoch).
  // REQUIRES: rank in [0, world_size).
  std::vector<int64_t> RankIndices(int64_t epoch, int rank) const;

 private:
  explicit TorchDistributedSampler(
      const TorchDistributedSamplerOptions& options);

  TorchDistributedSamplerOptions options_;
  // Null without shuffling.
  std::unique_ptr<TorchPermutations> permutations_;
};

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_TORCH_DISTRIBUTED_SAMPLER_H_
