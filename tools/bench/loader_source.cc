#include "tools/bench/loader_source.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "augment/pipeline.h"
#include "base/status_macros.h"
#include "distributed/distributed_sampler.h"
#include "loader/batch.h"
#include "loader/data_loader.h"
#include "loader/image_transform.h"
#include "loader/sample_transform.h"
#include "storage/dataset.h"
#include "storage/open_dataset.h"
#include "tools/bench/epoch_check.h"

namespace millrace::tools {
namespace {

// Normalize's default takes black to -2.12 and white to 2.64 at the most.
constexpr float kLeastPixel = -2.2f;
constexpr float kMostPixel = 2.7f;

absl::Status CheckPixels(const TensorView& images) {
  const int64_t count = ElementCount(images.shape);
  const float* const pixels = images.As<float>();
  for (int64_t i = 0; i < count; ++i) {
    // Also false for what is not a number.
    if (!(pixels[i] >= kLeastPixel && pixels[i] <= kMostPixel)) {
      return absl::InternalError(
          absl::StrCat("element ", i, " of the first batch is ", pixels[i],
                       ", outside [", kLeastPixel, ", ", kMostPixel, "]"));
    }
  }
  return absl::OkStatus();
}

class LoaderSource : public SampleSource {
 public:
  LoaderSource(std::unique_ptr<loader::DataLoader> loader,
               std::string description)
      : loader_(std::move(loader)),
        description_(std::move(description)),
        check_(loader_->dataset().size()) {}

  absl::StatusOr<Step> Advance() override {
    MILLRACE_ASSIGN_OR_RETURN(std::optional<loader::Batch> batch,
                              loader_->Next());
    if (!batch.has_value()) {
      MILLRACE_RETURN_IF_ERROR(check_.Finish());
      MILLRACE_ASSIGN_OR_RETURN(batch, loader_->Next());
    }
    if (!batch.has_value()) {
      return absl::InternalError("an epoch has no batches");
    }
    MILLRACE_RETURN_IF_ERROR(check_.Add(batch->indices()));
    MILLRACE_RETURN_IF_ERROR(CheckLabels(*batch));
    if (!pixels_checked_) {
      MILLRACE_RETURN_IF_ERROR(CheckPixels(batch->images()));
      pixels_checked_ = true;
    }
    return Step{.images = batch->size(), .epoch_end = check_.complete()};
  }

  Counters counters() const override {
    const loader::LoaderStats stats = loader_->stats();
    return {.bytes_read = stats.bytes_read, .wait = stats.wait};
  }

  std::string Describe() const override { return description_; }

 private:
  absl::Status CheckLabels(const loader::Batch& batch) const {
    const int64_t classes =
        static_cast<int64_t>(loader_->dataset().class_names().size());
    const TensorView* const labels = batch.Find("label");
    if (classes == 0 || labels == nullptr) return absl::OkStatus();
    for (int64_t i = 0; i < batch.size(); ++i) {
      const int64_t label = labels->As<int64_t>()[i];
      if (label < 0 || label >= classes) {
        return absl::InternalError(absl::StrCat("sample ", batch.indices()[i],
                                                " has the label ", label,
                                                " of ", classes));
      }
    }
    return absl::OkStatus();
  }

  const std::unique_ptr<loader::DataLoader> loader_;
  const std::string description_;
  EpochCheck check_;
  bool pixels_checked_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SampleSource>> OpenLoaderSource(
    const LoaderSourceOptions& options) {
  loader::DataLoaderOptions loader_options;
  loader_options.batch_size = options.batch_size;
  loader_options.order = options.order;
  loader_options.tail = distributed::Tail::kShort;
  loader_options.seed = options.seed;
  loader_options.num_workers = options.workers;
  loader_options.prefetch_factor = options.prefetch;
  MILLRACE_RETURN_IF_ERROR(loader_options.Validate());
  MILLRACE_ASSIGN_OR_RETURN(
      augment::Pipeline pipeline,
      augment::Pipeline::Preset(options.preset, options.image_size));
  std::string steps = pipeline.ToString();
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const storage::Dataset> dataset,
                            storage::OpenDataset(options.data));
  std::string data = dataset->Describe();
  MILLRACE_ASSIGN_OR_RETURN(
      std::shared_ptr<const loader::SampleTransform> transform,
      loader::MakeImageTransform(*dataset, std::move(pipeline)));
  MILLRACE_ASSIGN_OR_RETURN(
      std::unique_ptr<loader::DataLoader> loader,
      loader::DataLoader::Create(std::move(dataset), std::move(transform),
                                 loader_options));
  std::string description = absl::StrCat(
      steps, "\ndata: ", data, "\nbatch size ", options.batch_size,
      ", workers ", loader->num_workers(), ", prefetch ", options.prefetch,
      ", order ", distributed::Name(options.order), ", seed ", options.seed);
  return std::make_unique<LoaderSource>(std::move(loader),
                                        std::move(description));
}

}  // namespace millrace::tools
