#include "augment/pnm_decoder.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "augment/pnm_header.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/decode_image.h"
#include "tests/support/status_matchers.h"

namespace millrace::augment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<uint8_t> Decoded(const std::string& bytes, int channels = 1) {
  const absl::StatusOr<PixelImage> image = DecodeImage(bytes, channels);
  EXPECT_OK(image);
  return image.ok() ? image->pixels() : std::vector<uint8_t>();
}

TEST(ReadPnmHeaderTest, SkipsSpaceAndComments) {
  ASSERT_OK_AND_ASSIGN(
      const PnmHeader header,
      ReadPnmHeader("P6 # one\n# two\n 12\t# three\r\n34\n255\n..."));
  EXPECT_EQ(header.width, 12);
  EXPECT_EQ(header.height, 34);
  EXPECT_EQ(header.max_value, 255);
  EXPECT_EQ(header.channels, 3);
  EXPECT_EQ(header.data_offset, 35u);
  EXPECT_EQ(header.RowBytes(), 36);
}

TEST(ReadPnmHeaderTest, RefusesWhatIsNoNumber) {
  EXPECT_THAT(ReadPnmHeader("P5 x 3 255\n"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no number")));
  EXPECT_THAT(ReadPnmHeader("P5 3 3 0\n"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("value 0")));
  EXPECT_THAT(ReadPnmHeader("P5 3 3 65536\n"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("65536")));
  for (const char* bytes : {"P5 ", "P5 3", "P5 3 3", "P5 3 3 25", "P5 #"}) {
    EXPECT_THAT(ReadPnmHeader(bytes),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("truncated")));
  }
}

TEST(PnmDecoderTest, ScalesByTheLargestValue) {
  EXPECT_THAT(Decoded("P5 3 1 255\n\1\2\3"), ElementsAre(1, 2, 3));
  EXPECT_THAT(Decoded(std::string("P5 3 1 15\n\0\7\xF", 13)),
              ElementsAre(0, 119, 255));
  EXPECT_THAT(Decoded(std::string("P5 3 1 65535\n\0\x80\x80\0\xFF\xFF", 19)),
              ElementsAre(0, 128, 255));
  EXPECT_THAT(Decoded("P2 4 1 1000 0 7 500 2000"), ElementsAre(0, 2, 128, 255));
}

TEST(PnmDecoderTest, BitsAreOneForBlack) {
  EXPECT_THAT(Decoded(std::string("P4 3 2\n\xA0\x40", 9)),
              ElementsAre(0, 255, 0, 255, 0, 255));
  EXPECT_THAT(Decoded("P1 3 2\n1 0 1\n010"),
              ElementsAre(0, 255, 0, 255, 0, 255));
}

TEST(PnmDecoderTest, RegionIsPartOfTheWholeImage) {
  const std::string gray = "P5 3 3 255\nabcdefghi";
  ASSERT_OK_AND_ASSIGN(const PixelImage part,
                       DecodeImage(gray, 1, Region{1, 1, 2, 2}));
  EXPECT_THAT(part.pixels(), ElementsAre('e', 'f', 'h', 'i'));
  ASSERT_OK_AND_ASSIGN(
      const PixelImage text,
      DecodeImage("P3 2 2 9 9 0 0 0 9 0 0 0 9 9 9 9", 3, Region{1, 0, 1, 1}));
  EXPECT_THAT(text.pixels(), ElementsAre(0, 0, 255));
}

TEST(PnmDecoderTest, MissingSamplesAreTruncation) {
  for (const char* bytes :
       {"P5 3 3 255\nabcdefgh", "P6 1 1 300\nabcde", "P4 9 2\nabc",
        "P2 2 2 9 1 2 3 ", "P1 2 2 101", "P2 2 2 9 1 2 3 x"}) {
    EXPECT_THAT(
        DecodeImage(bytes, 3, Region{0, 0, 1, 1}),
        StatusIs(absl::StatusCode::kDataLoss, HasSubstr("truncated PNM")))
        << bytes;
  }
}

}  // namespace
}  // namespace millrace::augment
