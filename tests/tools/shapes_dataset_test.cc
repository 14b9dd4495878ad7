#include "tools/shapes_dataset.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tools/shape_picture.h"

namespace millrace::tools {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

ShapesOptions SmallSet(const std::string& out) {
  ShapesOptions options;
  options.out = out;
  options.train_per_class = 2;
  options.val_per_class = 1;
  return options;
}

// Contents of all files below `folder`, by relative path.
std::map<std::string, std::string> Files(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[std::filesystem::relative(entry.path(), folder)] =
        ReadFileOrDie(entry.path());
  }
  return files;
}

TEST(ShapesDatasetTest, WritesClassFoldersForTrainingAndValidation) {
  TempDir dir;
  const std::string out = dir.Join("new/shapes");
  ASSERT_OK(WriteShapesDataset(SmallSet(out)));
  std::set<std::string> expected;
  for (const absl::string_view shape : ShapeClasses()) {
    expected.insert(absl::StrCat("train/", shape, "/0000.jpg"));
    expected.insert(absl::StrCat("train/", shape, "/0001.jpg"));
    expected.insert(absl::StrCat("val/", shape, "/0000.jpg"));
  }
  std::set<std::string> written;
  for (const auto& [name, contents] : Files(out)) written.insert(name);
  EXPECT_EQ(written, expected);
}

TEST(ShapesDatasetTest, EqualSeedsGiveEqualFiles) {
  TempDir dir;
  ShapesOptions options = SmallSet(dir.Join("a"));
  ASSERT_OK(WriteShapesDataset(options));
  options.out = dir.Join("b");
  ASSERT_OK(WriteShapesDataset(options));
  EXPECT_EQ(Files(dir.Join("a")), Files(dir.Join("b")));
  options.out = dir.Join("c");
  options.seed = 2;
  ASSERT_OK(WriteShapesDataset(options));
  EXPECT_NE(Files(dir.Join("a")), Files(dir.Join("c")));
}

TEST(ShapesDatasetTest, NoTwoPicturesAreTheSame) {
  TempDir dir;
  ASSERT_OK(WriteShapesDataset(SmallSet(dir.Join("a"))));
  std::set<std::string> contents;
  for (const auto& [name, bytes] : Files(dir.Join("a"))) contents.insert(bytes);
  EXPECT_THAT(contents, SizeIs(30));
}

TEST(ShapesDatasetTest, ALargerSetHoldsTheSmallerOne) {
  TempDir dir;
  ASSERT_OK(WriteShapesDataset(SmallSet(dir.Join("small"))));
  ShapesOptions options = SmallSet(dir.Join("large"));
  options.train_per_class = 4;
  options.val_per_class = 3;
  ASSERT_OK(WriteShapesDataset(options));
  const std::map<std::string, std::string> large = Files(dir.Join("large"));
  EXPECT_THAT(large, SizeIs(70));
  for (const auto& [name, bytes] : Files(dir.Join("small"))) {
    ASSERT_TRUE(large.contains(name));
    EXPECT_EQ(large.at(name), bytes) << name;
  }
}

// The frame header: kind of frame, and the first component's sampling factors.
struct Kind {
  bool progressive;
  int components;
  int sampling;

  auto operator<=>(const Kind&) const = default;
};

Kind KindOf(const std::string& jpeg) {
  size_t at = 2;
  const auto byte = [&jpeg](size_t i) {
    return static_cast<unsigned char>(jpeg.at(i));
  };
  while (byte(at + 1) != 0xC0 && byte(at + 1) != 0xC2) {
    at += 2 + (byte(at + 2) << 8) + byte(at + 3);
  }
  return {byte(at + 1) == 0xC2, byte(at + 9), byte(at + 11)};
}

TEST(ShapesDatasetTest, FilesAreOfManyKinds) {
  std::map<Kind, int> kinds;
  for (int number = 0; number < 400; ++number) {
    ASSERT_OK_AND_ASSIGN(
        const std::string jpeg,
        ShapeJpeg({}, ShapesPart::kTrain, number % 10, number));
    ++kinds[KindOf(jpeg)];
  }
  // Colour 4:4:4, 4:2:2 and 4:2:0 and grey, each also progressive.
  for (const bool progressive : {false, true}) {
    EXPECT_GE((kinds[{progressive, 3, 0x11}]), 10);
    EXPECT_GE((kinds[{progressive, 3, 0x21}]), 10);
    EXPECT_GE((kinds[{progressive, 3, 0x22}]), 10);
    EXPECT_GE((kinds[{progressive, 1, 0x11}]), 1);
  }
  EXPECT_THAT(kinds, SizeIs(8));
}

TEST(ShapesDatasetTest, RefusesAFolderThatIsNotEmptyUnlessForced) {
  TempDir dir;
  dir.Write("out/notes.txt", "mine");
  dir.Write("out/train/arrow/0000.jpg", "old");
  ShapesOptions options = SmallSet(dir.Join("out"));
  EXPECT_THAT(WriteShapesDataset(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("out is not empty")));
  EXPECT_THAT(Files(options.out), SizeIs(2));
  options.force = true;
  ASSERT_OK(WriteShapesDataset(options));
  std::map<std::string, std::string> files = Files(options.out);
  EXPECT_THAT(files, SizeIs(31));
  EXPECT_EQ(files["notes.txt"], "mine");
  EXPECT_NE(files["train/arrow/0000.jpg"], "old");
}

TEST(ShapesDatasetTest, TakesAnEmptyFolder) {
  TempDir dir;
  std::filesystem::create_directory(dir.Join("out"));
  EXPECT_OK(WriteShapesDataset(SmallSet(dir.Join("out"))));
}

TEST(ShapesDatasetTest, SaysWhichFolderCannotBeMade) {
  TempDir dir;
  dir.Write("file", "");
  EXPECT_THAT(
      WriteShapesDataset(SmallSet(dir.Join("file/out"))),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("making folder")));
}

TEST(ShapesDatasetTest, SaysWhichFileCannotBeWritten) {
  TempDir dir;
  std::filesystem::create_directories(dir.Join("out/val/ring/0000.jpg"));
  ShapesOptions options = SmallSet(dir.Join("out"));
  options.force = true;
  EXPECT_THAT(WriteShapesDataset(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("val/ring/0000.jpg: Is a directory")));
}

TEST(ShapesOptionsTest, ValidateNamesFieldAndValue) {
  ShapesOptions options;
  EXPECT_THAT(options.Validate(), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("--out is required")));
  // Assigned as a string: GCC 12 warns of an overlap in assignment from "x".
  options.out = std::string("x");
  EXPECT_OK(options.Validate());
  options.train_per_class = -1;
  EXPECT_THAT(options.Validate(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--train_per_class is in [0, 1000000]")));
  options.train_per_class = 0;
  options.val_per_class = 1000001;
  EXPECT_THAT(options.Validate(), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("not 1000001")));
  options.val_per_class = 1000000;
  for (const int quality : {0, 101}) {
    options.quality = quality;
    EXPECT_THAT(options.Validate(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("--quality is in [1, 100]")));
  }
  options.quality = 100;
  EXPECT_OK(options.Validate());
}

}  // namespace
}  // namespace millrace::tools
