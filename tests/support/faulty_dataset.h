#ifndef MILLRACE_TESTS_SUPPORT_FAULTY_DATASET_H_
#define MILLRACE_TESTS_SUPPORT_FAULTY_DATASET_H_

// A data set that fails, or makes its reader wait, where a test wants it to,
// and counts how often each sample was read.
//
//   FaultyDataset faulty(*MemoryDataset::Create(...));
//   faulty.Fail(3, absl::DataLossError("torn"));
//   std::latch go(1);
//   faulty.Block(5, &go);
//   ... start what reads ...
//   faulty.WaitForReads(5, 1);   // A reader has arrived at sample 5 ...
//   go.count_down();             // ... and may go on.

#include <cstdint>
#include <latch>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "storage/dataset.h"

namespace millrace {

// Everything but Read() is `base`'s.
//
// Thread-safe.
class FaultyDataset : public storage::Dataset {
 public:
  // Shared, so that a test may give its data set away or keep it. Not null.
  explicit FaultyDataset(std::shared_ptr<const storage::Dataset> base);

  // The next `times` reads of sample `index` return `status`; all further ones
  // if `times` is negative, none if it is 0. Replaces what was set before.
  void Fail(int64_t index, absl::Status status, int times = -1)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Reads of sample `index` wait until `latch` opens, before they fail or
  // succeed; null lets later ones pass. `latch` is borrowed.
  void Block(int64_t index, std::latch* latch) ABSL_LOCKS_EXCLUDED(mutex_);

  // How often Read() was called for `index` (also outside the range), and in
  // all. A read counts when it begins.
  int64_t reads(int64_t index) const ABSL_LOCKS_EXCLUDED(mutex_);
  int64_t total_reads() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until `count` reads of `index` have begun.
  void WaitForReads(int64_t index, int64_t count) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  int64_t size() const override { return base_->size(); }
  const std::vector<storage::FieldSpec>& fields() const override {
    return base_->fields();
  }
  storage::LabelSpec label_spec() const override { return base_->label_spec(); }
  const std::vector<std::string>& class_names() const override {
    return base_->class_names();
  }
  Hash128 fingerprint() const override { return base_->fingerprint(); }
  absl::Status Read(int64_t index, storage::Sample* sample) const override
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<std::string> Key(int64_t index) const override {
    return base_->Key(index);
  }
  std::string Location(int64_t index) const override {
    return base_->Location(index);
  }
  std::string Describe() const override { return base_->Describe(); }
  int64_t IndexBytes() const override { return base_->IndexBytes(); }

 private:
  struct State {
    int64_t reads = 0;
    absl::Status failure;
    int failures_left = 0;
    std::latch* latch = nullptr;
  };

  const std::shared_ptr<const storage::Dataset> base_;
  mutable Mutex mutex_;
  mutable CondVar read_began_;
  mutable std::map<int64_t, State> states_ ABSL_GUARDED_BY(mutex_);
  mutable int64_t total_reads_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace millrace

#endif  // MILLRACE_TESTS_SUPPORT_FAULTY_DATASET_H_
