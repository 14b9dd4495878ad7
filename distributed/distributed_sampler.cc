#include "distributed/distributed_sampler.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace millrace::distributed {

absl::string_view Name(Tail tail) {
  switch (tail) {
    case Tail::kDrop:
      return "drop";
    case Tail::kShort:
      return "short";
    case Tail::kPad:
      return "pad";
  }
  return "unknown";
}

absl::StatusOr<Tail> ParseTail(absl::string_view name) {
  for (const Tail tail : {Tail::kDrop, Tail::kShort, Tail::kPad}) {
    if (name == Name(tail)) return tail;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "tail \"", EscapeForMessage(name), "\" is not one of drop, short, pad"));
}

absl::Status DistributedSamplerOptions::Validate() const {
  if (global_batch_size <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "global_batch_size must be positive, got ", global_batch_size));
  }
  if (Name(tail) == "unknown") {
    return absl::InvalidArgumentError(
        absl::StrCat("tail ", static_cast<int>(tail), " is not a Tail"));
  }
  if (world_size <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("world_size must be positive, got ", world_size));
  }
  if (rank < 0 || rank >= world_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank must be in [0, ", world_size, "), got ", rank));
  }
  return absl::OkStatus();
}

absl::StatusOr<DistributedSampler> DistributedSampler::Create(
    const Sampler* sampler, const DistributedSamplerOptions& options) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  const int64_t size = sampler->size();
  const int64_t batch = options.global_batch_size;
  if (size <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no steps: ", size, " samples for a global batch of ", batch));
  }
  if (options.tail == Tail::kDrop && size < batch) {
    return absl::InvalidArgumentError(
        absl::StrCat("no steps: ", size, " samples < global batch of ", batch,
                     ", and the tail is dropped"));
  }
  if (size > std::numeric_limits<int64_t>::max() - batch) {
    return absl::InvalidArgumentError(
        absl::StrCat(size, " samples and a global batch of ", batch,
                     " exceed 63 bits together"));
  }
  return DistributedSampler(sampler, options);
}

DistributedSampler::DistributedSampler(const Sampler* sampler,
                                       const DistributedSamplerOptions& options)
    : sampler_(sampler), options_(options) {
  const int64_t size = sampler->size();
  const int64_t batch = options.global_batch_size;
  steps_ = size / batch;
  if (options.tail != Tail::kDrop && size % batch != 0) ++steps_;
  slot_size_ = (batch - 1) / options.world_size + 1;
}

int64_t DistributedSampler::dropped() const {
  return options_.tail == Tail::kDrop
             ? sampler_->size() % options_.global_batch_size
             : 0;
}

int64_t DistributedSampler::padded() const {
  return options_.tail == Tail::kPad
             ? steps_ * options_.global_batch_size - sampler_->size()
             : 0;
}

int64_t DistributedSampler::FirstPosition(int64_t step) const {
  const int64_t begin = step * options_.global_batch_size;
  const int64_t world = options_.world_size;
  return begin + (options_.rank - begin % world + world) % world;
}

int64_t DistributedSampler::GlobalCount(int64_t step) const {
  const int64_t batch = options_.global_batch_size;
  if (options_.tail != Tail::kShort) return batch;
  return std::min(batch, sampler_->size() - step * batch);
}

int64_t DistributedSampler::Count(int64_t step) const {
  const int64_t end = step * options_.global_batch_size + GlobalCount(step);
  const int64_t first = FirstPosition(step);
  return first >= end ? 0 : (end - first - 1) / options_.world_size + 1;
}

SampleRef DistributedSampler::At(int64_t epoch, int64_t step, int64_t i) const {
  SampleRef ref;
  ref.position = FirstPosition(step) + i * options_.world_size;
  ref.index = sampler_->IndexAt(epoch, ref.position % sampler_->size());
  return ref;
}

}  // namespace millrace::distributed
