#ifndef MILLRACE_AUGMENT_RESAMPLE_H_
#define MILLRACE_AUGMENT_RESAMPLE_H_

// Antialiased bilinear resizing with Pillow's fixed-point arithmetic.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "augment/image.h"

namespace millrace::augment {

// Memory of Resample() that is worth keeping: the image between its two passes,
// and the filters. Confined to one thread.
class ResampleScratch {
 public:
  int64_t ByteCount() const;

  // The filter of one axis: output pixel i is the sum of
  // weights[i * stride + k] * input[first[i] + k] for k in [0, count[i]), in
  // 22-bit fractions.
  struct Filter {
    std::vector<int> first;
    std::vector<int> count;
    std::vector<int32_t> weights;
    int stride = 0;
  };

 private:
  friend absl::Status Resample(const ConstImageView&, const ImageView&,
                               ResampleScratch*);
  // The weights of one output pixel, before rounding.
  std::vector<double> exact_weights_;
  Filter horizontal_;
  Filter vertical_;
  ImageBuffer between_;
  // Sums of one row of the vertical pass.
  std::vector<int32_t> sums_;
};

// Resizes `source` to the size of `target`, bit for bit as Pillow 13's
// Image.resize(size, BILINEAR) does: two passes with bytes between them, the
// vertical one first where it shrinks enough, a pass that changes nothing left
// out. To resize a box of an image, give a view of the box: pixels outside are
// not looked at.
//
// ResourceExhausted: no memory. REQUIRES: equal channels, no overlap, no side
// of 0 pixels.
absl::Status Resample(const ConstImageView& source, const ImageView& target,
                      ResampleScratch* scratch);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_RESAMPLE_H_
