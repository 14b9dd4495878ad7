#ifndef MILLRACE_AUGMENT_CENTER_CROP_H_
#define MILLRACE_AUGMENT_CENTER_CROP_H_

#include "augment/image.h"

namespace millrace::augment {

// Writes the middle of `source` to `target`, whose size may be larger: what
// lies outside of the source becomes 0. Offsets are torchvision's: half the
// difference, rounded half to even when cropping; one pixel more to the right
// and bottom when padding. REQUIRES: equal channels, no overlap.
void CenterCropImage(const ConstImageView& source, const ImageView& target);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_CENTER_CROP_H_
