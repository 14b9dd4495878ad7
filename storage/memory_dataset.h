#ifndef MILLRACE_STORAGE_MEMORY_DATASET_H_
#define MILLRACE_STORAGE_MEMORY_DATASET_H_

// A data set over arrays that the user's program holds already: encoded images
// or tensors, with labels.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/dataset.h"

namespace millrace::storage {

// One field as one array: sample i's part is the i-th of N equal blocks.
struct ArrayField {
  // Not empty, and unlike the other fields' names.
  std::string name;
  DType dtype = DType::kUInt8;
  // Of one sample, without the leading N; empty for one number a sample. No
  // dimension is 0.
  Shape shape;
  Layout layout = Layout::kHWC;
  // N blocks, row-major. Borrowed unless MemoryDatasetOptions::owner holds it.
  const void* data = nullptr;
};

struct MemoryDatasetOptions {
  // Samples. Required, > 0.
  int64_t size = 0;
  // Either encoded images, `size` of them (an empty string is an empty file),
  // ...
  std::vector<std::string> encoded;
  // ... or raw arrays; exactly one of the two is given.
  std::vector<ArrayField> arrays;
  // Class number of each sample: `size` of them, or none (all labels 0).
  std::vector<int64_t> labels;
  // Optional; labels must then lie in [0, class_names.size()).
  std::vector<std::string> class_names;
  // `size` of them, unique and not empty, or none: then the index in decimal.
  std::vector<std::string> keys;
  // Keeps what `arrays` points to alive, if anything has to.
  std::shared_ptr<const void> owner;
};

// Read() lends: it copies nothing and never blocks.
//
// Thread-safe: immutable once created.
class MemoryDataset : public Dataset {
 public:
  // InvalidArgument naming the field and both numbers where sizes disagree.
  static absl::StatusOr<std::unique_ptr<MemoryDataset>> Create(
      MemoryDatasetOptions options);

  int64_t size() const override { return options_.size; }
  const std::vector<FieldSpec>& fields() const override { return fields_; }
  const std::vector<std::string>& class_names() const override {
    return options_.class_names;
  }
  Hash128 fingerprint() const override { return fingerprint_; }
  absl::Status Read(int64_t index, Sample* sample) const override;
  absl::StatusOr<std::string> Key(int64_t index) const override;
  std::string Describe() const override;
  // Keys, labels and class names; not the data.
  int64_t IndexBytes() const override;

 private:
  explicit MemoryDataset(MemoryDatasetOptions options);

  // REQUIRES: index in range.
  std::string KeyAt(int64_t index) const;
  int64_t LabelAt(int64_t index) const;
  absl::Status CheckIndex(int64_t index) const;

  MemoryDatasetOptions options_;
  std::vector<FieldSpec> fields_;
  Hash128 fingerprint_;
};

}  // namespace millrace::storage

#endif  // MILLRACE_STORAGE_MEMORY_DATASET_H_
