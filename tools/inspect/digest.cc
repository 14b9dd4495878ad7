#include "tools/inspect/digest.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "augment/pipeline.h"
#include "base/status_macros.h"
#include "loader/batch_digest.h"
#include "loader/data_loader.h"
#include "loader/image_transform.h"
#include "loader/sample_transform.h"
#include "storage/dataset.h"
#include "storage/open_dataset.h"

namespace millrace::tools {
namespace {

absl::StatusOr<std::unique_ptr<loader::DataLoader>> MakeLoader(
    const DigestOptions& options, const loader::DataLoaderOptions& loader) {
  MILLRACE_ASSIGN_OR_RETURN(
      augment::Pipeline pipeline,
      augment::Pipeline::Preset(options.augment, options.image_size));
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const storage::Dataset> dataset,
                            storage::OpenDataset(options.data));
  MILLRACE_ASSIGN_OR_RETURN(
      std::shared_ptr<const loader::SampleTransform> transform,
      loader::MakeImageTransform(*dataset, std::move(pipeline)));
  return loader::DataLoader::Create(std::move(dataset), std::move(transform),
                                    loader);
}

}  // namespace

absl::Status RunDigest(const DigestOptions& options,
                       distributed::Communicator& communicator,
                       std::ostream& out) {
  if (options.steps.has_value() && *options.steps <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("steps = ", *options.steps, ": want more than 0"));
  }
  loader::DataLoaderOptions loader_options;
  loader_options.batch_size = options.batch_size;
  loader_options.order = options.order;
  loader_options.tail = options.tail;
  loader_options.seed = options.seed;
  loader_options.communicator = &communicator;
  loader_options.num_workers = options.workers;
  loader_options.prefetch_factor = options.prefetch;
  MILLRACE_RETURN_IF_ERROR(loader_options.Validate());
  MILLRACE_ASSIGN_OR_RETURN(const std::unique_ptr<loader::DataLoader> loader,
                            MakeLoader(options, loader_options));
  MILLRACE_RETURN_IF_ERROR(loader->StartEpoch(options.epoch));
  const int64_t steps =
      std::min(loader->steps(), options.steps.value_or(loader->steps()));
  for (int64_t step = 0; step < steps; ++step) {
    MILLRACE_ASSIGN_OR_RETURN(const std::optional<loader::Batch> batch,
                              loader->Next());
    if (!batch.has_value()) {
      return absl::InternalError(absl::StrCat("the epoch ended at step ", step,
                                              ", before the last of ", steps));
    }
    MILLRACE_ASSIGN_OR_RETURN(
        const loader::BatchDigest digest,
        loader::SumOverRanks(loader::DigestOf(*batch), communicator,
                             loader_options.timeout));
    if (communicator.rank() == 0) {
      out << "batch " << step << " " << digest.ToString() << "\n";
    }
  }
  return absl::OkStatus();
}

}  // namespace millrace::tools
