#ifndef MILLRACE_AUGMENT_RANDOM_RESIZED_CROP_H_
#define MILLRACE_AUGMENT_RANDOM_RESIZED_CROP_H_

#include "augment/image.h"
#include "augment/transforms.h"
#include "base/generator.h"

namespace millrace::augment {

// The box that `crop` takes from an image of `height` x `width` pixels: never
// empty, always inside. Draws as torchvision's get_params() does: for each of
// up to ten tries area and aspect ratio, and for the one that fits row and
// column. REQUIRES: height, width > 0; Validate(crop) is OK.
Region DrawCropBox(const RandomResizedCrop& crop, int height, int width,
                   Generator* generator);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_RANDOM_RESIZED_CROP_H_
