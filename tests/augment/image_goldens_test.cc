// Small files of many kinds, against what Pillow decodes them to: see
// tests/golden/make_image_goldens.py.

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/decode_image.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::augment {
namespace {

struct Golden {
  std::string name;
  int height = 0;
  int width = 0;
  uint32_t rgb_crc = 0;
  uint32_t gray_crc = 0;

  std::string Bytes() const {
    return ReadFileOrDie(absl::StrCat("tests/golden/images/", name));
  }
};

std::vector<Golden> Goldens() {
  std::vector<Golden> goldens;
  const std::string file = ReadFileOrDie("tests/golden/image_goldens.txt");
  for (const absl::string_view line : absl::StrSplit(file, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields{std::string(line)};
    Golden golden;
    fields >> golden.name >> golden.height >> golden.width >> std::hex >>
        golden.rgb_crc >> golden.gray_crc;
    EXPECT_FALSE(fields.fail()) << line;
    goldens.push_back(golden);
  }
  EXPECT_GT(goldens.size(), 50u);
  return goldens;
}

TEST(ImageGoldensTest, ColorIsThatOfPillow) {
  for (const Golden& golden : Goldens()) {
    SCOPED_TRACE(golden.name);
    ASSERT_OK_AND_ASSIGN(PixelImage image, DecodeImage(golden.Bytes()));
    EXPECT_EQ(image.view().height, golden.height);
    EXPECT_EQ(image.view().width, golden.width);
    EXPECT_EQ(image.Crc(), golden.rgb_crc);
  }
}

TEST(ImageGoldensTest, GreyIsThatOfPillow) {
  for (const Golden& golden : Goldens()) {
    SCOPED_TRACE(golden.name);
    ASSERT_OK_AND_ASSIGN(const PixelImage image,
                         DecodeImage(golden.Bytes(), 1));
    EXPECT_EQ(image.Crc(), golden.gray_crc);
  }
}

TEST(ImageGoldensTest, RegionsArePartsOfTheWholeImage) {
  for (const Golden& golden : Goldens()) {
    SCOPED_TRACE(golden.name);
    const std::string bytes = golden.Bytes();
    ASSERT_OK_AND_ASSIGN(PixelImage whole, DecodeImage(bytes));
    const Region region = {golden.height / 3, golden.width / 4,
                           (golden.height + 2) / 3, (golden.width + 1) / 2};
    PixelImage want(region.height, region.width, 3);
    CopyImage(whole.view().Crop(region), want.view());
    ASSERT_OK_AND_ASSIGN(const PixelImage part, DecodeImage(bytes, 3, region));
    EXPECT_EQ(part.pixels(), want.pixels());
  }
}

TEST(ImageGoldensTest, DecodingWritesNothingToStandardError) {
  testing::internal::CaptureStderr();
  for (const Golden& golden : Goldens()) {
    const std::string bytes = golden.Bytes();
    EXPECT_OK(DecodeImage(bytes));
    EXPECT_FALSE(DecodeImage(bytes.substr(0, bytes.size() / 2)).ok())
        << golden.name;
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ImageGoldensTest, CmykOfRedInkIsRed) {
  ASSERT_OK_AND_ASSIGN(
      const PixelImage image,
      DecodeImage(ReadFileOrDie("tests/golden/images/red_cmyk.jpg")));
  EXPECT_NEAR(image.at(8, 8, 0), 255, 3);
  EXPECT_NEAR(image.at(8, 8, 1), 0, 3);
  EXPECT_NEAR(image.at(8, 8, 2), 0, 3);
}

TEST(ImageGoldensTest, SixteenBitsAreRounded) {
  ASSERT_OK_AND_ASSIGN(
      const PixelImage image,
      DecodeImage(ReadFileOrDie("tests/golden/images/gray16.png"), 1));
  EXPECT_THAT(image.pixels(), testing::ElementsAre(0, 0, 1, 1, 16, 128, 255));
}

}  // namespace
}  // namespace millrace::augment
