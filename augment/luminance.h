#ifndef MILLRACE_AUGMENT_LUMINANCE_H_
#define MILLRACE_AUGMENT_LUMINANCE_H_

#include <cstdint>

namespace millrace::augment {

// Pillow's "L" of an RGB pixel: ITU-R 601 luma in 16 fraction bits, rounded.
inline uint8_t Luminance(uint8_t r, uint8_t g, uint8_t b) {
  return static_cast<uint8_t>((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
}

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_LUMINANCE_H_
