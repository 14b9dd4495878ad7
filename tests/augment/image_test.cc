#include "augment/image.h"

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/pixel_image.h"
#include "tests/support/status_matchers.h"

namespace millrace::augment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ImageViewTest, CropIsPartOfTheSamePixels) {
  PixelImage image(3, 4, 1);
  const ImageView crop = image.view().Crop({1, 2, 2, 2});
  crop.row(0)[0] = 1;
  crop.row(1)[1] = 2;
  EXPECT_THAT(image.pixels(), ElementsAre(0, 0, 0, 0,  //
                                          0, 0, 1, 0,  //
                                          0, 0, 0, 2));
}

TEST(CopyImageTest, CopiesRowsOfDifferentStrides) {
  PixelImage source = PixelImage::Test(4, 5);
  PixelImage target(2, 2, 3);
  CopyImage(source.view().Crop({1, 2, 2, 2}), target.view());
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 2; ++x) {
      for (int c = 0; c < 3; ++c) {
        EXPECT_EQ(target.at(y, x, c), source.at(1 + y, 2 + x, c));
      }
    }
  }
}

TEST(ImageBufferTest, KeepsItsMemoryForSmallerImages) {
  ImageBuffer buffer;
  ASSERT_OK_AND_ASSIGN(const ImageView large, buffer.Allocate(10, 20, 3));
  ASSERT_OK_AND_ASSIGN(const ImageView small, buffer.Allocate(5, 7, 1));
  EXPECT_EQ(small.data, large.data);
  EXPECT_EQ(small.stride, 7);
  EXPECT_EQ(buffer.capacity(), 600);
}

TEST(ImageBufferTest, NoMemoryIsAnErrorWithTheSize) {
  ImageBuffer buffer;
  EXPECT_THAT(buffer.Allocate(1 << 30, 1 << 30, 3),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("1073741824 x 1073741824")));
  EXPECT_EQ(buffer.capacity(), 0);
  EXPECT_OK(buffer.Allocate(2, 2, 3));
}

}  // namespace
}  // namespace millrace::augment
