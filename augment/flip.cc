#include "augment/flip.h"

#include <algorithm>

namespace millrace::augment {
namespace {

template <int kChannels>
void FlipRow(uint8_t* row, int width) {
  uint8_t* left = row;
  uint8_t* right = row + ptrdiff_t{width - 1} * kChannels;
  for (; left < right; left += kChannels, right -= kChannels) {
    std::swap_ranges(left, left + kChannels, right);
  }
}

}  // namespace

void FlipHorizontally(const ImageView& image) {
  for (int y = 0; y < image.height; ++y) {
    if (image.channels == 3) {
      FlipRow<3>(image.row(y), image.width);
    } else {
      FlipRow<1>(image.row(y), image.width);
    }
  }
}

}  // namespace millrace::augment
