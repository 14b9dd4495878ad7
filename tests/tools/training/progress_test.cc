#include "tools/training/progress.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace::tools::training {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class FakeClock : public Clock {
 public:
  absl::Duration Now() const override { return now_; }
  void SleepFor(absl::Duration duration) override { now_ += duration; }

 private:
  absl::Duration now_ = absl::Seconds(1000);
};

class ProgressTest : public testing::Test {
 protected:
  Progress Make(const ProgressOptions& options) {
    return Progress(options, &clock_, [this](absl::string_view text) {
      written_.emplace_back(text);
    });
  }

  // Steps of 32 images that take `duration` and wait for a quarter of it.
  void Step(Progress* progress, int64_t step, absl::Duration duration) {
    clock_.SleepFor(duration);
    progress->Step({.epoch = 1,
                    .epochs = 4,
                    .step = step,
                    .steps = 100,
                    .loss = 1.5,
                    .images = 32,
                    .wait = duration / 4});
  }

  FakeClock clock_;
  std::vector<std::string> written_;
};

TEST_F(ProgressTest, PlainLinesComeAtTheirInterval) {
  Progress progress = Make({.line_interval = absl::Seconds(10)});
  for (int step = 1; step <= 30; ++step) {
    Step(&progress, step, absl::Seconds(1));
  }
  // 270 steps are left after step 30 of epoch 2 of 4.
  EXPECT_THAT(
      written_,
      ElementsAre(
          "epoch 2/4 step 10/100  32 images/s  loss 1.500  wait 25%  ETA "
          "4:50\n",
          "epoch 2/4 step 20/100  32 images/s  loss 1.500  wait 25%  ETA "
          "4:40\n",
          "epoch 2/4 step 30/100  32 images/s  loss 1.500  wait 25%  ETA "
          "4:30\n"));
}

TEST_F(ProgressTest, BarFitsTheTerminal) {
  for (const int width : {20, 60, 80, 200}) {
    written_.clear();
    Progress progress = Make({.terminal = true, .width = width});
    Step(&progress, 50, absl::Seconds(1));
    ASSERT_THAT(written_, SizeIs(1));
    EXPECT_THAT(written_[0], StartsWith("\r\x1b[Kepoch 2/4"));
    EXPECT_LT(written_[0].size(), width + 4u) << written_[0];
  }
  EXPECT_THAT(written_[0],
              EndsWith("[===============>              ]  50%  32 images/s  "
                       "loss 1.500  wait 25%  ETA 4:10"));
}

TEST_F(ProgressTest, ColourIsAnOptionAndCostsNoColumns) {
  Progress plain = Make({.terminal = true, .width = 100});
  Step(&plain, 100, absl::Seconds(1));
  Progress colour = Make({.terminal = true, .colour = true, .width = 100});
  Step(&colour, 100, absl::Seconds(1));
  ASSERT_THAT(written_, SizeIs(2));
  EXPECT_THAT(written_[0], Not(HasSubstr("\x1b[32m")));
  EXPECT_THAT(written_[1],
              AllOf(HasSubstr("[\x1b[32m="), HasSubstr("\x1b[0m]")));
  EXPECT_EQ(written_[1].size(), written_[0].size() + 9);
}

TEST_F(ProgressTest, LinesDisplaceTheBar) {
  Progress progress = Make({.terminal = true});
  progress.Line("before");
  Step(&progress, 1, absl::Seconds(1));
  progress.Line("after");
  progress.Clear();
  ASSERT_THAT(written_, SizeIs(4));
  EXPECT_EQ(written_[0], "before\n");
  EXPECT_EQ(written_[2], "\r\x1b[K");
  EXPECT_EQ(written_[3], "after\n");
}

TEST_F(ProgressTest, PausesDoNotCountAfterARestart) {
  Progress progress = Make({.line_interval = absl::Seconds(10)});
  for (int step = 1; step <= 9; ++step) {
    Step(&progress, step, absl::Seconds(1));
  }
  clock_.SleepFor(absl::Hours(1));
  progress.Restart();
  Step(&progress, 10, absl::Seconds(1));
  EXPECT_THAT(written_, ElementsAre(HasSubstr("32 images/s")));
}

TEST_F(ProgressTest, StepsThatWereLeftOutDoNotSpoilTheLoss) {
  Progress progress = Make({.line_interval = absl::ZeroDuration()});
  Step(&progress, 1, absl::Seconds(1));
  clock_.SleepFor(absl::Seconds(1));
  progress.Step({.epoch = 1,
                 .epochs = 4,
                 .step = 2,
                 .steps = 100,
                 .loss = std::strtod("nan", nullptr),
                 .images = 32});
  EXPECT_THAT(written_.back(), HasSubstr("loss 1.500"));
}

TEST(FormatEtaTest, ShowsHoursWhereThereAreAny) {
  EXPECT_EQ(FormatEta(absl::ZeroDuration()), "0:00");
  EXPECT_EQ(FormatEta(absl::Seconds(83)), "1:23");
  EXPECT_EQ(FormatEta(absl::Seconds(59.6)), "1:00");
  EXPECT_EQ(FormatEta(absl::Seconds(7384)), "2:03:04");
  EXPECT_EQ(FormatEta(absl::InfiniteDuration()), "-:--");
  EXPECT_EQ(FormatEta(-absl::Seconds(1)), "-:--");
}

TEST(ProgressOptionsTest, NoBarWhereOutputIsNoTerminal) {
  // Tests write to a file or a pipe.
  const ProgressOptions options = ProgressOptions::ForStandardOutput();
  EXPECT_FALSE(options.terminal);
  EXPECT_FALSE(options.colour);
}

}  // namespace
}  // namespace millrace::tools::training
