#include "augment/rotate.h"

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/pixel_image.h"

namespace millrace::augment {
namespace {

using testing::Each;
using testing::ElementsAre;

PixelImage Rotated(PixelImage source, double degrees) {
  const ImageView view = source.view();
  PixelImage target(view.height, view.width, view.channels, 99);
  RotateImage(view, degrees, target.view());
  return target;
}

TEST(RotateTest, GivesPillowsBytes) {
  const PixelImage source = PixelImage::Test(48, 64);
  EXPECT_EQ(Rotated(source, 15).Crc(), 0x85ccbae8);
  EXPECT_EQ(Rotated(source, -15).Crc(), 0xfbc0b31c);
  EXPECT_EQ(Rotated(source, 45.5).Crc(), 0x027ed2ea);
  EXPECT_EQ(Rotated(source, 90).Crc(), 0x38b9100e);
  EXPECT_EQ(Rotated(source, 180).Crc(), 0xd37e5a2f);
}

TEST(RotateTest, QuarterTakesTopMiddleToLeftMiddle) {
  PixelImage source(3, 3, 1);
  source.view().row(0)[1] = 7;
  EXPECT_THAT(Rotated(source, 90).pixels(), ElementsAre(0, 0, 0,  //
                                                        7, 0, 0,  //
                                                        0, 0, 0));
  EXPECT_THAT(Rotated(source, 270).pixels(), ElementsAre(0, 0, 0,  //
                                                         0, 0, 7,  //
                                                         0, 0, 0));
}

TEST(RotateTest, FullTurnsChangeNothing) {
  const PixelImage source = PixelImage::Test(5, 8);
  for (const double degrees : {0.0, 360.0, -360.0, 720.0}) {
    EXPECT_EQ(Rotated(source, degrees).pixels(), source.pixels());
  }
}

TEST(RotateTest, OutsideIsBlack) {
  const PixelImage rotated = Rotated(PixelImage(21, 21, 3, 255), 45);
  EXPECT_EQ(rotated.at(0, 0), 0);
  EXPECT_EQ(rotated.at(20, 20, 2), 0);
  EXPECT_EQ(rotated.at(10, 10, 1), 255);
}

TEST(RotateTest, ThinImagesAreRotatedWithinTheirBounds) {
  for (double degrees = -180; degrees <= 180; degrees += 0.5) {
    Rotated(PixelImage(1, 40, 3, 255), degrees);
    Rotated(PixelImage(40, 1, 1, 255), degrees);
  }
  EXPECT_THAT(Rotated(PixelImage(1, 1, 3, 255), 33).pixels(), Each(255));
}

}  // namespace
}  // namespace millrace::augment
