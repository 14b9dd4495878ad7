// The least that a trainer of one's own needs: open a data set, say what is
// done to each image, loop over epochs. Copy it and put a model into Train().
//
//   bazel run //tools:minimal_loop -- DIR      (DIR has a folder a class)
// Under mpirun every rank runs this program and gets its share of each batch.

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "augment/pipeline.h"
#include "base/status_macros.h"
#include "distributed/communicator.h"
#include "loader/batch.h"
#include "loader/data_loader.h"
#include "loader/image_transform.h"
#include "storage/open_dataset.h"
#include "tools/command_line.h"
#include "tools/run_in_world.h"

namespace millrace {
namespace {

// The place for a model. Here: the mean pixel, to show where the data are.
void Train(const loader::Batch& batch) {
  const float* pixels = batch.images().As<float>();  // [n, 3, 64, 64]
  const auto count = batch.size() * 3 * 64 * 64;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += pixels[i];
  std::cout << "epoch " << batch.epoch() << " batch " << batch.step() << ": "
            << batch.size() << " of " << batch.global_size()
            << " images on this rank, mean pixel " << sum / count << "\n";
}

absl::Status Run(const std::string& path, distributed::Communicator& ranks) {
  MILLRACE_ASSIGN_OR_RETURN(
      std::shared_ptr<const storage::Dataset> dataset,
      storage::OpenDataset(tools::ResolveDatasetUri(path)));

  // What happens to each image, in torchvision's words.
  MILLRACE_ASSIGN_OR_RETURN(
      augment::Pipeline pipeline,
      augment::Pipeline::Create({augment::RandomResizedCrop{.size = 64},
                                 augment::RandomHorizontalFlip{},
                                 augment::ToTensor{}, augment::Normalize{}}));
  MILLRACE_ASSIGN_OR_RETURN(auto transform, loader::MakeImageTransform(
                                                *dataset, std::move(pipeline)));

  loader::DataLoaderOptions options;
  options.batch_size = 64;  // Of all ranks together.
  options.tail = distributed::Tail::kShort;
  options.seed = 1;  // The same batches on every run and number of ranks.
  options.communicator = &ranks;
  MILLRACE_ASSIGN_OR_RETURN(
      auto loader, loader::DataLoader::Create(dataset, transform, options));
  for (int epoch = 0; epoch < 2; ++epoch) {
    while (true) {
      MILLRACE_ASSIGN_OR_RETURN(std::optional<loader::Batch> batch,
                                loader->Next());
      if (!batch.has_value()) break;  // The epoch is over.
      if (batch->size() > 0) Train(*batch);
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  const auto arguments = millrace::tools::ParseCommandLine(
      argc, argv, "A training loop of one's own.\n\n  minimal_loop DIR",
      {.min_positional = 1, .max_positional = 1});
  return millrace::tools::ExitWith(millrace::tools::RunInWorld(
      [&](auto& ranks) { return millrace::Run(arguments[0], ranks); }));
}
