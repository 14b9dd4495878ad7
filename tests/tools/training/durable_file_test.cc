#include "tools/training/durable_file.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::tools::training {
namespace {

using testing::HasSubstr;

TEST(DurableFileTest, WritesAndReplacesWholeFiles) {
  const TempDir dir;
  const std::string path = dir.Join("f");
  for (const std::string& bytes :
       {std::string(3 << 20, 'x'), std::string("a\0b", 3), std::string()}) {
    EXPECT_OK(WriteFileDurably(path, bytes));
    EXPECT_THAT(ReadWholeFile(path), IsOkAndHolds(bytes));
    EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
  }
}

TEST(DurableFileTest, WritesOverWhatAKillLeft) {
  const TempDir dir;
  dir.Write("f.tmp", "unfinished, and longer than what follows");
  EXPECT_OK(WriteFileDurably(dir.Join("f"), "new"));
  EXPECT_THAT(ReadWholeFile(dir.Join("f")), IsOkAndHolds("new"));
}

TEST(DurableFileTest, LeavesTheOldFileWhenItFails) {
  const TempDir dir;
  // A folder where the new file should go: renaming fails.
  dir.Write("f/inside", "old");
  const absl::Status status = WriteFileDurably(dir.Join("f"), "new");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kStorage);
  EXPECT_THAT(ReadWholeFile(dir.Join("f/inside")), IsOkAndHolds("old"));
  EXPECT_FALSE(std::filesystem::exists(dir.Join("f.tmp")));
}

TEST(DurableFileTest, FullDiskIsAStorageError) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const TempDir dir;
  std::filesystem::create_symlink("/dev/full", dir.Join("f.tmp"));
  const absl::Status status = WriteFileDurably(dir.Join("f"), "new");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr(dir.Join("f"))));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kStorage);
}

TEST(DurableFileTest, NamesTheFileThatIsNotThere) {
  const TempDir dir;
  EXPECT_THAT(ReadWholeFile(dir.Join("none")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
  EXPECT_THAT(WriteFileDurably(dir.Join("no/folder"), "x"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no/folder")));
}

}  // namespace
}  // namespace millrace::tools::training
