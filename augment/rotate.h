#ifndef MILLRACE_AUGMENT_ROTATE_H_
#define MILLRACE_AUGMENT_ROTATE_H_

#include "augment/image.h"

namespace millrace::augment {

// Writes `source`, turned by `degrees` counter-clockwise about its centre, to
// `target`: nearest neighbour, 0 outside, bit for bit as Pillow's
// Image.rotate() for sides below 32768. Multiples of 90 degrees that keep the
// size are exact. REQUIRES: equal sizes and channels, no overlap; |degrees| <=
// 50000.
void RotateImage(const ConstImageView& source, double degrees,
                 const ImageView& target);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_ROTATE_H_
