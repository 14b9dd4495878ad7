// The host reducer over MPI: each rank of an mpi_test() runs this.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distributed/communicator.h"
#include "distributed/gradient_reducer.h"
#include "distributed/world.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

constexpr absl::Duration kLimit = absl::Seconds(60);

// Gradients of many buckets, two of them in several MPI calls each.
const std::vector<int64_t> kElements = {5000000, 3,       1000, 7000000,
                                        64,      1 << 20, 17,   100000};

TEST(GradientReducerRanksTest, AveragesOverMpi) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Communicator> comm, JoinWorld());
  std::vector<GradientSpec> specs;
  for (const int64_t elements : kElements) {
    specs.push_back(
        {absl::StrCat("p", specs.size()), DType::kFloat32, elements});
  }
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<GradientReducer> reducer,
                       MakeHostGradientReducer(comm.get(), specs));
  const int world = comm->size();
  for (int step = 0; step < 3; ++step) {
    ASSERT_OK(reducer->StartStep({static_cast<double>(comm->rank() + 1)}));
    std::vector<std::vector<float>> gradients;
    std::vector<void*> pointers;
    for (size_t i = 0; i < kElements.size(); ++i) {
      // Sums and the average of (rank + 1) * x are exact.
      gradients.emplace_back(kElements[i],
                             static_cast<float>((comm->rank() + 1) *
                                                (static_cast<int>(i) + step)));
      pointers.push_back(gradients.back().data());
    }
    for (int i = static_cast<int>(kElements.size()) - 1; i >= 0; --i) {
      ASSERT_OK(reducer->MarkReady(i, gradients[i].data()));
    }
    ASSERT_OK_AND_ASSIGN(const std::vector<double> sums,
                         reducer->Finish(pointers));
    EXPECT_THAT(sums, testing::ElementsAre(world * (world + 1) / 2.0));
    for (size_t i = 0; i < kElements.size(); ++i) {
      const float expected = static_cast<float>(i + step);
      EXPECT_TRUE(gradients[i] == std::vector<float>(kElements[i], expected))
          << "gradient " << i;
    }
  }
  EXPECT_OK(comm->Close(kLimit));
}

}  // namespace
}  // namespace millrace::distributed
