#ifndef MILLRACE_AUGMENT_FLIP_H_
#define MILLRACE_AUGMENT_FLIP_H_

#include "augment/image.h"

namespace millrace::augment {

// Mirrors the image left to right, in place.
void FlipHorizontally(const ImageView& image);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_FLIP_H_
