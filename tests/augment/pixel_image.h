#ifndef MILLRACE_TESTS_AUGMENT_PIXEL_IMAGE_H_
#define MILLRACE_TESTS_AUGMENT_PIXEL_IMAGE_H_

// An image that owns its pixels, for tests of kernels.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "augment/crc32.h"
#include "augment/image.h"
#include "tests/support/images.h"

namespace millrace::augment {

class PixelImage {
 public:
  PixelImage(int height, int width, int channels, uint8_t value = 0)
      : pixels_(static_cast<size_t>(height) * width * channels, value),
        height_(height),
        width_(width),
        channels_(channels) {}

  // TestPixels(), or with one channel its first.
  static PixelImage Test(int height, int width, int seed = 0,
                         int channels = 3) {
    const std::vector<uint8_t> rgb = TestPixels(height, width, seed);
    PixelImage image(height, width, channels);
    for (size_t i = 0; i < image.pixels_.size(); ++i) {
      image.pixels_[i] = rgb[i * 3 / channels];
    }
    return image;
  }

  ImageView view() {
    return {pixels_.data(), height_, width_, channels_,
            ptrdiff_t{width_} * channels_};
  }
  const std::vector<uint8_t>& pixels() const { return pixels_; }
  absl::string_view bytes() const {
    return {reinterpret_cast<const char*>(pixels_.data()), pixels_.size()};
  }
  uint32_t Crc() const { return Crc32(bytes()); }

  // Channel `c` at (y, x).
  uint8_t at(int y, int x, int c = 0) const {
    return pixels_[(static_cast<size_t>(y) * width_ + x) * channels_ + c];
  }

 private:
  std::vector<uint8_t> pixels_;
  int height_;
  int width_;
  int channels_;
};

}  // namespace millrace::augment

#endif  // MILLRACE_TESTS_AUGMENT_PIXEL_IMAGE_H_
