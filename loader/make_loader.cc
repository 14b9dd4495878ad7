#include "loader/make_loader.h"

#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "distributed/distributed_sampler.h"
#include "distributed/order.h"
#include "loader/image_transform.h"
#include "loader/sample_transform.h"
#include "storage/dataset.h"
#include "storage/open_dataset.h"

namespace millrace::loader {
namespace {

absl::StatusOr<augment::Pipeline> PipelineOf(const MakeLoaderOptions& options,
                                             absl::string_view preset) {
  if (!options.pipeline.has_value()) {
    return augment::Pipeline::Preset(
        options.augment.empty() ? preset : options.augment, options.image_size);
  }
  if (!options.augment.empty()) {
    return absl::InvalidArgumentError(
        "augment and pipeline are both given: only one can be used");
  }
  return *options.pipeline;
}

absl::StatusOr<std::unique_ptr<DataLoader>> MakeLoader(
    absl::string_view path, augment::Pipeline pipeline,
    const DataLoaderOptions& options) {
  // Before the data set is opened, which may take minutes.
  MILLRACE_RETURN_IF_ERROR(options.Validate());
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const storage::Dataset> dataset,
                            storage::OpenDataset(path));
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const SampleTransform> transform,
                            MakeImageTransform(*dataset, std::move(pipeline)));
  return DataLoader::Create(std::move(dataset), std::move(transform), options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DataLoader>> MakeTrainLoader(
    absl::string_view path, int64_t batch_size,
    const MakeLoaderOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(augment::Pipeline pipeline,
                            PipelineOf(options, "train"));
  DataLoaderOptions loader_options = options.loader;
  loader_options.batch_size = batch_size;
  return MakeLoader(path, std::move(pipeline), loader_options);
}

absl::StatusOr<std::unique_ptr<DataLoader>> MakeEvalLoader(
    absl::string_view path, int64_t batch_size,
    const MakeLoaderOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(augment::Pipeline pipeline,
                            PipelineOf(options, "eval"));
  DataLoaderOptions loader_options = options.loader;
  loader_options.batch_size = batch_size;
  loader_options.order = distributed::Order::kSequential;
  loader_options.tail = distributed::Tail::kShort;
  return MakeLoader(path, std::move(pipeline), loader_options);
}

}  // namespace millrace::loader
