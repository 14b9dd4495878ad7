#ifndef MILLRACE_LOADER_SAMPLE_MAKER_H_
#define MILLRACE_LOADER_SAMPLE_MAKER_H_

// What a worker does with one task: read, transform, put in place.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "loader/batch_ring.h"
#include "loader/batch_slot.h"
#include "loader/byte_budget.h"
#include "loader/sample_transform.h"
#include "storage/dataset.h"

namespace millrace::loader {

// What all workers of a loader share; borrowed, constant.
struct SampleMakerContext {
  const storage::Dataset* dataset = nullptr;
  const SampleTransform* transform = nullptr;
  const SlotLayout* layout = nullptr;
  ByteBudget* budget = nullptr;
  storage::LabelSpec labels;
  uint64_t seed = 0;
  int rank = 0;
};

// What the samples made so far took.
struct StageTimes {
  int64_t samples = 0;
  int64_t bytes_read = 0;
  int64_t read_ns = 0;
  int64_t decode_ns = 0;
  int64_t transform_ns = 0;
};

// One worker's tools. Confined to one thread, but for times() and Describe().
class SampleMaker {
 public:
  // `worker` is its number, for messages.
  SampleMaker(const SampleMakerContext& context, int worker);

  // Makes the task's sample in its slot. Errors carry epoch, rank, worker,
  // index and location.
  absl::Status Make(const BatchRing::Task& task);

  // Sums over the samples made so far. Thread-safe.
  StageTimes times() const ABSL_LOCKS_EXCLUDED(mutex_);

  // What it is doing, for the message of a time-out: "worker 3: reading sample
  // 812 (/d/a.jpg) for 12.3s"; empty while idle. Thread-safe.
  std::string Describe() const;

 private:
  enum Stage { kIdle, kReading, kTransforming };

  // Make(), without the messages and the sums.
  absl::Status Fill(BatchSlot& slot, int64_t i, int64_t ticket,
                    StageTimes* times);

  absl::Status Read(int64_t index, storage::Sample* sample);
  absl::Status CopyLabels(const storage::LabelView& labels, void* out) const;
  void Enter(Stage stage, int64_t index);

  const SampleMakerContext context_;
  const int worker_;
  std::unique_ptr<SampleTransform::Context> transform_context_;
  // Made anew once its scratch has grown large.
  std::optional<storage::Sample> sample_;

  mutable Mutex mutex_;
  StageTimes times_ ABSL_GUARDED_BY(mutex_);

  // For Describe(). Relaxed: each is valid by itself, and a message that mixes
  // two moments does no harm.
  std::atomic<int> stage_{kIdle};
  std::atomic<int64_t> index_{0};
  std::atomic<int64_t> since_ns_{0};
};

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_SAMPLE_MAKER_H_
