// Reads real photographs, where there are some: MILLRACE_REAL_DATA names a
// folder that holds sign-digits and imagenet-sample.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/dataset.h"
#include "storage/image_folder.h"
#include "tests/support/status_matchers.h"

namespace millrace::storage {
namespace {

using ::testing::ElementsAre;

// Reads the whole of a set of `images` JPEGs.
void ExpectAllJpegs(const ImageFolder& folder, int64_t images) {
  EXPECT_EQ(folder.size(), images);
  Sample sample;
  for (int64_t i = 0; i < folder.size(); ++i) {
    ASSERT_OK(folder.Read(i, &sample));
    EXPECT_TRUE(absl::StartsWith(sample.fields()[0].bytes, "\xFF\xD8"))
        << folder.Location(i);
  }
  EXPECT_LT(folder.IndexBytes(), 150 * images);
}

TEST(ImageFolderRealDataTest, ReadsSignDigits) {
  const char* data = getenv("MILLRACE_REAL_DATA");
  if (data == nullptr) GTEST_SKIP() << "MILLRACE_REAL_DATA is not set";
  ASSERT_OK_AND_ASSIGN(const auto train, ImageFolder::Open(absl::StrCat(
                                             data, "/sign-digits/train")));
  ASSERT_OK_AND_ASSIGN(const auto val, ImageFolder::Open(absl::StrCat(
                                           data, "/sign-digits/val")));
  EXPECT_THAT(train->class_names(),
              ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"));
  EXPECT_EQ(val->class_names(), train->class_names());
  ExpectAllJpegs(*train, 2062 - val->size());
  ExpectAllJpegs(*val, 2062 - train->size());
}

TEST(ImageFolderRealDataTest, ReadsTheImageNetSample) {
  const char* data = getenv("MILLRACE_REAL_DATA");
  if (data == nullptr) GTEST_SKIP() << "MILLRACE_REAL_DATA is not set";
  ASSERT_OK_AND_ASSIGN(const auto folder, ImageFolder::Open(absl::StrCat(
                                              data, "/imagenet-sample")));
  ExpectAllJpegs(*folder, 1000);
}

}  // namespace
}  // namespace millrace::storage
