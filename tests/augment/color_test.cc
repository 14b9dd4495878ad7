#include "augment/color.h"

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/pixel_image.h"

namespace millrace::augment {
namespace {

using testing::Each;
using testing::ElementsAre;

PixelImage Changed(void (*change)(const ImageView&, float), float factor,
                   PixelImage image = PixelImage::Test(48, 64)) {
  change(image.view(), factor);
  return image;
}

TEST(ColorTest, GivesTorchvisionsBytes) {
  EXPECT_EQ(Changed(AdjustBrightness, 1.3f).Crc(), 0x73abd9ba);
  EXPECT_EQ(Changed(AdjustBrightness, 0.6f).Crc(), 0x0626fd5f);
  EXPECT_EQ(Changed(AdjustContrast, 1.3f).Crc(), 0x53667482);
  EXPECT_EQ(Changed(AdjustContrast, 0.6f).Crc(), 0x22a05ffa);
  EXPECT_EQ(Changed(AdjustSaturation, 1.3f).Crc(), 0x3f90e643);
  EXPECT_EQ(Changed(AdjustSaturation, 0.6f).Crc(), 0x6377cc8d);
  EXPECT_EQ(Changed(AdjustHue, 0.1f).Crc(), 0x1f780af3);
  EXPECT_EQ(Changed(AdjustHue, -0.1f).Crc(), 0xd23d2753);
}

TEST(ColorTest, FactorOneChangesNothing) {
  const PixelImage image = PixelImage::Test(48, 64);
  EXPECT_EQ(Changed(AdjustBrightness, 1).pixels(), image.pixels());
  EXPECT_EQ(Changed(AdjustContrast, 1).pixels(), image.pixels());
  EXPECT_EQ(Changed(AdjustSaturation, 1).pixels(), image.pixels());
}

TEST(ColorTest, FactorZeroLeavesBlackOrGrey) {
  EXPECT_THAT(Changed(AdjustBrightness, 0).pixels(), Each(0));
  const PixelImage contrast = Changed(AdjustContrast, 0);
  EXPECT_THAT(contrast.pixels(), Each(contrast.at(0, 0)));
  const PixelImage saturation = Changed(AdjustSaturation, 0);
  EXPECT_EQ(saturation.at(3, 4, 0), saturation.at(3, 4, 1));
  EXPECT_EQ(saturation.at(3, 4, 0), saturation.at(3, 4, 2));
}

TEST(ColorTest, BrightnessIsClampedAtWhite) {
  EXPECT_THAT(Changed(AdjustBrightness, 2, PixelImage(2, 2, 3, 200)).pixels(),
              Each(255));
}

TEST(ColorTest, GreyImagesHaveNoSaturationAndHue) {
  const PixelImage gray = PixelImage::Test(9, 7, 0, 1);
  EXPECT_EQ(Changed(AdjustSaturation, 0.3f, gray).pixels(), gray.pixels());
  EXPECT_EQ(Changed(AdjustHue, 0.3f, gray).pixels(), gray.pixels());
}

TEST(ColorTest, HueTurnsRedToGreenByAThird) {
  PixelImage red(1, 1, 3);
  red.view().row(0)[0] = 255;
  EXPECT_THAT(Changed(AdjustHue, 1.0f / 3, red).pixels(),
              ElementsAre(0, 255, 0));
}

}  // namespace
}  // namespace millrace::augment
