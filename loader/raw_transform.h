#ifndef MILLRACE_LOADER_RAW_TRANSFORM_H_
#define MILLRACE_LOADER_RAW_TRANSFORM_H_

// Copies the tensors of a data set into the batch as they are.

#include <memory>

#include "absl/status/statusor.h"
#include "loader/sample_transform.h"
#include "storage/dataset.h"

namespace millrace::loader {

// InvalidArgument, naming the field, where one is encoded or has no fixed
// shape.
absl::StatusOr<std::shared_ptr<const SampleTransform>> MakeRawTransform(
    const storage::Dataset& dataset);

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_RAW_TRANSFORM_H_
