#include "base/logging.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class LoggingTest : public testing::Test {
 protected:
  LoggingTest() {
    SetLogSink([this](absl::string_view line) { lines_.emplace_back(line); });
  }
  ~LoggingTest() override {
    SetLogSink(nullptr);
    SetLogRank(0, 1);
    SetMinLogSeverity(LogSeverity::kInfo);
  }

  std::vector<std::string> lines_;
};

TEST_F(LoggingTest, NamesTheSeverityUnlessItIsInfo) {
  MILLRACE_LOG(kInfo) << "10 classes";
  MILLRACE_LOG(kWarning) << "cpus allowed: " << 1 << ", workers: " << 8;
  MILLRACE_LOG(kError) << "no such file";
  EXPECT_THAT(lines_, ElementsAre("10 classes\n",
                                  "warning: cpus allowed: 1, workers: 8\n",
                                  "error: no such file\n"));
}

TEST_F(LoggingTest, NamesTheRankOnlyWhereThereAreSeveral) {
  SetLogRank(0, 1);
  MILLRACE_LOG(kInfo) << "alone";
  SetLogRank(3, 4);
  MILLRACE_LOG(kWarning) << "one of four";
  EXPECT_THAT(lines_,
              ElementsAre("alone\n", "[rank 3] warning: one of four\n"));
}

TEST_F(LoggingTest, DropsLinesBelowTheMinimum) {
  SetMinLogSeverity(LogSeverity::kWarning);
  MILLRACE_LOG(kInfo) << "dropped";
  MILLRACE_LOG(kWarning) << "kept";
  EXPECT_THAT(lines_, ElementsAre("warning: kept\n"));
}

TEST_F(LoggingTest, WritesToStandardErrorWithoutASink) {
  SetLogSink(nullptr);
  testing::internal::CaptureStderr();
  MILLRACE_LOG(kError) << "seen";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: seen\n");
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(LoggingTest, LinesOfThreadsStayWhole) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 100; ++i) {
        MILLRACE_LOG(kInfo) << std::string(50, static_cast<char>('a' + t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_THAT(lines_, SizeIs(400));
  for (const std::string& line : lines_) {
    EXPECT_EQ(line, std::string(50, line[0]) + "\n");
  }
}

TEST(EscapeForMessageTest, KeepsPrintableAsciiAndUtf8) {
  for (const char* text :
       {"", "a/Track 2.0 (Clean).jpg", "\xC3\xA9", "\xE2\x82\xAC",
        "\xF0\x9F\x90\xB4", "\xC2\xA0", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(EscapeForMessage(text), text);
  }
}

TEST(EscapeForMessageTest, EscapesControlCharactersAndBackslash) {
  EXPECT_EQ(EscapeForMessage("a\nb\tc\x7F"), "a\\x0Ab\\x09c\\x7F");
  EXPECT_EQ(EscapeForMessage(absl::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(EscapeForMessage("a\\x0A"), "a\\\\x0A");
  EXPECT_EQ(EscapeForMessage("\x1B[31m"), "\\x1B[31m");
}

// NEL and CSI, which end a line or command a terminal as a C1 character, and
// Unicode's line and paragraph separators.
TEST(EscapeForMessageTest, EscapesControlCharactersBeyondAscii) {
  EXPECT_EQ(EscapeForMessage("a\xC2\x85"), "a\\xC2\\x85");
  EXPECT_EQ(EscapeForMessage("\xC2\x9B[31m"), "\\xC2\\x9B[31m");
  EXPECT_EQ(EscapeForMessage("\xE2\x80\xA8"), "\\xE2\\x80\\xA8");
  EXPECT_EQ(EscapeForMessage("\xE2\x80\xA9"), "\\xE2\\x80\\xA9");
}

TEST(EscapeForMessageTest, EscapesInvalidUtf8ByteByByte) {
  EXPECT_EQ(EscapeForMessage("\xFF"), "\\xFF");
  EXPECT_EQ(EscapeForMessage("\x80"), "\\x80");
  // Cut short, at the end and before another character.
  EXPECT_EQ(EscapeForMessage("\xE2\x82"), "\\xE2\\x82");
  EXPECT_EQ(EscapeForMessage("\xC3z"), "\\xC3z");
  // Overlong, surrogate, above U+10FFFF.
  EXPECT_EQ(EscapeForMessage("\xC0\xAF"), "\\xC0\\xAF");
  EXPECT_EQ(EscapeForMessage("\xE0\x80\xAF"), "\\xE0\\x80\\xAF");
  EXPECT_EQ(EscapeForMessage("\xF0\x80\x80\xAF"), "\\xF0\\x80\\x80\\xAF");
  EXPECT_EQ(EscapeForMessage("\xED\xA0\x80"), "\\xED\\xA0\\x80");
  EXPECT_EQ(EscapeForMessage("\xF4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");
  // A good character after a bad byte is kept.
  EXPECT_EQ(EscapeForMessage("\xE2\xC3\xA9"), "\\xE2\xC3\xA9");
}

}  // namespace
}  // namespace millrace
