#include "loader/data_loader.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cpu.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "distributed/communicator_local.h"
#include "distributed/coordinator.h"
#include "loader/batch_ring.h"
#include "loader/batch_slot.h"
#include "loader/byte_budget.h"
#include "loader/pinned_allocator.h"
#include "loader/sample_maker.h"

namespace millrace::loader {
namespace {

using distributed::Communicator;
using distributed::DistributedSampler;

// Raised when a change makes other batches of the same options: ranks of
// different builds must not train together.
constexpr char kStreamVersion[] = "1";

// How often a waiting consumer looks whether another rank has failed.
constexpr absl::Duration kFailurePoll = absl::Milliseconds(100);

constexpr int64_t kMaxEpoch = int64_t{1} << 31;

absl::Status OutOfRange(absl::string_view field, int64_t value,
                        absl::string_view range) {
  return absl::InvalidArgumentError(absl::StrCat(
      "DataLoaderOptions::", field, " = ", value, " is not ", range));
}

}  // namespace

absl::Status DataLoaderOptions::Validate() const {
  if (batch_size <= 0) return OutOfRange("batch_size", batch_size, "above 0");
  if (num_workers.has_value() && (*num_workers < 0 || *num_workers > 1024)) {
    return OutOfRange("num_workers", *num_workers, "in [0, 1024]");
  }
  if (prefetch_factor < 1 || prefetch_factor > 1024) {
    return OutOfRange("prefetch_factor", prefetch_factor, "in [1, 1024]");
  }
  if (memory_limit_bytes <= 0) {
    return OutOfRange("memory_limit_bytes", memory_limit_bytes, "above 0");
  }
  if (inflight_bytes <= 0) {
    return OutOfRange("inflight_bytes", inflight_bytes, "above 0");
  }
  if (timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "DataLoaderOptions::timeout = ", absl::FormatDuration(timeout),
        " is not above 0"));
  }
  return absl::OkStatus();
}

int AutoWorkers(int local_ranks) {
  return std::clamp(AllowedCpus() / std::max(1, local_ranks), 1, 8);
}

// Members are declared in the order in which later ones borrow earlier ones.
class DataLoader::Impl {
 public:
  static absl::StatusOr<std::unique_ptr<Impl>> Create(
      std::shared_ptr<const storage::Dataset> dataset,
      std::shared_ptr<const SampleTransform> transform,
      const DataLoaderOptions& options);
  ~Impl();

  absl::StatusOr<std::optional<Batch>> Next();
  absl::Status StartEpoch(int64_t epoch);
  LoaderState state() const;
  absl::Status Restore(const LoaderState& state);

  const storage::Dataset& dataset() const { return *dataset_; }
  const DistributedSampler& sampler() const { return *sampler_; }
  uint64_t seed() const { return seed_; }
  int num_workers() const { return num_workers_; }
  LoaderStats stats() const ABSL_LOCKS_EXCLUDED(stats_mutex_);

 private:
  Impl(std::shared_ptr<const storage::Dataset> dataset,
       std::shared_ptr<const SampleTransform> transform,
       const DataLoaderOptions& options);

  // The parts of Create(), in order.
  absl::Status ChooseSampler();
  absl::Status ChooseMemory();
  void MakeWorkers();

  absl::StatusOr<std::shared_ptr<BatchSlot>> OpenSlot(BatchId id);
  absl::Status Collate(BatchSlot* slot) const;

  void StartWorkers();
  void StopWorkers();
  void MakeSamples(SampleMaker* maker);
  absl::Status WaitForBatch();
  absl::Status AgreeOnEpoch();
  void Seek(int64_t epoch, int64_t step);

  const DataLoaderOptions options_;
  const std::shared_ptr<const storage::Dataset> dataset_;
  const std::shared_ptr<const SampleTransform> transform_;
  // The one that stands in where the user gave none.
  std::unique_ptr<Communicator> own_communicator_;
  Communicator* communicator_;
  distributed::Coordinator coordinator_;
  uint64_t seed_ = 0;
  std::shared_ptr<const Sampler> order_;
  std::optional<DistributedSampler> sampler_;
  int num_workers_ = 0;

  std::optional<SlotLayout> layout_;
  // Shared with slots, which may outlive the loader.
  std::shared_ptr<SlotPool> pool_;
  ByteBudget budget_;
  std::unique_ptr<BatchRing> ring_;
  // One a worker; with no workers one for the consumer.
  std::vector<std::unique_ptr<SampleMaker>> makers_;
  std::vector<std::thread> threads_;

  // Where the consumer stands: the next batch is `step_` of `epoch_`.
  int64_t epoch_ = 0;
  int64_t step_ = 0;
  // Whether all ranks have agreed on epoch_.
  bool agreed_ = false;

  mutable Mutex stats_mutex_;
  int64_t batches_ ABSL_GUARDED_BY(stats_mutex_) = 0;
  absl::Duration wait_ ABSL_GUARDED_BY(stats_mutex_);
};

DataLoader::Impl::Impl(std::shared_ptr<const storage::Dataset> dataset,
                       std::shared_ptr<const SampleTransform> transform,
                       const DataLoaderOptions& options)
    : options_(options),
      dataset_(std::move(dataset)),
      transform_(std::move(transform)),
      own_communicator_(options.communicator == nullptr
                            ? distributed::MakeLocalCommunicator()
                            : nullptr),
      communicator_(options.communicator != nullptr ? options.communicator
                                                    : own_communicator_.get()),
      coordinator_(communicator_, options.timeout),
      budget_(options.inflight_bytes) {}

absl::StatusOr<std::unique_ptr<DataLoader::Impl>> DataLoader::Impl::Create(
    std::shared_ptr<const storage::Dataset> dataset,
    std::shared_ptr<const SampleTransform> transform,
    const DataLoaderOptions& options) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  if (dataset == nullptr || transform == nullptr) {
    return absl::InvalidArgumentError(
        "DataLoader needs a data set and a transform, not null");
  }
  std::unique_ptr<Impl> impl(
      new Impl(std::move(dataset), std::move(transform), options));
  MILLRACE_RETURN_IF_ERROR(impl->ChooseSampler());
  MILLRACE_RETURN_IF_ERROR(impl->ChooseMemory());
  impl->MakeWorkers();
  return impl;
}

absl::Status DataLoader::Impl::ChooseSampler() {
  MILLRACE_ASSIGN_OR_RETURN(seed_, coordinator_.AgreeOnSeed(options_.seed));
  if (options_.sampler != nullptr) {
    order_ = options_.sampler;
  } else {
    MILLRACE_ASSIGN_OR_RETURN(
        order_,
        distributed::MakeSampler(options_.order, dataset_->size(), seed_));
  }
  distributed::DistributedSamplerOptions split;
  split.global_batch_size = options_.batch_size;
  split.tail = options_.tail;
  split.world_size = communicator_->size();
  split.rank = communicator_->rank();
  MILLRACE_ASSIGN_OR_RETURN(sampler_,
                            DistributedSampler::Create(order_.get(), split));
  // Data that is never seen, or seen twice, must not go unnoticed.
  if (communicator_->rank() == 0 &&
      sampler_->dropped() + sampler_->padded() > 0) {
    MILLRACE_LOG(kInfo) << (sampler_->dropped() > 0 ? "dropped=" : "padded=")
                        << sampler_->dropped() + sampler_->padded()
                        << " in each epoch of " << order_->size()
                        << " samples, which batches of " << options_.batch_size
                        << " don't divide (tail="
                        << distributed::Name(options_.tail) << ")";
  }
  return absl::OkStatus();
}

absl::Status DataLoader::Impl::ChooseMemory() {
  const storage::LabelSpec labels = dataset_->label_spec();
  if (labels.count < 0 && !options_.collate) {
    return absl::InvalidArgumentError(
        "the data set's samples have different numbers of labels: "
        "DataLoaderOptions::collate must say how they make a batch");
  }
  layout_.emplace(transform_->outputs(), labels, sampler_->slot_size());
  HostAllocator* allocator = HostAllocator::Plain();
  if (options_.pin_memory) {
    MILLRACE_ASSIGN_OR_RETURN(allocator,
                              PinnedAllocator(communicator_->local_rank()));
  }
  // What waits, what the consumer has, and what it has not dropped yet.
  pool_ = std::make_shared<SlotPool>(allocator, layout_->bytes(),
                                     options_.prefetch_factor + 2,
                                     options_.memory_limit_bytes);
  return absl::OkStatus();
}

void DataLoader::Impl::MakeWorkers() {
  num_workers_ =
      options_.num_workers.value_or(AutoWorkers(communicator_->local_size()));
  BatchRingOptions ring;
  ring.depth = num_workers_ == 0 ? 1 : options_.prefetch_factor;
  ring.steps = sampler_->steps();
  ring.cross_epochs = num_workers_ > 0 && options_.persistent_workers;
  ring_ = std::make_unique<BatchRing>(
      ring, [this](BatchId id) { return OpenSlot(id); },
      [this](BatchSlot* slot) { return Collate(slot); });

  SampleMakerContext context;
  context.dataset = dataset_.get();
  context.transform = transform_.get();
  context.layout = &*layout_;
  context.budget = &budget_;
  context.labels = dataset_->label_spec();
  context.seed = seed_;
  context.rank = communicator_->rank();
  for (int worker = 0; worker < std::max(1, num_workers_); ++worker) {
    makers_.push_back(std::make_unique<SampleMaker>(context, worker));
  }
}

absl::StatusOr<std::shared_ptr<BatchSlot>> DataLoader::Impl::OpenSlot(
    BatchId id) {
  std::vector<distributed::SampleRef> samples(sampler_->Count(id.step));
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = sampler_->At(id.epoch, id.step, static_cast<int64_t>(i));
  }
  MILLRACE_ASSIGN_OR_RETURN(Buffer buffer, pool_->Take());
  auto slot =
      std::make_shared<BatchSlot>(pool_, std::move(buffer), *layout_, id.epoch,
                                  id.step, std::move(samples));
  if (options_.collate) slot->KeepStored();
  return slot;
}

absl::Status DataLoader::Impl::Collate(BatchSlot* slot) const {
  if (!options_.collate) return absl::OkStatus();
  const size_t outputs = transform_->outputs().size();
  std::vector<std::vector<TensorView>> views(slot->size());
  std::vector<CollateSample> samples(slot->size());
  for (int64_t i = 0; i < slot->size(); ++i) {
    for (size_t field = 0; field < outputs; ++field) {
      const SlotLayout::Part& part = layout_->parts()[field];
      views[i].push_back({part.dtype, part.shape, slot->Destination(part, i)});
    }
    const storage::Sample& stored = *slot->stored(i);
    samples[i] = {slot->sample(i).index, slot->sample(i).position, views[i],
                  stored.fields(), stored.labels()};
  }
  BatchBuilder builder;
  MILLRACE_RETURN_IF_ERROR(
      Annotate(options_.collate(samples, &builder),
               absl::StrCat("collate function, epoch ", slot->epoch(),
                            ", step ", slot->step())));
  slot->ReleaseStored();
  slot->SetTensors(builder.TakeTensors(), builder.TakeMemory());
  return absl::OkStatus();
}

void DataLoader::Impl::MakeSamples(SampleMaker* maker) {
  while (std::optional<BatchRing::Task> task = ring_->TakeTask(true)) {
    ring_->FinishTask(*task, maker->Make(*task));
  }
}

void DataLoader::Impl::StartWorkers() {
  if (num_workers_ == 0 || !threads_.empty()) return;
  ring_->Resume();
  for (int worker = 0; worker < num_workers_; ++worker) {
    threads_.emplace_back([this, worker] {
      SetThreadName(absl::StrCat("mr-worker-", worker));
      MakeSamples(makers_[worker].get());
    });
  }
}

DataLoader::Impl::~Impl() {
  // Samples that wait for memory need not be made any more.
  budget_.Cancel();
  StopWorkers();
}

void DataLoader::Impl::StopWorkers() {
  if (threads_.empty()) return;
  ring_->Stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

absl::Status DataLoader::Impl::AgreeOnEpoch() {
  const LoaderState now = state();
  const distributed::Terms terms = {
      {"stream version", kStreamVersion},
      {"dataset fingerprint", now.fingerprint.ToHex()},
      {"dataset size", absl::StrCat(now.dataset_size)},
      {"seed", absl::StrCat(now.seed)},
      {"batch_size", absl::StrCat(now.batch_size)},
      {"order", now.sampler},
      {"tail", now.tail},
      {"transform", transform_->Describe()},
      {"steps", absl::StrCat(sampler_->steps())},
      {"epoch", absl::StrCat(epoch_)},
      {"step", absl::StrCat(step_)},
  };
  return coordinator_.Agree(absl::StrCat("epoch ", epoch_), terms);
}

absl::Status DataLoader::Impl::WaitForBatch() {
  if (num_workers_ == 0) {
    while (std::optional<BatchRing::Task> task = ring_->TakeTask(false)) {
      ring_->FinishTask(*task, makers_[0]->Make(*task));
    }
    return absl::OkStatus();
  }
  const absl::Duration start = Clock::Real()->Now();
  absl::Duration left = options_.timeout;
  while (!ring_->WaitReady(std::min(left, kFailurePoll))) {
    MILLRACE_RETURN_IF_ERROR(communicator_->failure());
    left = options_.timeout - (Clock::Real()->Now() - start);
    if (left > absl::ZeroDuration()) continue;
    std::vector<std::string> doing;
    for (const auto& maker : makers_) {
      std::string text = maker->Describe();
      if (!text.empty()) doing.push_back(std::move(text));
    }
    return WithExitCode(
        absl::DeadlineExceededError(absl::StrCat(
            "epoch ", epoch_, ", step ", step_, ", rank ",
            communicator_->rank(), ": no batch after ",
            absl::FormatDuration(options_.timeout),
            " (DataLoaderOptions::", "timeout); ", absl::StrJoin(doing, "; "))),
        ExitCode::kResource);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Batch>> DataLoader::Impl::Next() {
  const absl::Duration start = Clock::Real()->Now();
  if (!agreed_) {
    // Workers are at it while the ranks agree.
    StartWorkers();
    MILLRACE_RETURN_IF_ERROR(AgreeOnEpoch());
    agreed_ = true;
  }
  if (step_ == sampler_->steps()) {
    if (!options_.persistent_workers) StopWorkers();
    Seek(epoch_ + 1, 0);
    return std::optional<Batch>();
  }
  MILLRACE_RETURN_IF_ERROR(WaitForBatch());
  const BatchId before = ring_->front();
  absl::StatusOr<std::shared_ptr<BatchSlot>> slot = ring_->Take();
  if (!(ring_->front() == before)) ++step_;
  MILLRACE_RETURN_IF_ERROR(slot.status());

  Batch::Contents contents = (*slot)->TakeContents();
  contents.global_step = before.epoch * sampler_->steps() + before.step;
  contents.global_size = sampler_->GlobalCount(before.step);
  contents.storage = *std::move(slot);
  {
    MutexLock lock(&stats_mutex_);
    ++batches_;
    wait_ += Clock::Real()->Now() - start;
  }
  return std::optional<Batch>(Batch(std::move(contents)));
}

void DataLoader::Impl::Seek(int64_t epoch, int64_t step) {
  epoch_ = epoch;
  step_ = step;
  agreed_ = false;
  // A state at the very end of an epoch has no batch of it to make.
  const bool at_end = step == sampler_->steps();
  ring_->Seek(at_end ? BatchId{epoch + 1, 0} : BatchId{epoch, step});
}

absl::Status DataLoader::Impl::StartEpoch(int64_t epoch) {
  if (epoch < 0 || epoch >= kMaxEpoch) {
    return absl::InvalidArgumentError(
        absl::StrCat("epoch ", epoch, " is not in [0, 2^31)"));
  }
  Seek(epoch, 0);
  return absl::OkStatus();
}

LoaderState DataLoader::Impl::state() const {
  LoaderState state;
  state.fingerprint = dataset_->fingerprint();
  state.dataset_size = dataset_->size();
  state.seed = seed_;
  state.batch_size = options_.batch_size;
  state.sampler = order_->Describe();
  state.tail = std::string(distributed::Name(options_.tail));
  state.transform = HashBytes(transform_->Describe());
  state.epoch = epoch_;
  state.step = step_;
  return state;
}

absl::Status DataLoader::Impl::Restore(const LoaderState& state) {
  MILLRACE_RETURN_IF_ERROR(state.CheckSameRun(this->state()));
  if (state.epoch < 0 || state.epoch >= kMaxEpoch || state.step < 0 ||
      state.step > sampler_->steps()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the state is at step ", state.step, " of epoch ",
                     state.epoch, ", but an epoch has ", sampler_->steps(),
                     " steps and there are 2^31 epochs"));
  }
  Seek(state.epoch, state.step);
  return absl::OkStatus();
}

LoaderStats DataLoader::Impl::stats() const {
  LoaderStats stats;
  for (const auto& maker : makers_) {
    const StageTimes times = maker->times();
    stats.samples += times.samples;
    stats.bytes_read += times.bytes_read;
    stats.read += absl::Nanoseconds(times.read_ns);
    stats.decode += absl::Nanoseconds(times.decode_ns);
    stats.transform += absl::Nanoseconds(times.transform_ns);
  }
  MutexLock lock(&stats_mutex_);
  stats.batches = batches_;
  stats.wait = wait_;
  return stats;
}

absl::StatusOr<std::unique_ptr<DataLoader>> DataLoader::Create(
    std::shared_ptr<const storage::Dataset> dataset,
    std::shared_ptr<const SampleTransform> transform,
    const DataLoaderOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<Impl> impl,
      Impl::Create(std::move(dataset), std::move(transform), options));
  return std::unique_ptr<DataLoader>(new DataLoader(std::move(impl)));
}

DataLoader::DataLoader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DataLoader::~DataLoader() = default;

absl::StatusOr<std::optional<Batch>> DataLoader::Next() {
  return impl_->Next();
}
absl::Status DataLoader::StartEpoch(int64_t epoch) {
  return impl_->StartEpoch(epoch);
}
LoaderState DataLoader::state() const { return impl_->state(); }
absl::Status DataLoader::Restore(const LoaderState& state) {
  return impl_->Restore(state);
}
int64_t DataLoader::steps() const { return impl_->sampler().steps(); }
uint64_t DataLoader::seed() const { return impl_->seed(); }
int DataLoader::num_workers() const { return impl_->num_workers(); }
const storage::Dataset& DataLoader::dataset() const { return impl_->dataset(); }
const DistributedSampler& DataLoader::sampler() const {
  return impl_->sampler();
}
LoaderStats DataLoader::stats() const { return impl_->stats(); }

}  // namespace millrace::loader
