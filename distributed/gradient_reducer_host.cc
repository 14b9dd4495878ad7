#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "distributed/bucket_plan.h"
#include "distributed/coordinator.h"
#include "distributed/gradient_reducer.h"

namespace millrace::distributed {
namespace {

template <typename T>
class HostGradientReducer : public GradientReducer {
 public:
  HostGradientReducer(Communicator* communicator,
                      std::vector<GradientSpec> specs, BucketPlan plan,
                      absl::Duration timeout)
      : communicator_(communicator),
        specs_(std::move(specs)),
        plan_(std::move(plan)),
        timeout_(timeout),
        marked_(specs_.size()),
        unmarked_in_(plan_.buckets.size()) {
    for (const BucketPlan::Bucket& bucket : plan_.buckets) {
      buffers_.push_back(std::make_shared<std::vector<T>>(bucket.elements));
    }
  }

  using GradientReducer::Finish;
  using GradientReducer::MarkReady;

  absl::Status StartStep(absl::Span<const double> scalars) override;
  absl::Status MarkReady(int index, const void* gradient,
                         DeviceStream stream) override;
  absl::StatusOr<std::vector<double>> Finish(absl::Span<void* const> gradients,
                                             DeviceStream stream) override;

  Overlap last_overlap() const override { return overlap_; }

 private:
  T* Buffer(int bucket) { return buffers_[bucket]->data(); }

  // Starts the reduction of each bucket that is complete and whose turn it is.
  absl::Status StartCompleteBuckets();

  void FillUnmarkedWithZeros();

  // Takes the account of last_overlap().
  void MeasureOverlap();

  absl::Status WaitForAll();

  // Writes sums divided by `samples` to where they are wanted.
  void WriteAverages(double samples, absl::Span<void* const> gradients);

  Communicator* const communicator_;
  const std::vector<GradientSpec> specs_;
  const BucketPlan plan_;
  const absl::Duration timeout_;

  // One a bucket. Shared with the reductions under way, which outlive this
  // where the job has failed.
  std::vector<std::shared_ptr<std::vector<T>>> buffers_;
  bool in_step_ = false;
  // Scalars at the end of the first buffer.
  size_t scalar_count_ = 0;
  // By parameter: marked in this step.
  std::vector<bool> marked_;
  // By bucket: gradients that are still missing.
  std::vector<size_t> unmarked_in_;
  // Reductions of the first buckets; those of the rest have not started.
  std::vector<std::unique_ptr<PendingCollective>> reductions_;
  Overlap overlap_;
};

template <typename T>
absl::Status HostGradientReducer<T>::StartStep(
    absl::Span<const double> scalars) {
  if (in_step_) {
    return absl::FailedPreconditionError("the last step is not finished");
  }
  if (scalars.empty()) {
    return absl::InvalidArgumentError("a step needs its number of samples");
  }
  MILLRACE_RETURN_IF_ERROR(communicator_->failure());
  in_step_ = true;
  scalar_count_ = scalars.size();
  marked_.assign(specs_.size(), false);
  reductions_.clear();
  const int64_t elements = plan_.buckets[0].elements;
  buffers_[0]->resize(elements + scalars.size());
  for (size_t i = 0; i < scalars.size(); ++i) {
    Buffer(0)[elements + i] = static_cast<T>(scalars[i]);
  }
  for (size_t k = 0; k < plan_.buckets.size(); ++k) {
    unmarked_in_[k] = plan_.buckets[k].parameters.size();
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status HostGradientReducer<T>::MarkReady(int index, const void* gradient,
                                               DeviceStream /*stream*/) {
  if (!in_step_) {
    return absl::FailedPreconditionError("MarkReady() outside of a step");
  }
  if (index < 0 || index >= static_cast<int>(specs_.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("gradient ", index, " is not one of ", specs_.size()));
  }
  if (gradient == nullptr && specs_[index].elements > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("gradient ", index, " is null"));
  }
  if (marked_[index]) {
    return absl::InvalidArgumentError(absl::StrCat(
        "gradient ", index, " (", specs_[index].name, ") is marked twice"));
  }
  const BucketPlan::Place place = plan_.places[index];
  if (specs_[index].elements > 0) {
    std::memcpy(Buffer(place.bucket) + place.offset, gradient,
                specs_[index].elements * sizeof(T));
  }
  marked_[index] = true;
  --unmarked_in_[place.bucket];
  return StartCompleteBuckets();
}

template <typename T>
absl::Status HostGradientReducer<T>::StartCompleteBuckets() {
  // The next bucket only: ranks may complete later ones in different orders,
  // and collectives must start in one.
  while (reductions_.size() < plan_.buckets.size() &&
         unmarked_in_[reductions_.size()] == 0) {
    const std::shared_ptr<std::vector<T>>& buffer =
        buffers_[reductions_.size()];
    const TensorView view = {sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64,
                             {static_cast<int64_t>(buffer->size())},
                             buffer->data()};
    MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<PendingCollective> reduction,
                              communicator_->StartAllReduceSum(view, buffer));
    reductions_.push_back(std::move(reduction));
  }
  return absl::OkStatus();
}

template <typename T>
void HostGradientReducer<T>::FillUnmarkedWithZeros() {
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (marked_[i]) continue;
    T* place = Buffer(plan_.places[i].bucket) + plan_.places[i].offset;
    std::fill(place, place + specs_[i].elements, T{0});
  }
  unmarked_in_.assign(unmarked_in_.size(), 0);
}

template <typename T>
void HostGradientReducer<T>::MeasureOverlap() {
  overlap_ = Overlap();
  overlap_.buckets = static_cast<int>(buffers_.size());
  for (size_t k = 0; k < buffers_.size(); ++k) {
    const int64_t bytes = buffers_[k]->size() * sizeof(T);
    overlap_.total_bytes += bytes;
    if (k < reductions_.size() && reductions_[k]->Done()) {
      overlap_.hidden_bytes += bytes;
    }
  }
}

template <typename T>
absl::Status HostGradientReducer<T>::WaitForAll() {
  for (size_t k = 0; k < reductions_.size(); ++k) {
    const absl::Status status = reductions_[k]->Wait(timeout_);
    if (status.ok()) continue;
    // Sums end in their order, but for those that had ended before this.
    std::vector<bool> through(reductions_.size(), false);
    std::fill(through.begin(), through.begin() + k, true);
    return Annotate(status, DescribeMissingBuckets(through));
  }
  return absl::OkStatus();
}

template <typename T>
void HostGradientReducer<T>::WriteAverages(double samples,
                                           absl::Span<void* const> gradients) {
  const T divisor = static_cast<T>(samples);
  for (size_t i = 0; i < specs_.size(); ++i) {
    T* to = static_cast<T*>(gradients[i]);
    if (to == nullptr) continue;
    const T* sum = Buffer(plan_.places[i].bucket) + plan_.places[i].offset;
    const int64_t count = specs_[i].elements;
    if (samples == 0) {
      std::fill(to, to + count, T{0});
    } else {
      for (int64_t e = 0; e < count; ++e) to[e] = sum[e] / divisor;
    }
  }
}

template <typename T>
absl::StatusOr<std::vector<double>> HostGradientReducer<T>::Finish(
    absl::Span<void* const> gradients, DeviceStream /*stream*/) {
  if (!in_step_) {
    return absl::FailedPreconditionError("Finish() outside of a step");
  }
  if (gradients.size() != specs_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(gradients.size(), " gradients wanted of ", specs_.size()));
  }
  in_step_ = false;
  MeasureOverlap();
  FillUnmarkedWithZeros();
  MILLRACE_RETURN_IF_ERROR(StartCompleteBuckets());
  MILLRACE_RETURN_IF_ERROR(WaitForAll());
  const T* scalars = Buffer(0) + plan_.buckets[0].elements;
  std::vector<double> sums(scalars, scalars + scalar_count_);
  WriteAverages(sums[0], gradients);
  return sums;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GradientReducer>> MakeHostGradientReducer(
    Communicator* communicator, std::vector<GradientSpec> specs,
    const GradientReducerOptions& options) {
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  MILLRACE_RETURN_IF_ERROR(ValidateSpecs(specs));
  MILLRACE_RETURN_IF_ERROR(Coordinator(communicator, options.timeout)
                               .Agree("gradients", PlanTerms(specs, options)));
  BucketPlan plan = PlanBuckets(specs, options);
  if (!specs.empty() && specs[0].dtype == DType::kFloat64) {
    return std::make_unique<HostGradientReducer<double>>(
        communicator, std::move(specs), std::move(plan), options.timeout);
  }
  return std::make_unique<HostGradientReducer<float>>(
      communicator, std::move(specs), std::move(plan), options.timeout);
}

}  // namespace millrace::distributed
