#include "augment/color.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "augment/luminance.h"

namespace millrace::augment {
namespace {

using Table = std::array<uint8_t, 256>;

// Pillow's blend of two bytes: the sum in float, clamped only where the factor
// can leave the range, and truncated.
uint8_t Blend(int degenerate, int value, float factor) {
  const float product = factor * static_cast<float>(value - degenerate);
  const float sum = static_cast<float>(degenerate) + product;
  if (factor >= 0 && factor <= 1) return static_cast<uint8_t>(sum);
  return static_cast<uint8_t>(std::clamp(sum, 0.0f, 255.0f));
}

void ApplyTable(const Table& table, const ImageView& image) {
  const int bytes = image.width * image.channels;
  for (int y = 0; y < image.height; ++y) {
    uint8_t* row = image.row(y);
    for (int i = 0; i < bytes; ++i) row[i] = table[row[i]];
  }
}

// Blending each byte with one and the same value.
void BlendWith(int degenerate, float factor, const ImageView& image) {
  Table table;
  for (int i = 0; i < 256; ++i) {
    table[i] = Blend(degenerate, i, factor);
  }
  ApplyTable(table, image);
}

int MeanLuminance(const ImageView& image) {
  int64_t sum = 0;
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* p = image.row(y);
    for (int x = 0; x < image.width; ++x, p += image.channels) {
      sum += image.channels == 3 ? Luminance(p[0], p[1], p[2]) : p[0];
    }
  }
  const double count = static_cast<double>(image.height) * image.width;
  return static_cast<int>(static_cast<double>(sum) / count + 0.5);
}

uint8_t ClampToByte(int value) {
  return static_cast<uint8_t>(std::clamp(value, 0, 255));
}

struct Hsv {
  uint8_t h;
  uint8_t s;
  uint8_t v;
};

Hsv ToHsv(uint8_t r, uint8_t g, uint8_t b) {
  const uint8_t max = std::max({r, g, b});
  const uint8_t min = std::min({r, g, b});
  if (max == min) return {0, 0, max};
  const float range = static_cast<float>(max - min);
  const float s = range / static_cast<float>(max);
  const float rc = static_cast<float>(max - r) / range;
  const float gc = static_cast<float>(max - g) / range;
  const float bc = static_cast<float>(max - b) / range;
  float h;
  if (r == max) {
    h = bc - gc;
  } else if (g == max) {
    h = static_cast<float>(2.0 + rc - bc);
  } else {
    h = static_cast<float>(4.0 + gc - rc);
  }
  // h / 6 + 1 lies in [5/6, 2): what fmod() by 1 leaves is an exact difference.
  double turns = h / 6.0 + 1.0;
  if (turns >= 1) turns -= 1;
  h = static_cast<float>(turns);
  return {ClampToByte(static_cast<int>(h * 255.0)),
          ClampToByte(static_cast<int>(s * 255.0)), max};
}

void ToRgb(const Hsv& hsv, uint8_t* rgb) {
  if (hsv.s == 0) {
    std::fill_n(rgb, 3, hsv.v);
    return;
  }
  const double v = hsv.v;
  const float fs = static_cast<float>(hsv.s / 255.0);
  const double sixths = hsv.h * 6.0 / 255.0;
  const int sector = static_cast<int>(sixths);
  const float f = static_cast<float>(sixths - sector);
  const auto level = [v](double part) {
    return ClampToByte(static_cast<int>(v * part + 0.5));
  };
  const uint8_t p = level(1.0 - fs);
  const uint8_t q = level(1.0 - fs * f);
  const uint8_t t = level(1.0 - fs * (1.0 - f));
  const uint8_t full = hsv.v;
  const std::array<std::array<uint8_t, 3>, 6> sectors = {{{full, t, p},
                                                          {q, full, p},
                                                          {p, full, t},
                                                          {p, q, full},
                                                          {t, p, full},
                                                          {full, p, q}}};
  const auto& chosen = sectors[sector % 6];
  std::copy(chosen.begin(), chosen.end(), rgb);
}

}  // namespace

void AdjustBrightness(const ImageView& image, float factor) {
  BlendWith(0, factor, image);
}

void AdjustContrast(const ImageView& image, float factor) {
  BlendWith(MeanLuminance(image), factor, image);
}

void AdjustSaturation(const ImageView& image, float factor) {
  if (image.channels != 3) return;
  for (int y = 0; y < image.height; ++y) {
    uint8_t* p = image.row(y);
    for (int x = 0; x < image.width; ++x, p += 3) {
      const int luminance = Luminance(p[0], p[1], p[2]);
      for (int c = 0; c < 3; ++c) p[c] = Blend(luminance, p[c], factor);
    }
  }
}

void AdjustHue(const ImageView& image, float turn) {
  if (image.channels != 3) return;
  const int shift = static_cast<int>(static_cast<double>(turn) * 255);
  for (int y = 0; y < image.height; ++y) {
    uint8_t* p = image.row(y);
    for (int x = 0; x < image.width; ++x, p += 3) {
      Hsv hsv = ToHsv(p[0], p[1], p[2]);
      hsv.h = static_cast<uint8_t>(hsv.h + shift);
      ToRgb(hsv, p);
    }
  }
}

}  // namespace millrace::augment
