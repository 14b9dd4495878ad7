#include "distributed/torch_distributed_sampler.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace millrace::distributed {
namespace {

// Leaves room for padding by any number of ranks.
constexpr int64_t kMaxDatasetSize = int64_t{1} << 62;

}  // namespace

absl::Status TorchDistributedSamplerOptions::Validate() const {
  if (dataset_size <= 0 || dataset_size > kMaxDatasetSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("dataset_size must be in [1, 2^62], got ", dataset_size));
  }
  if (world_size <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("world_size must be positive, got ", world_size));
  }
  if (drop_last && dataset_size < world_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "drop_last leaves every rank without samples: ", dataset_size,
        " samples < ", world_size, " ranks"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TorchDistributedSampler> TorchDistributedSampler::Create(
    const TorchDistributedSamplerOptions& options) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  return TorchDistributedSampler(options);
}

TorchDistributedSampler::TorchDistributedSampler(
    const TorchDistributedSamplerOptions& options)
    : options_(options) {
  if (options.shuffle) {
    permutations_ =
        std::make_unique<TorchPermutations>(options.dataset_size, options.seed);
  }
}

int64_t TorchDistributedSampler::size() const {
  const int64_t whole_rounds = options_.dataset_size / options_.world_size;
  const bool pads =
      !options_.drop_last && options_.dataset_size % options_.world_size != 0;
  return (whole_rounds + (pads ? 1 : 0)) * options_.world_size;
}

int64_t TorchDistributedSampler::IndexAt(int64_t epoch,
                                         int64_t position) const {
  // Padding repeats the list from its head, several times if it is shorter than
  // the number of ranks.
  const int64_t place = position % options_.dataset_size;
  return permutations_ == nullptr ? place : permutations_->At(epoch, place);
}

std::string TorchDistributedSampler::Describe() const {
  return absl::StrCat(
      "torch_distributed(size=", options_.dataset_size,
      ", world_size=", options_.world_size, ", seed=", options_.seed,
      ", shuffle=", options_.shuffle ? "true" : "false",
      ", drop_last=", options_.drop_last ? "true" : "false", ")");
}

std::vector<int64_t> TorchDistributedSampler::RankIndices(int64_t epoch,
                                                          int rank) const {
  std::vector<int64_t> indices;
  indices.reserve(size() / options_.world_size);
  for (int64_t p = rank; p < size(); p += options_.world_size) {
    indices.push_back(IndexAt(epoch, p));
  }
  return indices;
}

}  // namespace millrace::distributed
