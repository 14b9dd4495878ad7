#include "loader/sample_maker.h"

#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "base/philox.h"
#include "base/status_macros.h"

namespace millrace::loader {
namespace {

// Bytes of an encoded sample that a worker keeps the memory of. Files are
// rarely larger; a few that are must not swell every worker that ever met one.
constexpr size_t kKeptSampleBytes = size_t{8} << 20;

int64_t NowNs() { return absl::ToInt64Nanoseconds(Clock::Real()->Now()); }

}  // namespace

SampleMaker::SampleMaker(const SampleMakerContext& context, int worker)
    : context_(context),
      worker_(worker),
      transform_context_(context.transform->MakeContext()),
      sample_(std::in_place) {}

void SampleMaker::Enter(Stage stage, int64_t index) {
  index_.store(index, std::memory_order_relaxed);
  since_ns_.store(NowNs(), std::memory_order_relaxed);
  stage_.store(stage, std::memory_order_relaxed);
}

absl::Status SampleMaker::Read(int64_t index, storage::Sample* sample) {
  absl::Status status = context_.dataset->Read(index, sample);
  // What is merely unavailable here is a disk, not a peer.
  if (ExitCodeOf(status) == ExitCode::kCommunication) {
    return WithExitCode(std::move(status), ExitCode::kStorage);
  }
  return status;
}

absl::Status SampleMaker::CopyLabels(const storage::LabelView& labels,
                                     void* out) const {
  const storage::LabelSpec& want = context_.labels;
  if (labels.dtype != want.dtype || labels.count != want.count) {
    return absl::DataLossError(absl::StrCat(
        "has ", labels.count, " labels of ", Name(labels.dtype),
        " where the data set promised ", want.count, " of ", Name(want.dtype)));
  }
  std::memcpy(out, labels.data, labels.count * ByteSize(labels.dtype));
  return absl::OkStatus();
}

absl::Status SampleMaker::Fill(BatchSlot& slot, int64_t i, int64_t ticket,
                               StageTimes* times) {
  const distributed::SampleRef ref = slot.sample(i);
  storage::Sample* const kept = slot.stored(i);
  storage::Sample* const sample = kept != nullptr ? kept : &*sample_;

  Enter(kReading, ref.index);
  const int64_t read_start = NowNs();
  MILLRACE_RETURN_IF_ERROR(Read(ref.index, sample));
  times->read_ns = NowNs() - read_start;
  for (const storage::FieldView& field : sample->fields()) {
    times->bytes_read += static_cast<int64_t>(field.bytes.size());
  }
  if (!context_.budget->Acquire(
          ticket,
          times->bytes_read + context_.transform->ScratchBytes(*sample))) {
    return absl::CancelledError("the loader is closing");
  }

  Enter(kTransforming, ref.index);
  const int64_t transform_start = NowNs();
  absl::InlinedVector<void*, 4> outputs;
  for (const SlotLayout::Part& part : context_.layout->parts()) {
    outputs.push_back(slot.Destination(part, i));
  }
  if (context_.layout->has_labels()) {
    MILLRACE_RETURN_IF_ERROR(CopyLabels(sample->labels(), outputs.back()));
    outputs.pop_back();
  }
  PhiloxGenerator generator(context_.seed, slot.epoch(),
                            static_cast<uint64_t>(ref.position));
  MILLRACE_RETURN_IF_ERROR(context_.transform->Run(
      *sample, &generator, transform_context_.get(), outputs));
  times->decode_ns = transform_context_->TakeDecodeNanoseconds();
  times->transform_ns = NowNs() - transform_start - times->decode_ns;
  return absl::OkStatus();
}

absl::Status SampleMaker::Make(const BatchRing::Task& task) {
  BatchSlot& slot = *task.slot;
  StageTimes times;
  context_.budget->Begin(task.ticket);
  const absl::Status status = Fill(slot, task.i, task.ticket, &times);
  // Nothing that the sample borrows is held while the worker waits for work.
  if (sample_->scratch_capacity() > kKeptSampleBytes) {
    sample_.emplace();
  } else {
    sample_->Clear();
  }
  context_.budget->End(task.ticket);
  stage_.store(kIdle, std::memory_order_relaxed);
  {
    MutexLock lock(&mutex_);
    ++times_.samples;
    times_.bytes_read += times.bytes_read;
    times_.read_ns += times.read_ns;
    times_.decode_ns += times.decode_ns;
    times_.transform_ns += times.transform_ns;
  }
  if (status.ok()) return status;
  const int64_t index = slot.sample(task.i).index;
  return Annotate(status,
                  absl::StrCat("epoch ", slot.epoch(), ", rank ", context_.rank,
                               ", worker ", worker_, ": sample ", index, " (",
                               context_.dataset->Location(index), ")"));
}

StageTimes SampleMaker::times() const {
  MutexLock lock(&mutex_);
  return times_;
}

std::string SampleMaker::Describe() const {
  const int stage = stage_.load(std::memory_order_relaxed);
  if (stage == kIdle) return "";
  const int64_t index = index_.load(std::memory_order_relaxed);
  const absl::Duration since =
      absl::Nanoseconds(NowNs() - since_ns_.load(std::memory_order_relaxed));
  return absl::StrCat(
      "worker ", worker_, ": ", stage == kReading ? "reading" : "transforming",
      " sample ", index, " (", context_.dataset->Location(index), ") for ",
      absl::FormatDuration(absl::Trunc(since, absl::Milliseconds(1))));
}

}  // namespace millrace::loader
