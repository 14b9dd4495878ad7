#include "loader/batch_slot.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace millrace::loader {
namespace {

// A cache line, and the widest vector register.
constexpr size_t kAlignment = 64;

size_t AlignUp(size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

SlotLayout::SlotLayout(absl::Span<const OutputField> outputs,
                       const storage::LabelSpec& labels, int64_t capacity)
    : has_labels_(labels.count >= 0) {
  for (const OutputField& field : outputs) {
    parts_.push_back(
        {field.name, field.dtype, field.shape,
         static_cast<size_t>(ElementCount(field.shape)) * ByteSize(field.dtype),
         0});
  }
  if (has_labels_) {
    const Shape shape = labels.count == 1 ? Shape() : Shape({labels.count});
    parts_.push_back(
        {"label", labels.dtype, shape,
         static_cast<size_t>(labels.count) * ByteSize(labels.dtype), 0});
  }
  for (Part& part : parts_) {
    part.offset = bytes_;
    bytes_ = AlignUp(bytes_ + part.sample_bytes * capacity);
  }
  // A pool's buffers are never empty.
  bytes_ = std::max(bytes_, kAlignment);
}

SlotPool::SlotPool(HostAllocator* allocator, size_t buffer_bytes,
                   int64_t base_buffers, int64_t limit_bytes)
    : base_buffers_(base_buffers),
      limit_bytes_(limit_bytes),
      base_(allocator, buffer_bytes),
      overflow_(HostAllocator::Plain(), buffer_bytes) {}

absl::StatusOr<Buffer> SlotPool::Take() {
  MutexLock lock(&mutex_);
  const int64_t base = base_.outstanding();
  const int64_t held = base + overflow_.outstanding();
  const int64_t bytes = static_cast<int64_t>(base_.buffer_bytes());
  if ((held + 1) * bytes > limit_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        held, " batches of ", bytes,
        " bytes are held and one more would exceed memory_limit_bytes = ",
        limit_bytes_, ": drop batches after use, or raise the limit"));
  }
  return base < base_buffers_ ? base_.Take() : overflow_.Take();
}

BatchSlot::BatchSlot(std::shared_ptr<SlotPool> pool, Buffer buffer,
                     const SlotLayout& layout, int64_t epoch, int64_t step,
                     std::vector<distributed::SampleRef> samples)
    : pool_(std::move(pool)),
      buffer_(std::move(buffer)),
      epoch_(epoch),
      step_(step),
      samples_(std::move(samples)) {
  for (const SlotLayout::Part& part : layout.parts()) {
    Shape shape = {size()};
    shape.insert(shape.end(), part.shape.begin(), part.shape.end());
    tensors_.push_back(
        {part.name, {part.dtype, std::move(shape), Destination(part, 0)}});
  }
}

void BatchSlot::SetTensors(std::vector<NamedTensor> tensors,
                           std::vector<std::unique_ptr<uint8_t[]>> memory) {
  tensors_ = std::move(tensors);
  collated_memory_ = std::move(memory);
}

void BatchSlot::KeepStored() {
  stored_.clear();
  for (int64_t i = 0; i < size(); ++i) {
    stored_.push_back(std::make_unique<storage::Sample>());
  }
}

Batch::Contents BatchSlot::TakeContents() {
  Batch::Contents contents;
  contents.epoch = epoch_;
  contents.step = step_;
  contents.tensors = std::move(tensors_);
  contents.indices.reserve(samples_.size());
  contents.positions.reserve(samples_.size());
  for (const distributed::SampleRef& sample : samples_) {
    contents.indices.push_back(sample.index);
    contents.positions.push_back(sample.position);
  }
  return contents;
}

}  // namespace millrace::loader
