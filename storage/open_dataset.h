#ifndef MILLRACE_STORAGE_OPEN_DATASET_H_
#define MILLRACE_STORAGE_OPEN_DATASET_H_

// One call that opens whatever lies at a path.

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/dataset.h"
#include "storage/image_folder.h"

namespace millrace::storage {

// What each kind of data set is opened with.
struct OpenDatasetOptions {
  ImageFolderOptions folder;
};

// Opens the data set that `uri` names: "SCHEME:PATH", or a plain path, whose
// kind is then recognised by what is there. A scheme is lower-case letters and
// digits before a colon; a file whose name looks so too is opened as "./a:b".
//
//   folder:PATH   an ImageFolder
//
// InvalidArgument for an empty path, an unknown scheme, or a path at which none
// of these is, naming what was found and what is accepted; NotFound where
// nothing is; else as the kind's own Open().
absl::StatusOr<std::unique_ptr<Dataset>> OpenDataset(
    absl::string_view uri, const OpenDatasetOptions& options = {});

}  // namespace millrace::storage

#endif  // MILLRACE_STORAGE_OPEN_DATASET_H_
