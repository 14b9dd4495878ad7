#include "storage/open_dataset.h"

#include <sys/stat.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::storage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(OpenDatasetTest, APlainPathToAFolderIsAnImageFolder) {
  const TempDir dir;
  dir.Write("set/a/1.jpg", "x");
  ASSERT_OK_AND_ASSIGN(const auto plain, OpenDataset(dir.Join("set")));
  ASSERT_OK_AND_ASSIGN(const auto named,
                       OpenDataset("folder:" + dir.Join("set/")));
  EXPECT_EQ(plain->Describe(), absl::StrCat("folder ", dir.Join("set"),
                                            ": 1 images in 1 classes"));
  EXPECT_EQ(named->Describe(), plain->Describe());
  EXPECT_EQ(named->fingerprint(), plain->fingerprint());
}

TEST(OpenDatasetTest, PassesTheOptionsOfTheKind) {
  const TempDir dir;
  dir.Write("a/1.jpg", "x");
  dir.Write("b/1.txt", "x");
  OpenDatasetOptions options;
  EXPECT_THAT(OpenDataset(dir.path(), options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"b\"")));
  options.folder.allow_empty = true;
  EXPECT_OK(OpenDataset(dir.path(), options));
}

TEST(OpenDatasetTest, AFolderWithAColonInItsPathIsAFolder) {
  const TempDir dir;
  dir.Write("set:1/a/1.jpg", "x");
  EXPECT_OK(OpenDataset(dir.Join("set:1")));
  EXPECT_OK(OpenDataset("folder:" + dir.Join("set:1")));
}

TEST(OpenDatasetTest, NothingThereIsNotFoundWithThePath) {
  const TempDir dir;
  const auto result = OpenDataset(dir.Join("none\n"));
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr(dir.Join("none\\x0A"))));
  EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kData);
  EXPECT_THAT(OpenDataset("folder:" + dir.Join("none")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(OpenDatasetTest, SaysWhatWasFoundAndWhatIsAccepted) {
  const TempDir dir;
  const std::string file = dir.Write("train.tar", "x");
  EXPECT_THAT(OpenDataset(file),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(file), HasSubstr("is a file"),
                             HasSubstr("folder:PATH"))));
  const std::string pipe = dir.Join("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(OpenDataset(pipe), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("is a pipe")));
}

TEST(OpenDatasetTest, NamesTheSchemesWhereOneIsUnknown) {
  const auto result = OpenDataset("s3://bucket/train");
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kInvalidArgument,
                               AllOf(HasSubstr("unknown scheme \"s3\""),
                                     HasSubstr("folder:PATH"))));
  EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kUsage);
}

TEST(OpenDatasetTest, RefusesAnEmptyPath) {
  for (const std::string uri : {"", "folder:"}) {
    EXPECT_THAT(OpenDataset(uri), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("no path")));
  }
}

}  // namespace
}  // namespace millrace::storage
