#ifndef MILLRACE_LOADER_BATCH_H_
#define MILLRACE_LOADER_BATCH_H_

// One rank's share of a global batch, as tensors.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/tensor.h"

namespace millrace::loader {

// A named tensor of a batch.
struct NamedTensor {
  std::string name;
  TensorView tensor;
};

// Where a batch's memory is kept: a slot of the loader's ring, which goes back
// to it with the last reference.
class BatchStorage {
 public:
  virtual ~BatchStorage() = default;
};

// A reference to a batch; copies refer to the same memory. The memory is not
// used for another batch while any of them lives, so holding many batches makes
// the loader take more memory, up to DataLoaderOptions::memory_limit_bytes.
// A batch may outlive its loader.
//
// Thread-compatible. The tensors may be written to: nobody else reads them.
class Batch {
 public:
  // What the loader fills in.
  struct Contents {
    int64_t epoch = 0;
    int64_t step = 0;
    int64_t global_step = 0;
    int64_t global_size = 0;
    std::vector<NamedTensor> tensors;
    std::vector<int64_t> indices;
    std::vector<int64_t> positions;
    std::shared_ptr<BatchStorage> storage;
  };
  explicit Batch(Contents contents);

  // Samples on this rank, and on all ranks. size() may be 0, on a rank that has
  // no sample in this step and takes part all the same. Tensors have size() as
  // their first dimension.
  int64_t size() const { return static_cast<int64_t>(c_->indices.size()); }
  int64_t global_size() const { return c_->global_size; }

  int64_t epoch() const { return c_->epoch; }
  // Within the epoch, and since the beginning of training: epoch * steps +
  // step.
  int64_t step() const { return c_->step; }
  int64_t global_step() const { return c_->global_step; }

  // The images, [size, C, H, W] or [size, H, W, C]: the first tensor.
  const TensorView& images() const { return c_->tensors.front().tensor; }
  // The labels, int64 [size], or [size, L] where samples have L labels:
  // "label". REQUIRES: there are labels (a collate function may make none).
  const TensorView& labels() const { return *Find("label"); }

  // All tensors, the labels last.
  absl::Span<const NamedTensor> tensors() const { return c_->tensors; }
  // The tensor of that name, or null. Lives as long as the batch.
  const TensorView* Find(absl::string_view name) const;

  // Dataset index, and global position in the epoch, of each sample; the name
  // of one is Dataset::Key(index).
  absl::Span<const int64_t> indices() const { return c_->indices; }
  absl::Span<const int64_t> positions() const { return c_->positions; }

 private:
  // Shared between copies of the batch.
  std::shared_ptr<const Contents> c_;
};

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_BATCH_H_
