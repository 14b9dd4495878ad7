#include "storage/file_reader.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/dataset.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::storage {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

// Lowers the limit of open files to what is open and `more`, for a scope.
class FewFiles {
 public:
  explicit FewFiles(int more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = dup(STDIN_FILENO);  // The lowest that is free.
    close(next);
    rlimit lower = before_;
    lower.rlim_cur = static_cast<rlim_t>(next + more);
    setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

TEST(ReadFileTest, GivesTheWholeFile) {
  const TempDir dir;
  std::string contents(3 << 20, 'x');
  contents[0] = '\0';
  contents.back() = '\xFF';
  const std::string path = dir.Write("a.jpg", contents);
  Sample sample;
  ASSERT_OK_AND_ASSIGN(const absl::string_view bytes,
                       ReadFile(path.c_str(), &sample));
  EXPECT_EQ(bytes, contents);
}

TEST(ReadFileTest, FollowsLinks) {
  const TempDir dir;
  const std::string path = dir.Write("a.jpg", "image");
  ASSERT_EQ(symlink(path.c_str(), dir.Join("b.jpg").c_str()), 0);
  Sample sample;
  EXPECT_THAT(ReadFile(dir.Join("b.jpg").c_str(), &sample),
              IsOkAndHolds("image"));
}

TEST(ReadFileTest, AnEmptyFileIsNoBytes) {
  const TempDir dir;
  const std::string path = dir.Write("a.jpg", "");
  Sample sample;
  EXPECT_THAT(ReadFile(path.c_str(), &sample), IsOkAndHolds(""));
}

TEST(ReadFileTest, NamesAMissingFileInEscapedForm) {
  const TempDir dir;
  Sample sample;
  const auto result = ReadFile(dir.Join("no\n\xFF.jpg").c_str(), &sample);
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr("/no\\x0A\\xFF.jpg: No such file")));
  EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kData);
}

TEST(ReadFileTest, RefusesWhatIsNoRegularFileWithoutWaiting) {
  const TempDir dir;
  const std::string pipe = dir.Join("pipe.jpg");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Sample sample;
  EXPECT_THAT(
      ReadFile(pipe.c_str(), &sample),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("pipe.jpg"), HasSubstr("is a pipe, socket"))));
  EXPECT_THAT(ReadFile("/dev/zero", &sample),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("/dev/zero")));
  EXPECT_THAT(
      ReadFile(dir.path().c_str(), &sample),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("is a directory")));
  const std::string socket = dir.Join("socket.jpg");
  ASSERT_EQ(mknod(socket.c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_THAT(ReadFile(socket.c_str(), &sample),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("socket.jpg")));
}

TEST(ReadFileTest, RefusesFilesThatNoDecoderTakesBeforeReadingThem) {
  const TempDir dir;
  const std::string path = dir.Write("a.jpg", "");
  ASSERT_EQ(truncate(path.c_str(), kMaxFileBytes + 1), 0);
  Sample sample;
  EXPECT_THAT(ReadFile(path.c_str(), &sample),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("2147483648"), HasSubstr("a.jpg"))));
  EXPECT_EQ(sample.scratch_capacity(), 0);
}

TEST(ReadFileTest, RefusesAFileShorterThanItsSize) {
  // Files of sysfs claim a page and hold less.
  const std::string path = "/sys/kernel/uevent_seqnum";
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || info.st_size < 1000) {
    GTEST_SKIP() << "no sysfs here";
  }
  Sample sample;
  EXPECT_THAT(ReadFile(path.c_str(), &sample),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("became shorter"), HasSubstr(path))));
}

TEST(ReadFileTest, ALinkToItselfOrATooLongNameIsADataError) {
  const TempDir dir;
  const std::string loop = dir.Join("loop.jpg");
  ASSERT_EQ(symlink(loop.c_str(), loop.c_str()), 0);
  Sample sample;
  for (const std::string& path : {loop, dir.Join(std::string(256, 'n'))}) {
    const auto result = ReadFile(path.c_str(), &sample);
    EXPECT_THAT(result, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)));
    EXPECT_EQ(ExitCodeOf(result.status()), ExitCode::kData);
  }
}

TEST(ReadFileTest, NamesTheLimitOfOpenFiles) {
  const TempDir dir;
  const std::string path = dir.Write("a.jpg", "image");
  Sample sample;
  absl::Status status;
  {
    const FewFiles limit(0);
    status = ReadFile(path.c_str(), &sample).status();
  }
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("a.jpg"), HasSubstr("the limit is "))));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kResource);
}

TEST(ReadFileTest, LeavesNoFileOpen) {
  const TempDir dir;
  const std::string path = dir.Write("a.jpg", "image");
  const std::string pipe = dir.Join("pipe.jpg");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Sample sample;
  std::vector<absl::Status> good, bad;
  {
    // Looked at later: sanitizers open files of their own.
    const FewFiles limit(1);
    for (int i = 0; i < 20; ++i) {
      good.push_back(ReadFile(path.c_str(), &sample).status());
      bad.push_back(ReadFile(pipe.c_str(), &sample).status());
    }
  }
  EXPECT_THAT(good, Each(IsOk()));
  EXPECT_THAT(bad, Each(StatusIs(absl::StatusCode::kDataLoss)));
}

}  // namespace
}  // namespace millrace::storage
