#include "tools/training/line_file.h"

#include <string>
#include <utility>

#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::tools::training {
namespace {

using testing::HasSubstr;

TEST(LineFileTest, LinesAreThereWhileItIsOpen) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(LineFile file, LineFile::Create(dir.Join("f")));
  EXPECT_OK(file.Append("one"));
  EXPECT_EQ(ReadFileOrDie(dir.Join("f")), "one\n");
  LineFile moved = std::move(file);
  EXPECT_OK(moved.Append(""));
  EXPECT_EQ(ReadFileOrDie(dir.Join("f")), "one\n\n");
}

TEST(LineFileTest, CreatingEmptiesTheFile) {
  const TempDir dir;
  dir.Write("f", "old\n");
  ASSERT_OK_AND_ASSIGN(LineFile file, LineFile::Create(dir.Join("f")));
  EXPECT_EQ(ReadFileOrDie(dir.Join("f")), "");
}

TEST(LineFileTest, ContinuingKeepsLinesUpToTheFirstUnwantedOne) {
  const TempDir dir;
  dir.Write("f", "a1\na2\nb1\na3\n");
  ASSERT_OK_AND_ASSIGN(
      LineFile file,
      LineFile::Continue(dir.Join("f"), [](absl::string_view line) {
        return line[0] == 'a';
      }));
  EXPECT_OK(file.Append("c"));
  EXPECT_EQ(ReadFileOrDie(dir.Join("f")), "a1\na2\nc\n");
}

TEST(LineFileTest, ContinuingDropsALineWithoutItsEnd) {
  const TempDir dir;
  dir.Write("f", "a1\na2");
  ASSERT_OK_AND_ASSIGN(LineFile file,
                       LineFile::Continue(dir.Join("f"), [](absl::string_view) {
                         return true;
                       }));
  EXPECT_OK(file.Append("c"));
  EXPECT_EQ(ReadFileOrDie(dir.Join("f")), "a1\nc\n");
}

TEST(LineFileTest, ContinuingMakesAFileThatIsNotThere) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(LineFile file,
                       LineFile::Continue(dir.Join("f"), [](absl::string_view) {
                         return true;
                       }));
  EXPECT_EQ(ReadFileOrDie(dir.Join("f")), "");
}

TEST(LineFileTest, BadPathIsAUsageError) {
  const TempDir dir;
  for (const std::string& path : {dir.path(), dir.Join("no/folder")}) {
    const auto file = LineFile::Create(path);
    ASSERT_FALSE(file.ok());
    EXPECT_THAT(std::string(file.status().message()), HasSubstr(path));
    EXPECT_EQ(ExitCodeOf(file.status()), ExitCode::kUsage);
  }
}

TEST(LineFileTest, FullDiskIsAStorageError) {
  auto file = LineFile::Create("/dev/full");
  if (!file.ok()) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(ExitCodeOf(file->Append("x")), ExitCode::kStorage);
}

}  // namespace
}  // namespace millrace::tools::training
