// The device reducer of a build without CUDA.

#include <memory>

#include "base/exit_code.h"
#include "distributed/communicator_local.h"
#include "distributed/gradient_reducer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

TEST(DeviceGradientReducerStubTest, NamesTheFlagToBuildWith) {
  const std::unique_ptr<Communicator> comm = MakeLocalCommunicator();
  const absl::Status status =
      MakeDeviceGradientReducer(comm.get(), 0, {}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnimplemented,
                               testing::HasSubstr("--config=cuda")));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kUsage);
}

}  // namespace
}  // namespace millrace::distributed
