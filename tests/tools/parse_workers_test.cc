#include "tools/parse_workers.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::tools {
namespace {

using testing::Eq;
using testing::HasSubstr;

TEST(ParseWorkersTest, AutoIsNoNumber) {
  EXPECT_THAT(ParseWorkers("auto"), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_THAT(ParseWorkers(""), IsOkAndHolds(Eq(std::nullopt)));
}

TEST(ParseWorkersTest, TakesNumbersUpToTheLimit) {
  EXPECT_THAT(ParseWorkers("0"), IsOkAndHolds(Eq(0)));
  EXPECT_THAT(ParseWorkers("7"), IsOkAndHolds(Eq(7)));
  EXPECT_THAT(ParseWorkers("1024"), IsOkAndHolds(Eq(1024)));
}

TEST(ParseWorkersTest, RefusesAnythingElseNamingFlagAndValue) {
  for (const char* text : {"-1", "1025", "many", "2.5", "1e3", "99999999999"}) {
    EXPECT_THAT(ParseWorkers(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::string("--workers=") + text)));
  }
}

}  // namespace
}  // namespace millrace::tools
