#include "augment/center_crop.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/pixel_image.h"

namespace millrace::augment {
namespace {

using testing::ElementsAre;

// The first row that a crop of one column takes from an image whose rows are
// numbered.
int TopOfCrop(int source_height, int target_height) {
  PixelImage source(source_height, 1, 1);
  for (int y = 0; y < source_height; ++y) {
    source.view().row(y)[0] = static_cast<uint8_t>(y);
  }
  PixelImage target(target_height, 1, 1);
  CenterCropImage(source.view(), target.view());
  return target.at(0, 0);
}

TEST(CenterCropTest, HalvesAreRoundedToEven) {
  EXPECT_EQ(TopOfCrop(224, 224), 0);
  EXPECT_EQ(TopOfCrop(225, 224), 0);
  EXPECT_EQ(TopOfCrop(226, 224), 1);
  EXPECT_EQ(TopOfCrop(227, 224), 2);
  EXPECT_EQ(TopOfCrop(229, 224), 2);
  EXPECT_EQ(TopOfCrop(231, 224), 4);
}

TEST(CenterCropTest, SmallImagesGetABlackBorder) {
  PixelImage source(1, 2, 1, 9);
  PixelImage target(4, 5, 1, 77);
  CenterCropImage(source.view(), target.view());
  // The odd pixel of border goes to the bottom and the right.
  EXPECT_THAT(target.pixels(), ElementsAre(0, 0, 0, 0, 0,  //
                                           0, 9, 9, 0, 0,  //
                                           0, 0, 0, 0, 0,  //
                                           0, 0, 0, 0, 0));
}

TEST(CenterCropTest, OneSideMayBePaddedAndTheOtherCropped) {
  PixelImage source(1, 4, 1);
  for (int x = 0; x < 4; ++x) source.view().row(0)[x] = 10 + x;
  PixelImage target(3, 2, 1, 77);
  CenterCropImage(source.view(), target.view());
  EXPECT_THAT(target.pixels(), ElementsAre(0, 0, 11, 12, 0, 0));
}

}  // namespace
}  // namespace millrace::augment
