#ifndef MILLRACE_AUGMENT_TO_TENSOR_H_
#define MILLRACE_AUGMENT_TO_TENSOR_H_

// The last step: 8-bit pixels to the tensor, channels first or last.

#include <array>
#include <cstdint>

#include "augment/image.h"
#include "augment/transforms.h"
#include "base/tensor.h"

namespace millrace::augment {

// What each byte of each channel becomes.
class ByteToFloat {
 public:
  // value / 255 in float, as torchvision's ToTensor.
  ByteToFloat();

  // Then (value - mean) / std in float. Several follow one another.
  void Normalize(const augment::Normalize& normalize);

  const std::array<float, 256>& channel(int c) const { return tables_[c]; }

 private:
  std::array<std::array<float, 256>, 3> tables_;
};

// Writes `image` as floats, [channels, height, width] or [height, width,
// channels], to `out`, which needs no alignment.
void WriteFloats(const ConstImageView& image, const ByteToFloat& values,
                 Layout layout, void* out);

// Writes `image` as bytes.
void WriteBytes(const ConstImageView& image, Layout layout, void* out);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_TO_TENSOR_H_
