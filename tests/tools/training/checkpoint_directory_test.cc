#include "tools/training/checkpoint_directory.h"

#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/logging.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::tools::training {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

Checkpoint AtStep(int64_t step) {
  Checkpoint checkpoint;
  checkpoint.loader.batch_size = 1;
  checkpoint.loader.step = step;
  return checkpoint;
}

class CheckpointDirectoryTest : public testing::Test {
 protected:
  CheckpointDirectoryTest() {
    SetLogSink([this](absl::string_view line) { log_ += std::string(line); });
  }
  ~CheckpointDirectoryTest() override { SetLogSink(nullptr); }

  CheckpointDirectory Open(int keep = 3) {
    auto directory = CheckpointDirectory::Open(dir_.Join("a/b"), keep);
    EXPECT_OK(directory);
    return *directory;
  }

  std::string Path(const std::string& name) { return dir_.Join("a/b/" + name); }

  // The step of the newest checkpoint, or -1.
  int64_t NewestStep() {
    auto loaded = Open().LoadNewest();
    EXPECT_OK(loaded);
    return loaded->has_value() ? (*loaded)->checkpoint.loader.step : -1;
  }

  TempDir dir_;
  std::string log_;
};

TEST_F(CheckpointDirectoryTest, IsEmptyAtFirst) {
  EXPECT_THAT(Open().List(), IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(NewestStep(), -1);
  EXPECT_EQ(log_, "");
}

TEST_F(CheckpointDirectoryTest, KeepsTheNewest) {
  CheckpointDirectory directory = Open(/*keep=*/2);
  for (const int64_t step : {5, 99, 100, 1000000}) {
    EXPECT_OK(directory.Save(step, AtStep(step)));
  }
  EXPECT_THAT(directory.List(),
              IsOkAndHolds(ElementsAre(Path("step-000001000000.ckpt"),
                                       Path("step-000000000100.ckpt"))));
  EXPECT_EQ(NewestStep(), 1000000);
}

TEST_F(CheckpointDirectoryTest, SavesTheSameStepAgain) {
  CheckpointDirectory directory = Open();
  EXPECT_OK(directory.Save(5, AtStep(1)));
  EXPECT_THAT(directory.Save(5, AtStep(2)),
              IsOkAndHolds(Path("step-000000000005.ckpt")));
  EXPECT_EQ(NewestStep(), 2);
}

TEST_F(CheckpointDirectoryTest, GoesBackToTheNewestWholeOneAndNamesTheRest) {
  CheckpointDirectory directory = Open();
  EXPECT_OK(directory.Save(1, AtStep(1)));
  EXPECT_OK(directory.Save(2, AtStep(2)));
  EXPECT_OK(directory.Save(3, AtStep(3)));
  // What a kill leaves while writing, a file cut short, a flipped bit.
  dir_.Write("a/b/step-000000000004.ckpt.tmp", "MRCKPT01");
  std::filesystem::resize_file(Path("step-000000000003.ckpt"), 100);
  std::string bytes = ReadFileOrDie(Path("step-000000000002.ckpt"));
  bytes[40] ^= 1;
  dir_.Write("a/b/step-000000000002.ckpt", bytes);
  EXPECT_EQ(NewestStep(), 1);
  EXPECT_THAT(
      log_,
      AllOf(HasSubstr("warning: skipped checkpoint " +
                      Path("step-000000000004.ckpt.tmp")),
            HasSubstr("checkpoint " + Path("step-000000000003.ckpt") + ": "),
            HasSubstr("checkpoint " + Path("step-000000000002.ckpt") + ": ")));
}

TEST_F(CheckpointDirectoryTest, SavingRemovesWhatWasNeverFinished) {
  CheckpointDirectory directory = Open();
  dir_.Write("a/b/step-000000000004.ckpt.tmp", "MRCKPT01");
  dir_.Write("a/b/notes.txt", "mine");
  EXPECT_OK(directory.Save(5, AtStep(5)));
  EXPECT_FALSE(std::filesystem::exists(Path("step-000000000004.ckpt.tmp")));
  EXPECT_TRUE(std::filesystem::exists(Path("notes.txt")));
  EXPECT_EQ(NewestStep(), 5);
  EXPECT_EQ(log_, "");
}

TEST_F(CheckpointDirectoryTest, FailsWithTheStorageCode) {
  dir_.Write("file", "x");
  const auto opened = CheckpointDirectory::Open(dir_.Join("file/below"), 3);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(ExitCodeOf(opened.status()), ExitCode::kStorage);
  EXPECT_THAT(std::string(opened.status().message()),
              HasSubstr(dir_.Join("file/below")));
}

TEST_F(CheckpointDirectoryTest, ReportsANamedFile) {
  EXPECT_THAT(LoadCheckpoint(dir_.Join("none.ckpt")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.ckpt")));
  const std::string path = dir_.Write("bad.ckpt", "MRCKPT01 and so on");
  const auto loaded = LoadCheckpoint(path);
  EXPECT_THAT(loaded, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)));
  EXPECT_EQ(ExitCodeOf(loaded.status()), ExitCode::kStorage);
}

}  // namespace
}  // namespace millrace::tools::training
