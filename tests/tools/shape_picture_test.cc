#include "tools/shape_picture.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "base/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace::tools {
namespace {

using testing::SizeIs;

cv::Mat Draw(int shape, uint64_t position) {
  PhiloxGenerator generator(1, 0, position);
  return DrawShapePicture(shape, generator);
}

bool Equal(const cv::Mat& a, const cv::Mat& b) {
  return a.size() == b.size() && cv::norm(a, b, cv::NORM_INF) == 0;
}

TEST(ShapePictureTest, HasTenClassesInByteOrder) {
  EXPECT_THAT(ShapeClasses(), SizeIs(10));
  EXPECT_TRUE(std::is_sorted(ShapeClasses().begin(), ShapeClasses().end()));
}

TEST(ShapePictureTest, DrawsColourPicturesOfManySizes) {
  std::set<std::pair<int, int>> sizes;
  for (int shape = 0; shape < 10; ++shape) {
    for (uint64_t position = 0; position < 20; ++position) {
      const cv::Mat picture = Draw(shape, position);
      ASSERT_EQ(picture.type(), CV_8UC3);
      ASSERT_GE(std::min(picture.rows, picture.cols), 80);
      ASSERT_LE(std::max(picture.rows, picture.cols), 240);
      sizes.emplace(picture.rows, picture.cols);
    }
  }
  EXPECT_GT(sizes.size(), 15u);
}

TEST(ShapePictureTest, EqualDrawsGiveEqualPictures) {
  for (int shape = 0; shape < 10; ++shape) {
    EXPECT_TRUE(Equal(Draw(shape, 5), Draw(shape, 5)));
    EXPECT_FALSE(Equal(Draw(shape, 5), Draw(shape, 6)));
    EXPECT_FALSE(Equal(Draw(shape, 5), Draw((shape + 1) % 10, 5)));
  }
}

// Bright shapes on a dark ground: both take a fair part of every picture.
TEST(ShapePictureTest, ShapesFillAFairPartOfThePicture) {
  for (int shape = 0; shape < 10; ++shape) {
    double bright = 0, pixels = 0;
    for (uint64_t position = 0; position < 20; ++position) {
      const cv::Mat picture = Draw(shape, position);
      for (int y = 0; y < picture.rows; ++y) {
        for (int x = 0; x < picture.cols; ++x) {
          const cv::Vec3b& p = picture.at<cv::Vec3b>(y, x);
          bright += std::max({p[0], p[1], p[2]}) > 160 ? 1 : 0;
        }
      }
      pixels += picture.rows * picture.cols;
    }
    EXPECT_GT(bright / pixels, 0.08) << ShapeClasses()[shape];
    EXPECT_LT(bright / pixels, 0.6) << ShapeClasses()[shape];
  }
}

}  // namespace
}  // namespace millrace::tools
