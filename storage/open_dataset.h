#ifndef MILLRACE_STORAGE_OPEN_DATASET_H_
#define MILLRACE_STORAGE_OPEN_DATASET_H_

// One call that opens whatever lies at a path.

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/dataset.h"

namespace millrace::storage {

// Opens the data set that `uri` names: "SCHEME:PATH", or a plain path, whose
// kind is then recognised by what is there.
//
//   folder:PATH   an ImageFolder
//
// InvalidArgument for an unknown scheme or a path that is none of these, naming
// the schemes; NotFound where nothing is; else as the kind's own Open().
absl::StatusOr<std::unique_ptr<Dataset>> OpenDataset(absl::string_view uri);

}  // namespace millrace::storage

#endif  // MILLRACE_STORAGE_OPEN_DATASET_H_
