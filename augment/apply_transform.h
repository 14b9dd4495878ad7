#ifndef MILLRACE_AUGMENT_APPLY_TRANSFORM_H_
#define MILLRACE_AUGMENT_APPLY_TRANSFORM_H_

// Descriptions of transforms, put to work on an image.

#include <cstdint>

#include "absl/status/status.h"
#include "augment/image_stage.h"
#include "augment/transforms.h"
#include "base/generator.h"

namespace millrace::augment {

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
};

// The size that `transform` makes of an image of `size` (> 0). Custom counts as
// one that keeps it.
ImageSize SizeAfter(const Transform& transform, ImageSize size);

// Draws what `transform` needs and changes the image; ToTensor and Normalize,
// which are not about 8-bit pixels, do nothing.
//  * DataLoss: the image would have more than `max_pixels`; a Custom transform
//    threw, or left no 8-bit image of as many channels.
//  * ResourceExhausted: no memory.
// REQUIRES: Validate(transform) is OK, the image is not empty.
absl::Status ApplyTransform(const Transform& transform, int64_t max_pixels,
                            Generator* generator, ImageStage* stage);

// Resizes the image, as Resize to a pair does.
absl::Status ResizeTo(ImageSize size, int64_t max_pixels, ImageStage* stage);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_APPLY_TRANSFORM_H_
