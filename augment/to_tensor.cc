#include "augment/to_tensor.h"

#include <cstring>

namespace millrace::augment {
namespace {

// memcpy, since the target may be unaligned; compilers make one store of it.
void Store(float value, uint8_t* out) {
  std::memcpy(out, &value, sizeof(value));
}
void Store(uint8_t value, uint8_t* out) { *out = value; }

// Writes value(c, byte) for each byte of the image. Three channels have a loop
// of their own, since their number is then known to the compiler.
template <typename T, int kChannels, typename Value>
void WriteAll(const ConstImageView& image, Layout layout, const Value& value,
              uint8_t* out) {
  const int64_t pixels = int64_t{image.height} * image.width;
  const int64_t channel_step = layout == Layout::kCHW ? pixels : 1;
  const int64_t pixel_step = layout == Layout::kCHW ? 1 : kChannels;
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* in = image.row(y);
    uint8_t* to = out + int64_t{y} * image.width * pixel_step * sizeof(T);
    for (int x = 0; x < image.width; ++x, in += kChannels) {
      for (int c = 0; c < kChannels; ++c) {
        Store(value(c, in[c]),
              to + (x * pixel_step + c * channel_step) * sizeof(T));
      }
    }
  }
}

template <typename T, typename Value>
void Write(const ConstImageView& image, Layout layout, const Value& value,
           void* out) {
  auto* bytes = static_cast<uint8_t*>(out);
  if (image.channels == 3) {
    WriteAll<T, 3>(image, layout, value, bytes);
  } else {
    WriteAll<T, 1>(image, layout, value, bytes);
  }
}

}  // namespace

ByteToFloat::ByteToFloat() {
  for (auto& table : tables_) {
    for (int i = 0; i < 256; ++i) table[i] = static_cast<float>(i) / 255.0f;
  }
}

void ByteToFloat::Normalize(const augment::Normalize& normalize) {
  for (int c = 0; c < 3; ++c) {
    const float mean = static_cast<float>(normalize.mean[c]);
    const float std = static_cast<float>(normalize.std[c]);
    for (float& value : tables_[c]) value = (value - mean) / std;
  }
}

void WriteFloats(const ConstImageView& image, const ByteToFloat& values,
                 Layout layout, void* out) {
  Write<float>(
      image, layout,
      [&values](int c, uint8_t byte) { return values.channel(c)[byte]; }, out);
}

void WriteBytes(const ConstImageView& image, Layout layout, void* out) {
  Write<uint8_t>(
      image, layout, [](int, uint8_t byte) { return byte; }, out);
}

}  // namespace millrace::augment
