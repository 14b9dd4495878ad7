#include "augment/flip.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/pixel_image.h"

namespace millrace::augment {
namespace {

using testing::ElementsAre;

PixelImage Counting(int height, int width, int channels) {
  PixelImage image(height, width, channels);
  const ImageView view = image.view();
  for (int i = 0; i < height * width * channels; ++i) {
    view.data[i] = static_cast<uint8_t>(i);
  }
  return image;
}

TEST(FlipHorizontallyTest, MirrorsPixelsAndKeepsChannels) {
  PixelImage image = Counting(1, 3, 3);
  FlipHorizontally(image.view());
  EXPECT_THAT(image.pixels(), ElementsAre(6, 7, 8, 3, 4, 5, 0, 1, 2));
}

TEST(FlipHorizontallyTest, MirrorsEachRow) {
  PixelImage image = Counting(2, 4, 1);
  FlipHorizontally(image.view());
  EXPECT_THAT(image.pixels(), ElementsAre(3, 2, 1, 0, 7, 6, 5, 4));
}

TEST(FlipHorizontallyTest, LeavesOneColumnAlone) {
  PixelImage image = Counting(3, 1, 1);
  FlipHorizontally(image.view());
  EXPECT_THAT(image.pixels(), ElementsAre(0, 1, 2));
}

TEST(FlipHorizontallyTest, LeavesWhatIsOutsideOfAViewAlone) {
  PixelImage image = Counting(2, 4, 1);
  FlipHorizontally(image.view().Crop({0, 1, 1, 2}));
  EXPECT_THAT(image.pixels(), ElementsAre(0, 2, 1, 3, 4, 5, 6, 7));
}

}  // namespace
}  // namespace millrace::augment
