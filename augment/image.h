#ifndef MILLRACE_AUGMENT_IMAGE_H_
#define MILLRACE_AUGMENT_IMAGE_H_

// 8-bit pixels in memory: rows of interleaved channels, `stride` bytes apart.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace millrace::augment {

// Images are at most so many pixels high and wide, so that places in a row fit
// an int.
inline constexpr int kMaxImageSide = 1 << 24;

// A box of an image: rows [top, top + height), columns [left, left + width).
struct Region {
  int top = 0;
  int left = 0;
  int height = 0;
  int width = 0;

  friend bool operator==(const Region& a, const Region& b) {
    return a.top == b.top && a.left == b.left && a.height == b.height &&
           a.width == b.width;
  }
};

// Pixels that somebody else owns: `height` rows of `width` pixels of `channels`
// bytes, 1 or 3 (R, G, B).
struct ConstImageView {
  const uint8_t* data = nullptr;
  int height = 0;
  int width = 0;
  int channels = 3;
  // Bytes from a row to the next.
  ptrdiff_t stride = 0;

  const uint8_t* row(int y) const { return data + y * stride; }
  // REQUIRES: region lies inside the image.
  ConstImageView Crop(const Region& region) const {
    return {row(region.top) + ptrdiff_t{region.left} * channels, region.height,
            region.width, channels, stride};
  }
};

// As ConstImageView, and the pixels may be written.
struct ImageView {
  uint8_t* data = nullptr;
  int height = 0;
  int width = 0;
  int channels = 3;
  ptrdiff_t stride = 0;

  uint8_t* row(int y) const { return data + y * stride; }
  // REQUIRES: region lies inside the image.
  ImageView Crop(const Region& region) const {
    return {row(region.top) + ptrdiff_t{region.left} * channels, region.height,
            region.width, channels, stride};
  }
  // A view of pixels is a view of constant pixels.
  operator ConstImageView() const {
    return {data, height, width, channels, stride};
  }
};

// Copies `source` to `target`. REQUIRES: equal sizes and channels, no overlap.
void CopyImage(const ConstImageView& source, const ImageView& target);

// Memory for one image after the other. It grows to the largest and stays.
//
// Confined to one thread.
class ImageBuffer {
 public:
  ImageBuffer() = default;
  ImageBuffer(ImageBuffer&&) = default;
  ImageBuffer& operator=(ImageBuffer&&) = default;

  // Memory for an image, rows without gaps, contents unspecified. Ends the life
  // of the image given out before. ResourceExhausted where there is no memory.
  // REQUIRES: height, width, channels > 0.
  absl::StatusOr<ImageView> Allocate(int height, int width, int channels);

  // Bytes held.
  int64_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<uint8_t[]> data_;
  int64_t capacity_ = 0;
};

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_IMAGE_H_
