#include "augment/color_jitter.h"

#include <algorithm>

#include "absl/types/span.h"
#include "augment/color.h"

namespace millrace::augment {

ColorJitterDraw DrawColorJitter(const ColorJitter& jitter,
                                Generator* generator) {
  ColorJitterDraw draw;
  generator->RandPerm(absl::MakeSpan(draw.order));
  const std::array<double, 3> ranges = {jitter.brightness, jitter.contrast,
                                        jitter.saturation};
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i] == 0) continue;
    draw.factors[i] =
        generator->Uniform(static_cast<float>(std::max(0.0, 1 - ranges[i])),
                           static_cast<float>(1 + ranges[i]));
  }
  if (jitter.hue != 0) {
    draw.factors[3] = generator->Uniform(static_cast<float>(-jitter.hue),
                                         static_cast<float>(jitter.hue));
  }
  return draw;
}

void ApplyColorJitter(const ColorJitterDraw& draw, const ImageView& image) {
  constexpr void (*kChanges[])(const ImageView&, float) = {
      AdjustBrightness, AdjustContrast, AdjustSaturation, AdjustHue};
  for (const int change : draw.order) {
    if (draw.factors[change].has_value()) {
      kChanges[change](image, *draw.factors[change]);
    }
  }
}

}  // namespace millrace::augment
