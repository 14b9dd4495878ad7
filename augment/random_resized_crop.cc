#include "augment/random_resized_crop.h"

#include <algorithm>
#include <cmath>

#include "augment/exact_math.h"
#include "augment/rounding.h"

namespace millrace::augment {
namespace {

// The largest centred box within the ratios.
Region CenteredBox(const RandomResizedCrop& crop, int height, int width) {
  const double ratio = static_cast<double>(width) / height;
  int box_height = height;
  int box_width = width;
  if (ratio < crop.ratio.first) {
    box_height = static_cast<int>(RoundHalfToEven(width / crop.ratio.first));
  } else if (ratio > crop.ratio.second) {
    box_width = static_cast<int>(RoundHalfToEven(height * crop.ratio.second));
  }
  // A side rounds to nothing, or beyond the image, at extreme ratios only.
  box_height = std::clamp(box_height, 1, height);
  box_width = std::clamp(box_width, 1, width);
  return {(height - box_height) / 2, (width - box_width) / 2, box_height,
          box_width};
}

}  // namespace

Region DrawCropBox(const RandomResizedCrop& crop, int height, int width,
                   Generator* generator) {
  constexpr int kTries = 10;
  const double area = static_cast<double>(height) * width;
  const float low = ExactLog(static_cast<float>(crop.ratio.first));
  const float high = ExactLog(static_cast<float>(crop.ratio.second));
  for (int i = 0; i < kTries; ++i) {
    const double target_area =
        area * generator->Uniform(static_cast<float>(crop.scale.first),
                                  static_cast<float>(crop.scale.second));
    const double aspect = ExactExp(generator->Uniform(low, high));
    const double box_width = RoundHalfToEven(std::sqrt(target_area * aspect));
    const double box_height = RoundHalfToEven(std::sqrt(target_area / aspect));
    if (box_width > 0 && box_width <= width && box_height > 0 &&
        box_height <= height) {
      Region box;
      box.height = static_cast<int>(box_height);
      box.width = static_cast<int>(box_width);
      box.top = static_cast<int>(generator->RandInt(height - box.height + 1));
      box.left = static_cast<int>(generator->RandInt(width - box.width + 1));
      return box;
    }
  }
  return CenteredBox(crop, height, width);
}

}  // namespace millrace::augment
