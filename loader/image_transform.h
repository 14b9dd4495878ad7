#ifndef MILLRACE_LOADER_IMAGE_TRANSFORM_H_
#define MILLRACE_LOADER_IMAGE_TRANSFORM_H_

// Runs an augmentation pipeline on the first field of each sample.

#include <memory>

#include "absl/status/statusor.h"
#include "augment/pipeline.h"
#include "loader/sample_transform.h"
#include "storage/dataset.h"

namespace millrace::loader {

// The first field of `dataset` (encoded images, or raw uint8 [H, W, C] or
// [H, W]) goes through `pipeline`; further fields are copied as they are.
// InvalidArgument, naming the field, where the first is no image or a further
// one has no fixed shape. Between samples a context keeps at most 32 MiB of
// scratch memory.
absl::StatusOr<std::shared_ptr<const SampleTransform>> MakeImageTransform(
    const storage::Dataset& dataset, augment::Pipeline pipeline);

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_IMAGE_TRANSFORM_H_
