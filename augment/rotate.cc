#include "augment/rotate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "augment/exact_math.h"
#include "augment/rounding.h"

namespace millrace::augment {
namespace {

// Python's round(x, 15), for |x| <= 1.
double RoundTo15Digits(double x) { return RoundHalfToEven(x * 1e15) / 1e15; }

// 16.16 fixed point.
int64_t ToFixed(double x) {
  return static_cast<int64_t>(std::floor(x * 65536 + 0.5));
}

void CopyPixel(const uint8_t* from, int channels, uint8_t* to) {
  for (int c = 0; c < channels; ++c) to[c] = from[c];
}

// target(y, x) = source(y0 + y * dy_y + x * dy_x, x0 + ...): the turns by
// quarters.
void RotateQuarters(const ConstImageView& source, int quarters,
                    const ImageView& target) {
  const int height = source.height;
  const int width = source.width;
  for (int y = 0; y < height; ++y) {
    uint8_t* out = target.row(y);
    for (int x = 0; x < width; ++x, out += target.channels) {
      int from_y = height - 1 - y;
      int from_x = width - 1 - x;
      if (quarters == 1) {
        from_y = x;
        from_x = width - 1 - y;
      } else if (quarters == 3) {
        from_y = height - 1 - x;
        from_x = y;
      }
      CopyPixel(source.row(from_y) + ptrdiff_t{from_x} * source.channels,
                source.channels, out);
    }
  }
}

// Columns [begin, end) of an output row whose source coordinate
// (start + x * step) >> 16 lies in [0, size).
void ClipColumns(int64_t start, int64_t step, int size, int* begin, int* end) {
  const int64_t limit = (int64_t{size} << 16) - 1;
  if (step == 0) {
    if (start < 0 || start > limit) *end = *begin;
    return;
  }
  // start + x * step in [0, limit], for either sign of step.
  const int64_t low = step > 0 ? -start : limit - start;
  const int64_t high = step > 0 ? limit - start : -start;
  const auto floor_divide = [](int64_t a, int64_t b) {
    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  };
  const int64_t first = -floor_divide(-low, step);
  const int64_t last = floor_divide(high, step);
  *begin = static_cast<int>(std::clamp<int64_t>(first, *begin, *end));
  *end = static_cast<int>(std::clamp<int64_t>(last + 1, *begin, *end));
}

template <int kChannels>
void RotateRow(const ConstImageView& source, int64_t source_x, int64_t source_y,
               int64_t step_x, int64_t step_y, int width, uint8_t* out) {
  int begin = 0;
  int end = width;
  ClipColumns(source_x, step_x, source.width, &begin, &end);
  ClipColumns(source_y, step_y, source.height, &begin, &end);
  std::memset(out, 0, static_cast<size_t>(begin) * kChannels);
  std::memset(out + ptrdiff_t{end} * kChannels, 0,
              static_cast<size_t>(width - end) * kChannels);
  source_x += begin * step_x;
  source_y += begin * step_y;
  out += ptrdiff_t{begin} * kChannels;
  for (int x = begin; x < end; ++x, out += kChannels) {
    const uint8_t* pixel = source.row(static_cast<int>(source_y >> 16)) +
                           (source_x >> 16) * kChannels;
    for (int c = 0; c < kChannels; ++c) out[c] = pixel[c];
    source_x += step_x;
    source_y += step_y;
  }
}

}  // namespace

void RotateImage(const ConstImageView& source, double degrees,
                 const ImageView& target) {
  constexpr double kPi = 0x1.921fb54442d18p+1;
  double angle = std::fmod(degrees, 360.0);
  if (angle < 0) angle += 360.0;
  if (angle == 0) {
    CopyImage(source, target);
    return;
  }
  const bool square = source.height == source.width;
  if (angle == 180 || (square && (angle == 90 || angle == 270))) {
    RotateQuarters(source, static_cast<int>(angle / 90), target);
    return;
  }
  // From output to source coordinates; the order of operations is Pillow's.
  const double turn = -(angle * (kPi / 180));
  const double cosine = RoundTo15Digits(ExactCos(turn));
  const double sine = RoundTo15Digits(ExactSin(turn));
  const double center_x = source.width / 2.0;
  const double center_y = source.height / 2.0;
  const double offset_x = cosine * -center_x + sine * -center_y + center_x;
  const double offset_y = -sine * -center_x + cosine * -center_y + center_y;
  const int64_t step_x = ToFixed(cosine);
  const int64_t step_y = ToFixed(-sine);
  int64_t source_x = ToFixed(offset_x + cosine * 0.5 + sine * 0.5);
  int64_t source_y = ToFixed(offset_y + -sine * 0.5 + cosine * 0.5);
  for (int y = 0; y < target.height; ++y) {
    if (target.channels == 3) {
      RotateRow<3>(source, source_x, source_y, step_x, step_y, target.width,
                   target.row(y));
    } else {
      RotateRow<1>(source, source_x, source_y, step_x, step_y, target.width,
                   target.row(y));
    }
    source_x += ToFixed(sine);
    source_y += ToFixed(cosine);
  }
}

}  // namespace millrace::augment
