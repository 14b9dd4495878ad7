#ifndef MILLRACE_AUGMENT_COLOR_H_
#define MILLRACE_AUGMENT_COLOR_H_

// Changes of colour, in place, bit for bit as torchvision does them on Pillow
// images.

#include "augment/image.h"

namespace millrace::augment {

// Blends with black: factor 0 is black, 1 the image. factor >= 0.
void AdjustBrightness(const ImageView& image, float factor);

// Blends with a grey of the image's mean luminance. factor >= 0.
void AdjustContrast(const ImageView& image, float factor);

// Blends with the image's luminance; a grey image stays as it is. factor >= 0.
void AdjustSaturation(const ImageView& image, float factor);

// Turns the hue by `turn` of the full circle, in [-0.5, 0.5]; a grey image
// stays as it is. Small turns change pixels too: they pass through 8-bit HSV.
void AdjustHue(const ImageView& image, float turn);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_COLOR_H_
