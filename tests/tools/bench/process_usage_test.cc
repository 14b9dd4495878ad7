#include "tools/bench/process_usage.h"

#include <cstdint>
#include <cstring>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::tools {
namespace {

using testing::HasSubstr;

TEST(ProcessUsageTest, ReadsTheProportionalSetSize) {
  EXPECT_THAT(ParseProportionalSetBytes(
                  "55aa-7ffe ---p 00000000 00:00 0      [rollup]\n"
                  "Rss:                1234 kB\n"
                  "Pss:                 568 kB\n"
                  "Pss_Anon:             99 kB\n"),
              IsOkAndHolds(568 * 1024));
}

TEST(ProcessUsageTest, RefusesTextWithoutIt) {
  for (const char* text : {"", "Rss: 1 kB\n", "Pss: kB\n", "Pss: -1 kB\n",
                           "Pss: 1 MB\n", "Pss_Anon: 3 kB\n", "Pss: x kB\n"}) {
    EXPECT_THAT(ParseProportionalSetBytes(text),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("Pss")))
        << text;
  }
}

TEST(ProcessUsageTest, SeesMemoryThatTheProcessTakes) {
  const absl::StatusOr<int64_t> before = ProportionalSetBytes();
  if (!before.ok()) GTEST_SKIP() << before.status();
  constexpr size_t kBytes = 64 << 20;
  const auto memory = std::make_unique<char[]>(kBytes);
  std::memset(memory.get(), 1, kBytes);
  ASSERT_OK_AND_ASSIGN(const int64_t after, ProportionalSetBytes());
  EXPECT_GE(after - *before, int64_t{kBytes} * 9 / 10);
}

TEST(ProcessUsageTest, CpuTimeGrowsWithWork) {
  const absl::Duration start = ProcessCpuTime();
  volatile uint64_t sum = 0;
  while (ProcessCpuTime() == start) {
    for (int i = 0; i < 1000; ++i) sum = sum + i;
  }
  EXPECT_GT(ProcessCpuTime(), start);
}

}  // namespace
}  // namespace millrace::tools
