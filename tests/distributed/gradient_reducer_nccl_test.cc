// The device reducer on a GPU. Skipped, or failed with MILLRACE_REQUIRE_GPU=1,
// where there is none.

#include <cuda_runtime.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "distributed/communicator_local.h"
#include "distributed/gradient_reducer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

int DeviceCount() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

// Floats in device memory.
class DeviceFloats {
 public:
  explicit DeviceFloats(const std::vector<float>& values)
      : count_(values.size()) {
    EXPECT_EQ(cudaMalloc(&data_, count_ * sizeof(float)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data_, values.data(), count_ * sizeof(float),
                         cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  ~DeviceFloats() { cudaFree(data_); }
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;

  void* data() const { return data_; }
  std::vector<float> Read() const {
    std::vector<float> values(count_);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, count_ * sizeof(float),
                         cudaMemcpyDeviceToHost),
              cudaSuccess);
    return values;
  }

 private:
  size_t count_;
  void* data_ = nullptr;
};

class DeviceGradientReducerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (DeviceCount() > 0) return;
    const char* required = std::getenv("MILLRACE_REQUIRE_GPU");
    if (required != nullptr && std::string(required) == "1") {
      FAIL() << "MILLRACE_REQUIRE_GPU=1, and there is no CUDA device";
    }
    GTEST_SKIP() << "no CUDA device";
  }
};

TEST_F(DeviceGradientReducerTest, AveragesOnOneRank) {
  const std::unique_ptr<Communicator> comm = MakeLocalCommunicator();
  std::vector<GradientSpec> specs;
  for (const int64_t elements : {1000, 3, 5000}) {
    specs.push_back(
        {absl::StrCat("p", specs.size()), DType::kFloat32, elements});
  }
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<GradientReducer> reducer,
                       MakeDeviceGradientReducer(
                           comm.get(), 0, specs,
                           {.bucket_bytes = 4096, .first_bucket_bytes = 64}));
  const DeviceFloats a(std::vector<float>(1000, 8.0f));
  const DeviceFloats b(std::vector<float>(3, 4.0f));
  const DeviceFloats c(std::vector<float>(5000, 2.0f));
  ASSERT_OK(reducer->StartStep({4.0, 1.5}));
  ASSERT_OK(reducer->MarkReady(2, c.data()));
  ASSERT_OK(reducer->MarkReady(0, a.data()));
  // The second is not marked.
  EXPECT_THAT(reducer->Finish({a.data(), b.data(), c.data()}),
              IsOkAndHolds(ElementsAre(4.0, 1.5)));
  EXPECT_THAT(a.Read(), Each(2.0f));
  EXPECT_THAT(b.Read(), Each(0.0f));
  EXPECT_THAT(c.Read(), Each(0.5f));
  EXPECT_EQ(reducer->last_overlap().total_bytes, (6003 + 2) * 4);
}

TEST_F(DeviceGradientReducerTest, NoSamplesGiveZeros) {
  const std::unique_ptr<Communicator> comm = MakeLocalCommunicator();
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<GradientReducer> reducer,
      MakeDeviceGradientReducer(comm.get(), 0, {{"p", DType::kFloat32, 2}}));
  const DeviceFloats a({1.0f, 2.0f});
  ASSERT_OK(reducer->StartStep({0.0}));
  ASSERT_OK(reducer->MarkReady(0, a.data()));
  ASSERT_OK(reducer->Finish({a.data()}));
  EXPECT_THAT(a.Read(), Each(0.0f));
}

// Needs no GPU: all ranks are told before NCCL starts.
TEST(DeviceGradientReducerCheckTest, MoreRanksThanDevicesAreRefused) {
  const int devices = DeviceCount();
  RunRanks(devices + 1, [&](Communicator& comm) {
    const absl::Status status =
        MakeDeviceGradientReducer(&comm, 0, {{"p", DType::kFloat32, 2}})
            .status();
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kUsage) << status;
    if (devices > 0) {
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(absl::StrCat(devices + 1, " local ranks, ", devices,
                                         " GPU")));
    } else {
      EXPECT_THAT(std::string(status.message()), HasSubstr("reducing on GPUs"));
    }
    EXPECT_OK(comm.Close(absl::Seconds(60)));
  });
}

}  // namespace
}  // namespace millrace::distributed
