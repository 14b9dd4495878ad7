#ifndef MILLRACE_AUGMENT_COLOR_JITTER_H_
#define MILLRACE_AUGMENT_COLOR_JITTER_H_

#include <array>
#include <optional>

#include "augment/image.h"
#include "augment/transforms.h"
#include "base/generator.h"

namespace millrace::augment {

// What ColorJitter draws for one image.
struct ColorJitterDraw {
  // The order in which the changes are made: 0 brightness, 1 contrast,
  // 2 saturation, 3 hue.
  std::array<int, 4> order = {0, 1, 2, 3};
  // By change, not by order; empty for changes that are left out.
  std::array<std::optional<float>, 4> factors;
};

// As torchvision's get_params(): the order, then the factors of those that are
// not left out. REQUIRES: Validate(jitter) is OK.
ColorJitterDraw DrawColorJitter(const ColorJitter& jitter,
                                Generator* generator);

void ApplyColorJitter(const ColorJitterDraw& draw, const ImageView& image);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_COLOR_JITTER_H_
