#include "augment/convert_channels.h"

#include <algorithm>
#include <cstdint>

#include "augment/luminance.h"

namespace millrace::augment {

void ConvertChannels(const ConstImageView& source, const ImageView& target) {
  if (source.channels == target.channels) {
    CopyImage(source, target);
    return;
  }
  for (int y = 0; y < target.height; ++y) {
    const uint8_t* from = source.row(y);
    uint8_t* to = target.row(y);
    for (int x = 0; x < target.width; ++x) {
      if (target.channels == 1) {
        to[x] = Luminance(from[3 * x], from[3 * x + 1], from[3 * x + 2]);
      } else {
        std::fill_n(to + 3 * x, 3, from[x]);
      }
    }
  }
}

}  // namespace millrace::augment
