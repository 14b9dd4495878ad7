#include "tools/training/stop_signal.h"

#include <signal.h>
#include <stdlib.h>

#include "gtest/gtest.h"

namespace millrace::tools::training {
namespace {

using testing::ExitedWithCode;

TEST(StopSignalTest, FirstSignalIsNoted) {
  for (const int signal_number : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          CatchStopSignals();
          const int before = StopSignal();
          raise(signal_number);
          exit(before == 0 && StopSignal() == signal_number ? 77 : 1);
        },
        ExitedWithCode(77), "");
  }
}

TEST(StopSignalTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        CatchStopSignals();
        raise(SIGINT);
        raise(SIGINT);
        exit(77);
      },
      ExitedWithCode(130), "");
  EXPECT_EXIT(
      {
        CatchStopSignals();
        raise(SIGINT);
        raise(SIGTERM);
        exit(77);
      },
      ExitedWithCode(143), "");
}

TEST(StopSignalTest, IgnoredSignalsChangeNothing) {
  EXPECT_EXIT(
      {
        CatchStopSignals();
        raise(SIGINT);
        IgnoreStopSignals();
        raise(SIGTERM);
        raise(SIGINT);
        exit(StopSignal() == SIGINT ? 77 : 1);
      },
      ExitedWithCode(77), "");
}

}  // namespace
}  // namespace millrace::tools::training
