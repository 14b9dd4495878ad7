#include "augment/to_tensor.h"

#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/pixel_image.h"

namespace millrace::augment {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

PixelImage TwoPixels() {
  PixelImage image(1, 2, 3);
  for (int i = 0; i < 6; ++i) {
    image.view().data[i] = static_cast<uint8_t>(40 * i);
  }
  return image;
}

TEST(ByteToFloatTest, DividesByTwoHundredAndFiftyFive) {
  const ByteToFloat values;
  for (int i = 0; i < 256; ++i) {
    // Not the product with 1 / 255, which has other bits for some.
    EXPECT_EQ(values.channel(2)[i], static_cast<float>(i) / 255.0f);
  }
}

TEST(ByteToFloatTest, NormalizesInFloat) {
  ByteToFloat values;
  values.Normalize({});
  EXPECT_EQ(values.channel(0)[0], (0.0f - 0.485f) / 0.229f);
  EXPECT_EQ(values.channel(1)[128], (128.0f / 255.0f - 0.456f) / 0.224f);
  EXPECT_EQ(values.channel(2)[255], (1.0f - 0.406f) / 0.225f);
}

TEST(WriteFloatsTest, PutsChannelsFirstOrLast) {
  PixelImage image = TwoPixels();
  const ByteToFloat values;
  const auto value = [&values](int i) { return values.channel(0)[40 * i]; };
  std::vector<float> out(6);
  WriteFloats(image.view(), values, Layout::kCHW, out.data());
  EXPECT_THAT(out, ElementsAre(value(0), value(3), value(1), value(4), value(2),
                               value(5)));
  WriteFloats(image.view(), values, Layout::kHWC, out.data());
  EXPECT_THAT(out, ElementsAre(value(0), value(1), value(2), value(3), value(4),
                               value(5)));
}

TEST(WriteFloatsTest, NeedsNoAlignment) {
  PixelImage image = TwoPixels();
  const ByteToFloat values;
  std::vector<float> want(6);
  WriteFloats(image.view(), values, Layout::kCHW, want.data());
  std::vector<char> bytes(6 * sizeof(float) + 1);
  WriteFloats(image.view(), values, Layout::kCHW, bytes.data() + 1);
  std::vector<float> got(6);
  std::memcpy(got.data(), bytes.data() + 1, 6 * sizeof(float));
  EXPECT_THAT(got, ElementsAreArray(want));
}

TEST(WriteBytesTest, PutsChannelsFirstOrLast) {
  PixelImage image = TwoPixels();
  std::vector<uint8_t> out(6);
  WriteBytes(image.view(), Layout::kCHW, out.data());
  EXPECT_THAT(out, ElementsAre(0, 120, 40, 160, 80, 200));
  WriteBytes(image.view(), Layout::kHWC, out.data());
  EXPECT_THAT(out, ElementsAre(0, 40, 80, 120, 160, 200));
}

TEST(WriteBytesTest, WritesOneChannelRowByRow) {
  PixelImage image = PixelImage::Test(3, 4, 0, 1);
  std::vector<uint8_t> out(4);
  WriteBytes(image.view().Crop({1, 1, 2, 2}), Layout::kCHW, out.data());
  EXPECT_THAT(out, ElementsAre(image.at(1, 1), image.at(1, 2), image.at(2, 1),
                               image.at(2, 2)));
}

}  // namespace
}  // namespace millrace::augment
