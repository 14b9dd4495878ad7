#include "augment/center_crop.h"

#include <algorithm>
#include <cstring>

namespace millrace::augment {
namespace {

// Where one axis of the target begins in the source; negative for padding.
int Offset(int source, int target) {
  if (source < target) return -((target - source) / 2);
  const int difference = source - target;
  const int half = difference / 2;
  // Half to even: an odd difference lies between half and half + 1.
  return difference % 2 == 1 && half % 2 == 1 ? half + 1 : half;
}

}  // namespace

void CenterCropImage(const ConstImageView& source, const ImageView& target) {
  // torchvision pads first, each side that is too small, and then crops: an
  // axis is either padded or cropped.
  const int top = Offset(source.height, target.height);
  const int left = Offset(source.width, target.width);
  const Region inside = {std::max(top, 0), std::max(left, 0),
                         std::min(source.height, target.height),
                         std::min(source.width, target.width)};
  if (inside.height < target.height || inside.width < target.width) {
    for (int y = 0; y < target.height; ++y) {
      std::memset(target.row(y), 0,
                  static_cast<size_t>(target.width) * target.channels);
    }
  }
  CopyImage(source.Crop(inside),
            target.Crop({std::max(-top, 0), std::max(-left, 0), inside.height,
                         inside.width}));
}

}  // namespace millrace::augment
