#include "augment/convert_channels.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/pixel_image.h"

namespace millrace::augment {
namespace {

using testing::ElementsAre;

TEST(ConvertChannelsTest, GreyBecomesThreeEqualChannels) {
  PixelImage gray(1, 2, 1);
  gray.view().row(0)[0] = 5;
  gray.view().row(0)[1] = 250;
  PixelImage rgb(1, 2, 3);
  ConvertChannels(gray.view(), rgb.view());
  EXPECT_THAT(rgb.pixels(), ElementsAre(5, 5, 5, 250, 250, 250));
}

TEST(ConvertChannelsTest, ColorBecomesPillowsLuminance) {
  PixelImage rgb(1, 3, 3);
  rgb.view().row(0)[0] = 255;
  rgb.view().row(0)[4] = 255;
  rgb.view().row(0)[8] = 255;
  PixelImage gray(1, 3, 1);
  ConvertChannels(rgb.view(), gray.view());
  EXPECT_THAT(gray.pixels(), ElementsAre(76, 150, 29));
}

TEST(ConvertChannelsTest, EqualChannelsAreCopied) {
  PixelImage image = PixelImage::Test(3, 4);
  PixelImage copy(3, 4, 3);
  ConvertChannels(image.view(), copy.view());
  EXPECT_EQ(copy.pixels(), image.pixels());
}

}  // namespace
}  // namespace millrace::augment
