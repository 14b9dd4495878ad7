#include "augment/cerr_capture.h"

#include <iostream>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace::augment {
namespace {

TEST(CerrCaptureTest, KeepsWhatThisThreadWrites) {
  testing::internal::CaptureStderr();
  std::string text;
  {
    const CerrCapture capture;
    std::cerr << "line " << 7 << std::endl;
    text = capture.text();
  }
  EXPECT_EQ(text, "line 7\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(CerrCaptureTest, OtherThreadsStillReachStandardError) {
  testing::internal::CaptureStderr();
  {
    const CerrCapture capture;
    std::thread([] { std::cerr << "other" << 1 << '\n'; }).join();
    EXPECT_EQ(capture.text(), "");
  }
  std::cerr << "after\n";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "other1\nafter\n");
}

}  // namespace
}  // namespace millrace::augment
