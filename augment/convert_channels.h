#ifndef MILLRACE_AUGMENT_CONVERT_CHANNELS_H_
#define MILLRACE_AUGMENT_CONVERT_CHANNELS_H_

#include "augment/image.h"

namespace millrace::augment {

// Copies pixels to an image of the same size and as many channels as wanted:
// grey becomes three equal channels, RGB Pillow's luminance. REQUIRES: no
// overlap.
void ConvertChannels(const ConstImageView& source, const ImageView& target);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_CONVERT_CHANNELS_H_
