#include "tools/training/resume.h"

#include <optional>
#include <string>

#include "base/exit_code.h"
#include "base/logging.h"
#include "distributed/communicator_local.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::tools::training {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ResumeTest : public testing::Test {
 protected:
  ResumeTest() : communicator_(distributed::MakeLocalCommunicator()) {
    SetLogSink([this](absl::string_view line) { log_ += std::string(line); });
    options_.train_data = "t";
    options_.val_data = "v";
  }
  ~ResumeTest() override { SetLogSink(nullptr); }

  CheckpointDirectory Directory() {
    auto directory = CheckpointDirectory::Open(dir_.Join("c"), 3);
    EXPECT_OK(directory);
    return *directory;
  }

  // A checkpoint of a run with options_ and 10 classes.
  Checkpoint Saved(int64_t step) {
    Checkpoint checkpoint;
    checkpoint.loader.batch_size = 1;
    checkpoint.loader.step = step;
    checkpoint.architecture = ArchitectureOf(options_, 10);
    checkpoint.course = options_.Course();
    return checkpoint;
  }

  TempDir dir_;
  TrainOptions options_;
  std::unique_ptr<distributed::Communicator> communicator_;
  std::string log_;
};

TEST_F(ResumeTest, WithoutResumingThereIsNoCheckpoint) {
  ASSERT_OK_AND_ASSIGN(
      const auto none,
      FindCheckpoint(options_, /*directory=*/nullptr, communicator_.get()));
  EXPECT_FALSE(none.has_value());
}

TEST_F(ResumeTest, AutoTakesTheNewestOrBeginsAnew) {
  CheckpointDirectory directory = Directory();
  options_.resume = "auto";
  ASSERT_OK_AND_ASSIGN(const auto none, FindCheckpoint(options_, &directory,
                                                       communicator_.get()));
  EXPECT_FALSE(none.has_value());
  EXPECT_THAT(log_, HasSubstr("beginning anew"));
  ASSERT_OK(directory.Save(4, Saved(4)));
  ASSERT_OK(directory.Save(8, Saved(8)));
  ASSERT_OK_AND_ASSIGN(const auto found, FindCheckpoint(options_, &directory,
                                                        communicator_.get()));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->loader.step, 8);
  EXPECT_THAT(log_, HasSubstr("going on from " +
                              dir_.Join("c/step-000000000008.ckpt")));
}

TEST_F(ResumeTest, ANamedCheckpointIsTaken) {
  CheckpointDirectory directory = Directory();
  ASSERT_OK_AND_ASSIGN(options_.resume, directory.Save(4, Saved(4)));
  ASSERT_OK(directory.Save(8, Saved(8)));
  ASSERT_OK_AND_ASSIGN(const auto found, FindCheckpoint(options_, &directory,
                                                        communicator_.get()));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->loader.step, 4);
  options_.resume = dir_.Join("nowhere");
  EXPECT_THAT(FindCheckpoint(options_, &directory, communicator_.get()),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere")));
}

TEST_F(ResumeTest, ANewRunDoesNotMixWithAnOldOne) {
  CheckpointDirectory directory = Directory();
  ASSERT_OK(directory.Save(4, Saved(4)));
  const auto found = FindCheckpoint(options_, &directory, communicator_.get());
  EXPECT_THAT(found, StatusIs(absl::StatusCode::kFailedPrecondition,
                              AllOf(HasSubstr("step-000000000004.ckpt"),
                                    HasSubstr("--resume=auto"))));
  EXPECT_EQ(ExitCodeOf(found.status()), ExitCode::kUsage);
}

TEST_F(ResumeTest, AllRanksGetRankZeroCheckpoint) {
  CheckpointDirectory directory = Directory();
  options_.resume = "auto";
  ASSERT_OK(directory.Save(4, Saved(4)));
  RunRanks(3, [&](distributed::Communicator& communicator) {
    const auto found = FindCheckpoint(
        options_, communicator.rank() == 0 ? &directory : nullptr,
        &communicator);
    ASSERT_OK(found);
    ASSERT_TRUE(found->has_value());
    EXPECT_EQ((*found)->loader.step, 4);
    EXPECT_OK(communicator.Close(absl::Minutes(1)));
  });
}

TEST_F(ResumeTest, AnotherArchitectureIsRefused) {
  const Checkpoint checkpoint = Saved(4);
  EXPECT_OK(CheckResumable(checkpoint, options_, 10, true));
  EXPECT_EQ(log_, "");
  EXPECT_THAT(CheckResumable(checkpoint, options_, 9, true),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("its classes is 10, this run's 9")));
  options_.norm = Norm::kGroup;
  EXPECT_THAT(CheckResumable(checkpoint, options_, 10, true),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("its norm is batch, this run's group")));
}

TEST_F(ResumeTest, AnotherCourseIsWarnedOf) {
  const Checkpoint checkpoint = Saved(4);
  options_.learning_rate = 0.25;
  EXPECT_OK(CheckResumable(checkpoint, options_, 10, /*warn=*/false));
  EXPECT_EQ(log_, "");
  EXPECT_OK(CheckResumable(checkpoint, options_, 10, /*warn=*/true));
  EXPECT_THAT(log_, AllOf(HasSubstr("warning: --learning_rate=0.25"),
                          HasSubstr("had 0.1")));
}

}  // namespace
}  // namespace millrace::tools::training
