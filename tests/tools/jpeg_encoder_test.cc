#include "tools/jpeg_encoder.h"

#include <stdio.h>
// After <stdio.h>: it uses FILE and size_t without including them.
#include <jpeglib.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "opencv2/imgcodecs.hpp"
#include "opencv2/imgproc.hpp"
#include "tests/support/status_matchers.h"

namespace millrace::tools {
namespace {

using testing::HasSubstr;

// A soft gradient, which any subsampling keeps.
cv::Mat Gradient(int height, int width) {
  cv::Mat picture(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      picture.at<cv::Vec3b>(y, x) = {static_cast<uchar>(200 * y / height),
                                     static_cast<uchar>(200 * x / width), 90};
    }
  }
  return picture;
}

struct Header {
  int height, width, components, horizontal, vertical;
  bool progressive;
};

Header ReadHeader(const std::string& jpeg) {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(jpeg.data()),
               jpeg.size());
  jpeg_read_header(&info, TRUE);
  const Header header = {static_cast<int>(info.image_height),
                         static_cast<int>(info.image_width),
                         info.num_components,
                         info.comp_info[0].h_samp_factor,
                         info.comp_info[0].v_samp_factor,
                         info.progressive_mode != 0};
  jpeg_destroy_decompress(&info);
  return header;
}

cv::Mat Decode(const std::string& jpeg) {
  const std::vector<uint8_t> bytes(jpeg.begin(), jpeg.end());
  cv::Mat picture = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  if (picture.channels() == 3) {
    cv::cvtColor(picture, picture, cv::COLOR_BGR2RGB);
  }
  return picture;
}

TEST(JpegEncoderTest, WritesEachKindAsAskedAndReadsBack) {
  const cv::Mat picture = Gradient(45, 70);
  for (const auto& [horizontal, vertical] :
       {std::pair(1, 1), std::pair(2, 1), std::pair(2, 2)}) {
    for (const bool progressive : {false, true}) {
      JpegEncoding encoding;
      encoding.horizontal_subsampling = horizontal;
      encoding.vertical_subsampling = vertical;
      encoding.progressive = progressive;
      ASSERT_OK_AND_ASSIGN(const std::string jpeg,
                           EncodeJpeg(picture, encoding));
      const Header header = ReadHeader(jpeg);
      EXPECT_EQ(header.height, 45);
      EXPECT_EQ(header.width, 70);
      EXPECT_EQ(header.components, 3);
      EXPECT_EQ(header.horizontal, horizontal);
      EXPECT_EQ(header.vertical, vertical);
      EXPECT_EQ(header.progressive, progressive);
      // Quality 90 keeps a gradient within a few levels.
      EXPECT_LT(cv::norm(Decode(jpeg), picture, cv::NORM_INF), 12);
    }
  }
}

TEST(JpegEncoderTest, WritesGreyPicturesWithOneComponent) {
  cv::Mat gray;
  cv::cvtColor(Gradient(33, 17), gray, cv::COLOR_RGB2GRAY);
  ASSERT_OK_AND_ASSIGN(const std::string jpeg, EncodeJpeg(gray, {}));
  EXPECT_EQ(ReadHeader(jpeg).components, 1);
  EXPECT_LT(cv::norm(Decode(jpeg), gray, cv::NORM_INF), 12);
}

TEST(JpegEncoderTest, TakesPartsOfLargerPictures) {
  const cv::Mat picture = Gradient(40, 40);
  const cv::Mat part = picture(cv::Rect(5, 6, 20, 10));
  ASSERT_OK_AND_ASSIGN(const std::string of_part, EncodeJpeg(part, {}));
  ASSERT_OK_AND_ASSIGN(const std::string of_copy, EncodeJpeg(part.clone(), {}));
  EXPECT_EQ(of_part, of_copy);
}

TEST(JpegEncoderTest, LowerQualityMakesSmallerFiles) {
  const cv::Mat picture = Gradient(100, 100);
  JpegEncoding low, high;
  low.quality = 1;
  high.quality = 100;
  ASSERT_OK_AND_ASSIGN(const std::string small, EncodeJpeg(picture, low));
  ASSERT_OK_AND_ASSIGN(const std::string large, EncodeJpeg(picture, high));
  EXPECT_LT(small.size(), large.size());
}

TEST(JpegEncoderTest, RefusesOtherPictures) {
  for (const cv::Mat& picture :
       {cv::Mat(), cv::Mat(4, 4, CV_8UC2), cv::Mat(4, 4, CV_8UC4),
        cv::Mat(4, 4, CV_32FC3), cv::Mat(1, 65501, CV_8UC1)}) {
    EXPECT_THAT(EncodeJpeg(picture, {}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("1 or 3 channels of bytes")));
  }
}

TEST(JpegEncoderTest, RefusesOtherEncodings) {
  const cv::Mat picture = Gradient(8, 8);
  for (const int quality : {-1, 0, 101}) {
    JpegEncoding encoding;
    encoding.quality = quality;
    EXPECT_THAT(EncodeJpeg(picture, encoding),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("quality is in [1, 100]")));
  }
  for (const int factor : {0, 3, 4}) {
    JpegEncoding encoding;
    encoding.vertical_subsampling = factor;
    EXPECT_THAT(EncodeJpeg(picture, encoding),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("subsampling is 1 or 2")));
  }
}

}  // namespace
}  // namespace millrace::tools
