#include "augment/color_jitter.h"

#include <optional>

#include "augment/color.h"
#include "base/torch_random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/pixel_image.h"

namespace millrace::augment {
namespace {

using testing::ElementsAre;

TEST(ColorJitterTest, DrawsOrderAndFactorsAsTorchvision) {
  TorchGenerator generator(0);
  const ColorJitterDraw draw = DrawColorJitter(
      {.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1},
      &generator);
  EXPECT_THAT(draw.order, ElementsAre(0, 1, 3, 2));
  EXPECT_THAT(draw.factors,
              ElementsAre(0.7056244015693665f, 0.8459382653236389f,
                          1.1072629690170288f, -0.0019813179969787598f));
}

TEST(ColorJitterTest, WhatIsZeroIsNeitherDrawnNorApplied) {
  TorchGenerator generator(0);
  TorchGenerator same(0);
  const ColorJitterDraw draw = DrawColorJitter({.contrast = 0.5}, &generator);
  EXPECT_THAT(draw.factors, ElementsAre(std::nullopt, testing::Ne(std::nullopt),
                                        std::nullopt, std::nullopt));
  // Three words for the order, one for the factor.
  for (int i = 0; i < 4; ++i) same.NextU32();
  EXPECT_EQ(generator.NextU32(), same.NextU32());
}

TEST(ColorJitterTest, FactorsAreNeverNegative) {
  TorchGenerator generator(1);
  for (int i = 0; i < 1000; ++i) {
    const ColorJitterDraw draw =
        DrawColorJitter({.brightness = 5, .hue = 0.5}, &generator);
    EXPECT_GE(*draw.factors[0], 0);
    EXPECT_LE(*draw.factors[0], 6);
    EXPECT_GE(*draw.factors[3], -0.5);
    EXPECT_LE(*draw.factors[3], 0.5);
  }
}

TEST(ColorJitterTest, AppliesInTheOrderDrawn) {
  ColorJitterDraw draw;
  draw.order = {2, 0, 3, 1};
  draw.factors = {1.4f, 0.7f, 0.5f, std::nullopt};
  PixelImage image = PixelImage::Test(20, 30);
  PixelImage want = image;
  ApplyColorJitter(draw, image.view());
  AdjustSaturation(want.view(), 0.5f);
  AdjustBrightness(want.view(), 1.4f);
  AdjustContrast(want.view(), 0.7f);
  EXPECT_EQ(image.pixels(), want.pixels());
}

}  // namespace
}  // namespace millrace::augment
