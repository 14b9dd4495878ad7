#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "distributed/bucket_plan.h"
#include "distributed/coordinator.h"
#include "distributed/gradient_average.h"
#include "distributed/gradient_reducer.h"
#include "distributed/nccl_communicator.h"

namespace millrace::distributed {
namespace {

// Room behind the gradients of the first bucket.
constexpr size_t kMaxScalars = 64;

// Between looks at the device in Finish().
constexpr absl::Duration kPoll = absl::Microseconds(20);

absl::Status CudaStatus(int error, absl::string_view what) {
  const cudaError_t code = static_cast<cudaError_t>(error);
  if (code == cudaSuccess) return absl::OkStatus();
  const std::string message = absl::StrCat(what, ": CUDA error ", error, ": ",
                                           cudaGetErrorString(code));
  return code == cudaErrorMemoryAllocation
             ? absl::ResourceExhaustedError(message)
             : absl::UnavailableError(message);
}

// What the device holds for one reducer; freed together.
struct DeviceState {
  // The reductions' own stream.
  cudaStream_t stream = nullptr;
  // A gradient is copied; and the caller's stream has come so far.
  cudaEvent_t caller = nullptr;
  // By bucket: memory, and its sum is there.
  std::vector<void*> buckets;
  std::vector<cudaEvent_t> summed;
  // Scalars on their way, in pinned host memory.
  void* scalars = nullptr;

  DeviceState() = default;
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  // Errors of a teardown have nobody to go to.
  ~DeviceState() {
    for (void* bucket : buckets) static_cast<void>(cudaFree(bucket));
    for (cudaEvent_t event : summed) static_cast<void>(cudaEventDestroy(event));
    if (caller != nullptr) static_cast<void>(cudaEventDestroy(caller));
    if (stream != nullptr) static_cast<void>(cudaStreamDestroy(stream));
    if (scalars != nullptr) static_cast<void>(cudaFreeHost(scalars));
  }
};

class DeviceGradientReducer : public GradientReducer {
 public:
  DeviceGradientReducer(Communicator* communicator, int device,
                        std::vector<GradientSpec> specs, BucketPlan plan,
                        absl::Duration timeout)
      : communicator_(communicator),
        device_(device),
        specs_(std::move(specs)),
        plan_(std::move(plan)),
        timeout_(timeout),
        is_double_(!specs_.empty() && specs_[0].dtype == DType::kFloat64),
        element_bytes_(is_double_ ? sizeof(double) : sizeof(float)),
        marked_(specs_.size()),
        unmarked_in_(plan_.buckets.size()) {}

  ~DeviceGradientReducer() override {
    static_cast<void>(cudaSetDevice(device_));
    // Before the memory that it may be writing to.
    nccl_ = nullptr;
  }

  // Allocates memory and joins the other ranks.
  absl::Status Initialize();

  using GradientReducer::Finish;
  using GradientReducer::MarkReady;

  absl::Status StartStep(absl::Span<const double> scalars) override;
  absl::Status MarkReady(int index, const void* gradient,
                         DeviceStream stream) override;
  absl::StatusOr<std::vector<double>> Finish(absl::Span<void* const> gradients,
                                             DeviceStream stream) override;
  Overlap last_overlap() const override { return overlap_; }

 private:
  void* Place(int parameter) const {
    const BucketPlan::Place place = plan_.places[parameter];
    return static_cast<char*>(state_.buckets[place.bucket]) +
           place.offset * element_bytes_;
  }
  void* ScalarsOnDevice() const {
    return static_cast<char*>(state_.buckets[0]) +
           plan_.buckets[0].elements * element_bytes_;
  }
  int64_t BucketElements(size_t bucket) const {
    return plan_.buckets[bucket].elements +
           (bucket == 0 ? static_cast<int64_t>(scalar_count_) : 0);
  }

  // Lets the reductions' stream wait for what `stream` has queued so far.
  absl::Status Follow(DeviceStream stream);

  // Queues the sums of complete buckets, as far as NCCL takes them without
  // waiting.
  absl::Status StartCompleteBuckets();
  bool AllStarted() const {
    return started_ == plan_.buckets.size() && !start_pending_;
  }

  absl::StatusOr<bool> IsSummed(size_t bucket) const;
  absl::Status MeasureOverlap();
  absl::Status FillUnmarkedWithZeros();
  // Until all sums are there.
  absl::Status WaitForAll();
  absl::Status Lost(const absl::Status& status);

  absl::StatusOr<std::vector<double>> ReadScalars();
  absl::Status WriteAverages(double samples, absl::Span<void* const> gradients,
                             DeviceStream stream);

  Communicator* const communicator_;
  const int device_;
  const std::vector<GradientSpec> specs_;
  const BucketPlan plan_;
  const absl::Duration timeout_;
  const bool is_double_;
  const int64_t element_bytes_;

  DeviceState state_;
  std::unique_ptr<NcclCommunicator> nccl_;
  bool in_step_ = false;
  size_t scalar_count_ = 0;
  std::vector<bool> marked_;
  std::vector<size_t> unmarked_in_;
  // Buckets given to NCCL, and whether it is still taking the last of them.
  size_t started_ = 0;
  bool start_pending_ = false;
  Overlap overlap_;
};

absl::Status DeviceGradientReducer::Initialize() {
  MILLRACE_RETURN_IF_ERROR(CudaStatus(cudaSetDevice(device_), "cudaSetDevice"));
  MILLRACE_RETURN_IF_ERROR(CudaStatus(
      cudaStreamCreateWithFlags(&state_.stream, cudaStreamNonBlocking),
      "cudaStreamCreate"));
  MILLRACE_RETURN_IF_ERROR(CudaStatus(
      cudaEventCreateWithFlags(&state_.caller, cudaEventDisableTiming),
      "cudaEventCreate"));
  MILLRACE_RETURN_IF_ERROR(
      CudaStatus(cudaMallocHost(&state_.scalars, kMaxScalars * sizeof(double)),
                 "cudaMallocHost"));
  for (size_t k = 0; k < plan_.buckets.size(); ++k) {
    const int64_t elements = plan_.buckets[k].elements +
                             (k == 0 ? static_cast<int64_t>(kMaxScalars) : 0);
    state_.buckets.push_back(nullptr);
    MILLRACE_RETURN_IF_ERROR(CudaStatus(
        cudaMalloc(&state_.buckets.back(),
                   static_cast<size_t>(std::max<int64_t>(elements, 1)) *
                       element_bytes_),
        "cudaMalloc of a gradient bucket"));
    cudaEvent_t event = nullptr;
    MILLRACE_RETURN_IF_ERROR(
        CudaStatus(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                   "cudaEventCreate"));
    state_.summed.push_back(event);
  }
  MILLRACE_ASSIGN_OR_RETURN(nccl_,
                            NcclCommunicator::Create(communicator_, timeout_));
  return absl::OkStatus();
}

absl::Status DeviceGradientReducer::StartStep(
    absl::Span<const double> scalars) {
  if (in_step_) {
    return absl::FailedPreconditionError("the last step is not finished");
  }
  if (scalars.empty() || scalars.size() > kMaxScalars) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a step has its number of samples and at most ", kMaxScalars - 1,
        " further scalars, not ", scalars.size(), " in all"));
  }
  MILLRACE_RETURN_IF_ERROR(communicator_->failure());
  MILLRACE_RETURN_IF_ERROR(CudaStatus(cudaSetDevice(device_), "cudaSetDevice"));
  for (size_t i = 0; i < scalars.size(); ++i) {
    if (is_double_) {
      static_cast<double*>(state_.scalars)[i] = scalars[i];
    } else {
      static_cast<float*>(state_.scalars)[i] = static_cast<float>(scalars[i]);
    }
  }
  MILLRACE_RETURN_IF_ERROR(
      CudaStatus(cudaMemcpyAsync(ScalarsOnDevice(), state_.scalars,
                                 scalars.size() * element_bytes_,
                                 cudaMemcpyHostToDevice, state_.stream),
                 "copying scalars to the device"));
  in_step_ = true;
  scalar_count_ = scalars.size();
  started_ = 0;
  start_pending_ = false;
  marked_.assign(specs_.size(), false);
  for (size_t k = 0; k < plan_.buckets.size(); ++k) {
    unmarked_in_[k] = plan_.buckets[k].parameters.size();
  }
  return absl::OkStatus();
}

absl::Status DeviceGradientReducer::Follow(DeviceStream stream) {
  MILLRACE_RETURN_IF_ERROR(
      CudaStatus(cudaEventRecord(state_.caller,
                                 reinterpret_cast<cudaStream_t>(stream.handle)),
                 "cudaEventRecord"));
  return CudaStatus(cudaStreamWaitEvent(state_.stream, state_.caller, 0),
                    "cudaStreamWaitEvent");
}

absl::Status DeviceGradientReducer::MarkReady(int index, const void* gradient,
                                              DeviceStream stream) {
  if (!in_step_) {
    return absl::FailedPreconditionError("MarkReady() outside of a step");
  }
  if (index < 0 || index >= static_cast<int>(specs_.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("gradient ", index, " is not one of ", specs_.size()));
  }
  const int64_t bytes = specs_[index].elements * element_bytes_;
  if (gradient == nullptr && bytes > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("gradient ", index, " is null"));
  }
  if (marked_[index]) {
    return absl::InvalidArgumentError(absl::StrCat(
        "gradient ", index, " (", specs_[index].name, ") is marked twice"));
  }
  MILLRACE_RETURN_IF_ERROR(CudaStatus(cudaSetDevice(device_), "cudaSetDevice"));
  if (bytes > 0) {
    // On the caller's stream, which may overwrite the gradient afterwards.
    MILLRACE_RETURN_IF_ERROR(CudaStatus(
        cudaMemcpyAsync(Place(index), gradient, bytes, cudaMemcpyDeviceToDevice,
                        reinterpret_cast<cudaStream_t>(stream.handle)),
        "copying a gradient"));
  }
  MILLRACE_RETURN_IF_ERROR(Follow(stream));
  marked_[index] = true;
  --unmarked_in_[plan_.places[index].bucket];
  return StartCompleteBuckets();
}

absl::Status DeviceGradientReducer::StartCompleteBuckets() {
  while (true) {
    const absl::StatusOr<bool> ready = nccl_->Ready();
    if (!ready.ok()) return Lost(ready.status());
    // NCCL is still taking the last one, perhaps connecting to another rank.
    if (!*ready) return absl::OkStatus();
    if (start_pending_) {
      // Only now is it known to be on the stream.
      MILLRACE_RETURN_IF_ERROR(CudaStatus(
          cudaEventRecord(state_.summed[started_ - 1], state_.stream),
          "cudaEventRecord"));
      start_pending_ = false;
    }
    if (started_ == plan_.buckets.size() || unmarked_in_[started_] != 0) {
      return absl::OkStatus();
    }
    const absl::Status queued =
        nccl_->QueueSum(state_.buckets[started_], BucketElements(started_),
                        is_double_, reinterpret_cast<uintptr_t>(state_.stream));
    if (!queued.ok()) return Lost(queued);
    ++started_;
    start_pending_ = true;
  }
}

// The others would wait in vain: they are told, and NCCL is given up.
absl::Status DeviceGradientReducer::Lost(const absl::Status& status) {
  nccl_->Abort();
  communicator_->ReportFailure(status);
  return communicator_->failure();
}

absl::StatusOr<bool> DeviceGradientReducer::IsSummed(size_t bucket) const {
  if (bucket + (start_pending_ ? 1 : 0) >= started_) return false;
  const cudaError_t state = cudaEventQuery(state_.summed[bucket]);
  if (state == cudaErrorNotReady) return false;
  MILLRACE_RETURN_IF_ERROR(CudaStatus(state, "summing gradients"));
  return true;
}

absl::Status DeviceGradientReducer::MeasureOverlap() {
  MILLRACE_RETURN_IF_ERROR(StartCompleteBuckets());
  overlap_ = Overlap();
  overlap_.buckets = static_cast<int>(plan_.buckets.size());
  for (size_t k = 0; k < plan_.buckets.size(); ++k) {
    const int64_t bytes = BucketElements(k) * element_bytes_;
    overlap_.total_bytes += bytes;
    MILLRACE_ASSIGN_OR_RETURN(const bool summed, IsSummed(k));
    if (summed) overlap_.hidden_bytes += bytes;
  }
  return absl::OkStatus();
}

absl::Status DeviceGradientReducer::FillUnmarkedWithZeros() {
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (marked_[i] || specs_[i].elements == 0) continue;
    MILLRACE_RETURN_IF_ERROR(CudaStatus(
        cudaMemsetAsync(Place(static_cast<int>(i)), 0,
                        specs_[i].elements * element_bytes_, state_.stream),
        "clearing a gradient"));
  }
  unmarked_in_.assign(unmarked_in_.size(), 0);
  return absl::OkStatus();
}

absl::Status DeviceGradientReducer::WaitForAll() {
  const absl::Duration deadline = Clock::Real()->Now() + timeout_;
  while (true) {
    MILLRACE_RETURN_IF_ERROR(StartCompleteBuckets());
    const size_t last = plan_.buckets.size() - 1;
    MILLRACE_ASSIGN_OR_RETURN(const bool all, IsSummed(last));
    if (all) return absl::OkStatus();
    absl::Status failure = communicator_->failure();
    if (failure.ok() && Clock::Real()->Now() > deadline) {
      failure = Lost(absl::DeadlineExceededError(
          absl::StrCat("summing gradients with NCCL: waited ",
                       absl::FormatDuration(timeout_), " for other ranks")));
    }
    if (!failure.ok()) {
      std::vector<bool> through;
      for (size_t k = 0; k <= last; ++k) {
        MILLRACE_ASSIGN_OR_RETURN(const bool summed, IsSummed(k));
        through.push_back(summed);
      }
      nccl_->Abort();
      return Annotate(failure, DescribeMissingBuckets(through));
    }
    Clock::Real()->SleepFor(kPoll);
  }
}

absl::StatusOr<std::vector<double>> DeviceGradientReducer::ReadScalars() {
  MILLRACE_RETURN_IF_ERROR(
      CudaStatus(cudaMemcpyAsync(state_.scalars, ScalarsOnDevice(),
                                 scalar_count_ * element_bytes_,
                                 cudaMemcpyDeviceToHost, state_.stream),
                 "copying scalars from the device"));
  MILLRACE_RETURN_IF_ERROR(
      CudaStatus(cudaStreamSynchronize(state_.stream), "reading scalars"));
  std::vector<double> sums;
  for (size_t i = 0; i < scalar_count_; ++i) {
    sums.push_back(is_double_ ? static_cast<double*>(state_.scalars)[i]
                              : static_cast<float*>(state_.scalars)[i]);
  }
  return sums;
}

absl::Status DeviceGradientReducer::WriteAverages(
    double samples, absl::Span<void* const> gradients, DeviceStream stream) {
  MILLRACE_RETURN_IF_ERROR(Follow(stream));
  for (size_t i = 0; i < specs_.size(); ++i) {
    const int64_t count = specs_[i].elements;
    if (gradients[i] == nullptr || count == 0) continue;
    const int error =
        samples == 0
            ? static_cast<int>(cudaMemsetAsync(
                  gradients[i], 0, count * element_bytes_, state_.stream))
            : QueueAverage(Place(static_cast<int>(i)), gradients[i], count,
                           samples, is_double_,
                           reinterpret_cast<uintptr_t>(state_.stream));
    MILLRACE_RETURN_IF_ERROR(CudaStatus(error, "averaging gradients"));
  }
  return CudaStatus(cudaStreamSynchronize(state_.stream),
                    "averaging gradients");
}

absl::StatusOr<std::vector<double>> DeviceGradientReducer::Finish(
    absl::Span<void* const> gradients, DeviceStream stream) {
  if (!in_step_) {
    return absl::FailedPreconditionError("Finish() outside of a step");
  }
  if (gradients.size() != specs_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(gradients.size(), " gradients wanted of ", specs_.size()));
  }
  in_step_ = false;
  MILLRACE_RETURN_IF_ERROR(CudaStatus(cudaSetDevice(device_), "cudaSetDevice"));
  MILLRACE_RETURN_IF_ERROR(MeasureOverlap());
  MILLRACE_RETURN_IF_ERROR(FillUnmarkedWithZeros());
  MILLRACE_RETURN_IF_ERROR(WaitForAll());
  MILLRACE_ASSIGN_OR_RETURN(std::vector<double> sums, ReadScalars());
  MILLRACE_RETURN_IF_ERROR(WriteAverages(sums[0], gradients, stream));
  return sums;
}

// All ranks learn of a rank without a GPU of its own, before NCCL would hang or
// fail on it: "8 local ranks, 1 GPU".
absl::Status CheckDevices(Communicator* communicator, int device,
                          absl::Duration timeout) {
  int devices = 0;
  const cudaError_t counted = cudaGetDeviceCount(&devices);
  std::string problem;
  if (counted != cudaSuccess && counted != cudaErrorNoDevice) {
    problem =
        absl::StrCat("no usable CUDA device: ", cudaGetErrorString(counted));
  } else if (devices < communicator->local_size()) {
    problem = absl::StrCat(communicator->local_size(), " local ranks, ",
                           devices, devices == 1 ? " GPU" : " GPUs");
  } else if (device < 0 || device >= devices) {
    problem = absl::StrCat("CUDA device ", device, " is not one of ", devices);
  }
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> problems,
                            communicator->AllGather(problem, timeout));
  for (size_t rank = 0; rank < problems.size(); ++rank) {
    if (problems[rank].empty()) continue;
    return WithExitCode(
        absl::FailedPreconditionError(
            absl::StrCat("reducing on GPUs: rank ", rank, ": ", problems[rank],
                         "; reduce on the host instead, or start fewer ranks")),
        ExitCode::kUsage);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<GradientReducer>> MakeDeviceGradientReducer(
    Communicator* communicator, int device, std::vector<GradientSpec> specs,
    const GradientReducerOptions& options) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  MILLRACE_RETURN_IF_ERROR(ValidateSpecs(specs));
  MILLRACE_RETURN_IF_ERROR(Coordinator(communicator, options.timeout)
                               .Agree("gradients", PlanTerms(specs, options)));
  MILLRACE_RETURN_IF_ERROR(CheckDevices(communicator, device, options.timeout));
  BucketPlan plan = PlanBuckets(specs, options);
  auto reducer = std::make_unique<DeviceGradientReducer>(
      communicator, device, std::move(specs), std::move(plan), options.timeout);
  MILLRACE_RETURN_IF_ERROR(reducer->Initialize());
  return reducer;
}

}  // namespace millrace::distributed
