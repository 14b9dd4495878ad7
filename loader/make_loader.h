#ifndef MILLRACE_LOADER_MAKE_LOADER_H_
#define MILLRACE_LOADER_MAKE_LOADER_H_

// The start that most users want: a loader in one call, with good defaults.
//
//   MILLRACE_ASSIGN_OR_RETURN(auto train, MakeTrainLoader("data/train", 64));

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "augment/pipeline.h"
#include "loader/data_loader.h"

namespace millrace::loader {

struct MakeLoaderOptions {
  // Of the square output, in pixels.
  int image_size = 224;
  // A preset of augment::Pipeline (empty: the call's default), ...
  std::string augment;
  // ... or a pipeline of the user's own in its place; image_size is then its
  // matter.
  std::optional<augment::Pipeline> pipeline;
  // batch_size is the call's argument.
  DataLoaderOptions loader;
};

// Shuffled, augmented by the preset "train", the tail dropped, unless told
// otherwise. `path` is anything storage::OpenDataset() takes; `batch_size` is
// DataLoaderOptions'. Fails as OpenDataset(), Pipeline::Preset() and
// DataLoader::Create(), and with InvalidArgument where both a preset and a
// pipeline are given.
absl::StatusOr<std::unique_ptr<DataLoader>> MakeTrainLoader(
    absl::string_view path, int64_t batch_size,
    const MakeLoaderOptions& options = {});

// By the preset "eval" unless told otherwise; always in the data set's order,
// each sample exactly once, whatever the number of ranks: the loader options'
// order and tail aren't looked at. Fails as MakeTrainLoader().
absl::StatusOr<std::unique_ptr<DataLoader>> MakeEvalLoader(
    absl::string_view path, int64_t batch_size,
    const MakeLoaderOptions& options = {});

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_MAKE_LOADER_H_
