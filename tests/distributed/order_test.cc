#include "distributed/order.h"

#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "base/torch_random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

std::vector<int64_t> EpochOf(const Sampler& sampler, int64_t epoch) {
  std::vector<int64_t> indices(sampler.size());
  for (int64_t p = 0; p < sampler.size(); ++p) {
    indices[p] = sampler.IndexAt(epoch, p);
  }
  return indices;
}

std::vector<int64_t> Iota(int64_t size) {
  std::vector<int64_t> values(size);
  std::iota(values.begin(), values.end(), int64_t{0});
  return values;
}

class OrderTest : public testing::TestWithParam<Order> {};

INSTANTIATE_TEST_SUITE_P(Orders, OrderTest,
                         testing::Values(Order::kFeistel, Order::kTorch,
                                         Order::kSequential),
                         [](const auto& info) {
                           return std::string(Name(info.param));
                         });

TEST_P(OrderTest, NameAndParseAreInverse) {
  EXPECT_THAT(ParseOrder(Name(GetParam())), IsOkAndHolds(GetParam()));
}

TEST_P(OrderTest, VisitsEachIndexOnceInEveryEpoch) {
  for (const int64_t size : {0, 1, 2, 7, 64, 257, 1009}) {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> sampler,
                         MakeSampler(GetParam(), size, 5));
    ASSERT_EQ(sampler->size(), size);
    for (const int64_t epoch : {0, 1, 2, 1000000}) {
      EXPECT_THAT(EpochOf(*sampler, epoch),
                  UnorderedElementsAreArray(Iota(size)));
    }
  }
}

TEST_P(OrderTest, EpochsCanBeAskedForInAnyOrder) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> sampler,
                       MakeSampler(GetParam(), 50, 3));
  std::vector<std::vector<int64_t>> forwards;
  for (int epoch = 0; epoch < 4; ++epoch) {
    forwards.push_back(EpochOf(*sampler, epoch));
  }
  for (int epoch = 3; epoch >= 0; --epoch) {
    EXPECT_EQ(EpochOf(*sampler, epoch), forwards[epoch]);
  }
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> fresh,
                       MakeSampler(GetParam(), 50, 3));
  EXPECT_EQ(EpochOf(*fresh, 2), forwards[2]);
}

TEST_P(OrderTest, PositionOfIsTheInverseWhereKnown) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> sampler,
                       MakeSampler(GetParam(), 300, 9));
  for (int64_t p = 0; p < 300; ++p) {
    const std::optional<int64_t> position =
        sampler->PositionOf(4, sampler->IndexAt(4, p));
    EXPECT_EQ(position, GetParam() == Order::kTorch
                            ? std::nullopt
                            : std::optional<int64_t>(p));
  }
}

TEST_P(OrderTest, ThreadsSeeOneOrder) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> sampler,
                       MakeSampler(GetParam(), 2000, 1));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> reference,
                       MakeSampler(GetParam(), 2000, 1));
  std::vector<std::vector<int64_t>> expected;
  for (int epoch = 0; epoch < 3; ++epoch) {
    expected.push_back(EpochOf(*reference, epoch));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      // Three epochs at the same time, with room for two.
      for (int i = 0; i < 6; ++i) {
        const int epoch = (i + t) % 3;
        EXPECT_EQ(EpochOf(*sampler, epoch), expected[epoch]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(OrderTest, RefusesANegativeSize) {
  EXPECT_THAT(MakeSampler(GetParam(), -1, 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-1")));
}

TEST(OrdersTest, ShuffledEpochsAndSeedsDiffer) {
  for (const Order order : {Order::kFeistel, Order::kTorch}) {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> a,
                         MakeSampler(order, 100, 1));
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> b,
                         MakeSampler(order, 100, 2));
    EXPECT_NE(EpochOf(*a, 0), EpochOf(*a, 1));
    EXPECT_NE(EpochOf(*a, 0), Iota(100));
    EXPECT_NE(EpochOf(*a, 0), EpochOf(*b, 0));
  }
}

TEST(OrdersTest, FeistelReachesTheEndsOfHugeSets) {
  const int64_t size = std::numeric_limits<int64_t>::max();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> sampler,
                       MakeSampler(Order::kFeistel, size, 1));
  for (const int64_t position : {int64_t{0}, size / 2, size - 1}) {
    const int64_t index = sampler->IndexAt(0, position);
    EXPECT_GE(index, 0);
    EXPECT_LT(index, size);
    EXPECT_EQ(sampler->PositionOf(0, index), position);
  }
}

TEST(OrdersTest, TorchIsRandPermOfSeedPlusEpoch) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> sampler,
                       MakeSampler(Order::kTorch, 10, 0));
  EXPECT_THAT(EpochOf(*sampler, 0), ElementsAre(4, 1, 7, 5, 3, 9, 0, 8, 6, 2));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> of_seed_3,
                       MakeSampler(Order::kTorch, 1000, 3));
  EXPECT_EQ(EpochOf(*of_seed_3, 4), TorchRandPerm(1000, 7));
}

TEST(OrdersTest, SequentialIsNotShuffled) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> sampler,
                       MakeSampler(Order::kSequential, 4, 8));
  EXPECT_THAT(EpochOf(*sampler, 2), ElementsAre(0, 1, 2, 3));
}

TEST(OrdersTest, DescriptionsTellOrdersApart) {
  const auto describe = [](Order order, int64_t size, uint64_t seed) {
    return MakeSampler(order, size, seed).value()->Describe();
  };
  EXPECT_EQ(describe(Order::kFeistel, 10, 7), "feistel(size=10, seed=7)");
  EXPECT_EQ(describe(Order::kTorch, 10, 8), "torch(size=10, seed=8)");
  // The seed changes nothing there.
  EXPECT_EQ(describe(Order::kSequential, 10, 7), "sequential(size=10)");
}

TEST(OrdersTest, ParseNamesTheChoices) {
  EXPECT_THAT(ParseOrder("random"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("random"), HasSubstr("feistel"),
                             HasSubstr("torch"), HasSubstr("sequential"))));
  EXPECT_THAT(ParseOrder(""), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace millrace::distributed
