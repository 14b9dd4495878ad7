#ifndef MILLRACE_LOADER_BATCH_SLOT_H_
#define MILLRACE_LOADER_BATCH_SLOT_H_

// The memory of one batch in the making, and where each sample's part is.
//
//   buffer: | image 0 | image 1 | ... | pad | mask 0 | ... | pad | label 0 ...
//   |

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/buffer_pool.h"
#include "base/mutex.h"
#include "distributed/distributed_sampler.h"
#include "loader/batch.h"
#include "loader/sample_transform.h"
#include "storage/dataset.h"

namespace millrace::loader {

// Offsets of a batch's tensors in its buffer, for batches of up to `capacity`
// samples.
//
// Thread-safe: immutable once made.
class SlotLayout {
 public:
  struct Part {
    std::string name;
    DType dtype;
    // Of one sample.
    Shape shape;
    size_t sample_bytes;
    size_t offset;
  };

  // The transform's outputs, then the labels as "label" (unless
  // labels.count < 0).
  SlotLayout(absl::Span<const OutputField> outputs,
             const storage::LabelSpec& labels, int64_t capacity);

  absl::Span<const Part> parts() const { return parts_; }
  size_t bytes() const { return bytes_; }
  bool has_labels() const { return has_labels_; }

 private:
  std::vector<Part> parts_;
  size_t bytes_ = 0;
  bool has_labels_;
};

// Hands out the buffers of slots: the first few from `allocator` (pinned
// memory, say), kept and used again; further ones, for a user who holds many
// batches, from plain memory up to a limit.
//
// Thread-safe.
class SlotPool {
 public:
  SlotPool(HostAllocator* allocator, size_t buffer_bytes, int64_t base_buffers,
           int64_t limit_bytes);

  // ResourceExhausted, naming the batches held, when the limit is reached.
  absl::StatusOr<Buffer> Take() ABSL_LOCKS_EXCLUDED(mutex_);

  // Buffers ever allocated from the allocator that was passed.
  int64_t base_allocated() const { return base_.allocated(); }

 private:
  const int64_t base_buffers_;
  const int64_t limit_bytes_;
  // Makes counting and taking one step.
  Mutex mutex_;
  BufferPool base_;
  BufferPool overflow_;
};

// Thread-compatible: the ring says who may touch what when.
class BatchSlot : public BatchStorage {
 public:
  // `layout` must outlive the slot's use by workers; the slot itself keeps the
  // pool alive for batches that outlive their loader.
  BatchSlot(std::shared_ptr<SlotPool> pool, Buffer buffer,
            const SlotLayout& layout, int64_t epoch, int64_t step,
            std::vector<distributed::SampleRef> samples);

  int64_t epoch() const { return epoch_; }
  int64_t step() const { return step_; }
  int64_t size() const { return static_cast<int64_t>(samples_.size()); }
  const distributed::SampleRef& sample(int64_t i) const { return samples_[i]; }

  // Where part `part` of sample i goes.
  uint8_t* Destination(const SlotLayout::Part& part, int64_t i) const {
    return buffer_.data() + part.offset + part.sample_bytes * i;
  }

  // The tensors of the finished batch. A collate function replaces them, with
  // memory of its own.
  void SetTensors(std::vector<NamedTensor> tensors,
                  std::vector<std::unique_ptr<uint8_t[]>> memory);

  // For collate functions, which see what the data set stored: one a sample,
  // kept until ReleaseStored(). Null without a collate function.
  void KeepStored();
  storage::Sample* stored(int64_t i) const {
    return stored_.empty() ? nullptr : stored_[i].get();
  }
  void ReleaseStored() { stored_.clear(); }

  // REQUIRES: all samples are done; called once.
  Batch::Contents TakeContents();

 private:
  std::shared_ptr<SlotPool> pool_;  // Outlives buffer_.
  Buffer buffer_;
  int64_t epoch_;
  int64_t step_;
  std::vector<distributed::SampleRef> samples_;
  std::vector<NamedTensor> tensors_;
  std::vector<std::unique_ptr<uint8_t[]>> collated_memory_;
  std::vector<std::unique_ptr<storage::Sample>> stored_;
};

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_BATCH_SLOT_H_
