#include "base/permutation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "base/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace {
namespace {

using testing::ElementsAre;

std::vector<int64_t> Order(const FeistelPermutation& permutation) {
  std::vector<int64_t> order;
  for (int64_t p = 0; p < permutation.size(); ++p) {
    order.push_back(permutation.At(p));
  }
  return order;
}

class FeistelPermutationSizeTest : public testing::TestWithParam<int64_t> {};

TEST_P(FeistelPermutationSizeTest, VisitsEveryElementOnceAndInverts) {
  const int64_t size = GetParam();
  for (const uint64_t tweak : {0, 1}) {
    const FeistelPermutation permutation(size, 1234, tweak);
    ASSERT_EQ(permutation.size(), size);
    std::vector<bool> seen(static_cast<size_t>(size));
    for (int64_t p = 0; p < size; ++p) {
      const int64_t element = permutation.At(p);
      ASSERT_GE(element, 0);
      ASSERT_LT(element, size);
      ASSERT_FALSE(seen[static_cast<size_t>(element)]) << element;
      seen[static_cast<size_t>(element)] = true;
      ASSERT_EQ(permutation.PositionOf(element), p);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FeistelPermutationSizeTest,
                         testing::Values(1, 2, 3, 4, 5, 7, 100, 127, 128, 129,
                                         255, 256, 257, 511, 512, 513, 997,
                                         1023, 1024, 1025, 4096, 10007, 65535,
                                         65536, 65537, 1000000));

TEST(FeistelPermutationTest, InvertsAtSizesUpToTheLargest) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  for (const int64_t size :
       {int64_t{1} << 31, (int64_t{1} << 32) - 1, int64_t{1} << 32,
        (int64_t{1} << 32) + 1, int64_t{1000000000000}, int64_t{1} << 62,
        (int64_t{1} << 62) + 1, kLargest - 1, kLargest}) {
    const FeistelPermutation permutation(size, 5, 6);
    std::vector<int64_t> positions = {0, 1, 2, size / 2, size - 2, size - 1};
    PhiloxGenerator generator(1, 0, 0);
    for (int i = 0; i < 1000; ++i) {
      positions.push_back(
          static_cast<int64_t>(generator.NextU64() % uint64_t(size)));
    }
    for (const int64_t position : positions) {
      const int64_t element = permutation.At(position);
      ASSERT_GE(element, 0);
      ASSERT_LT(element, size);
      ASSERT_EQ(permutation.PositionOf(element), position) << size;
    }
  }
}

// Values of an independent program that follows the header's definition. They
// are part of what a checkpoint promises and never change.
TEST(FeistelPermutationTest, KeepsItsOrders) {
  EXPECT_THAT(Order(FeistelPermutation(10, 0, 0)),
              ElementsAre(8, 6, 7, 0, 5, 4, 1, 3, 9, 2));
  EXPECT_THAT(Order(FeistelPermutation(10, 0, 1)),
              ElementsAre(9, 1, 0, 6, 2, 5, 3, 4, 8, 7));
  EXPECT_THAT(Order(FeistelPermutation(10, 1, 0)),
              ElementsAre(1, 3, 6, 0, 7, 9, 5, 8, 4, 2));
  const FeistelPermutation odd(257, 7, 3);
  EXPECT_EQ(odd.At(0), 27);
  EXPECT_EQ(odd.At(9), 111);
  const FeistelPermutation imagenet(1281167, 42, 89);
  EXPECT_EQ(imagenet.At(0), 120741);
  EXPECT_EQ(imagenet.At(1), 541407);
  EXPECT_EQ(imagenet.At(1281166), 737055);
  const FeistelPermutation largest(std::numeric_limits<int64_t>::max(),
                                   0xFFFFFFFFFFFFFFFF, 0x123456789ABCDEF0);
  EXPECT_EQ(largest.At(0), 1966177023111899773);
  EXPECT_EQ(largest.At(1), 7271643624163215108);
  EXPECT_EQ(largest.At(int64_t{1} << 62), 8486014514527235204);
}

TEST(FeistelPermutationTest, EachBitOfKeyAndTweakMakesAnotherOrder) {
  std::set<std::vector<int64_t>> orders;
  orders.insert(Order(FeistelPermutation(1000, 0, 0)));
  for (int bit = 0; bit < 64; ++bit) {
    orders.insert(Order(FeistelPermutation(1000, uint64_t{1} << bit, 0)));
    orders.insert(Order(FeistelPermutation(1000, 0, uint64_t{1} << bit)));
  }
  EXPECT_EQ(orders.size(), 129u);
}

// Two random orders of any size agree at one position on average.
TEST(FeistelPermutationTest, OrdersOfNeighbouringTweaksAgreeAsRandomOnesDo) {
  for (const int64_t size : {10, 256, 1000}) {
    int64_t agreements = 0;
    std::vector<int64_t> previous = Order(FeistelPermutation(size, 3, 0));
    for (uint64_t tweak = 1; tweak <= 400; ++tweak) {
      std::vector<int64_t> order = Order(FeistelPermutation(size, 3, tweak));
      for (size_t p = 0; p < order.size(); ++p) {
        agreements += order[p] == previous[p] ? 1 : 0;
      }
      previous = std::move(order);
    }
    // A sum of 400 numbers of mean 1 and variance 1: 400 with deviation 20.
    EXPECT_NEAR(agreements, 400, 100) << size;
  }
}

// Over many keys, each element is equally often at each position.
TEST(FeistelPermutationTest, ElementsFallEvenlyOnPositions) {
  for (const int64_t size : {2, 3, 10, 16, 100}) {
    constexpr int kKeysPerCell = 100;
    const int keys = kKeysPerCell * static_cast<int>(size);
    std::vector<int> counts(static_cast<size_t>(size * size));
    for (int key = 0; key < keys; ++key) {
      const FeistelPermutation permutation(size, 77,
                                           static_cast<uint64_t>(key));
      for (int64_t p = 0; p < size; ++p) {
        ++counts[static_cast<size_t>(p * size + permutation.At(p))];
      }
    }
    double chi_square = 0;
    for (const int count : counts) {
      chi_square += std::pow(count - kKeysPerCell, 2) / kKeysPerCell;
    }
    // Rows and columns have fixed sums: (size - 1)^2 degrees of freedom, and
    // the mean of the statistic is size * (size - 1).
    const double freedom = std::pow(size - 1, 2);
    const double mean = static_cast<double>(size * (size - 1));
    EXPECT_LT(chi_square, mean + 5 * std::sqrt(2 * freedom) + 5) << size;
    if (size >= 10) {
      EXPECT_GT(chi_square, freedom - 5 * std::sqrt(2 * freedom)) << size;
    }
  }
}

TEST(FeistelPermutationTest, AllOrdersOfAFewElementsAreEquallyLikely) {
  std::map<std::vector<int64_t>, int> counts;
  constexpr int kOrders = 24, kExpected = 500;
  for (uint64_t tweak = 0; tweak < kOrders * kExpected; ++tweak) {
    ++counts[Order(FeistelPermutation(4, 1, tweak))];
  }
  ASSERT_EQ(counts.size(), size_t{kOrders});
  double chi_square = 0;
  for (const auto& [order, count] : counts) {
    chi_square += std::pow(count - kExpected, 2) / kExpected;
  }
  // 23 degrees of freedom: mean 23, deviation 6.8.
  EXPECT_LT(chi_square, 23 + 5 * 6.8);
}

// A weak cipher shows in the steps from one position to the next.
TEST(FeistelPermutationTest, StepsBetweenNeighboursAreUniform) {
  for (const int64_t size : {10000, 1000000}) {
    constexpr int kBins = 50;
    const FeistelPermutation permutation(size, 11, 12);
    std::vector<int> counts(kBins);
    for (int64_t p = 0; p + 1 < size; ++p) {
      const int64_t step =
          (permutation.At(p + 1) - permutation.At(p) + size) % size;
      ++counts[static_cast<size_t>(step * kBins / size)];
    }
    double chi_square = 0;
    const double expected = static_cast<double>(size - 1) / kBins;
    for (const int count : counts) {
      chi_square += std::pow(count - expected, 2) / expected;
    }
    // 49 degrees of freedom: mean 49, deviation 9.9.
    EXPECT_LT(chi_square, 49 + 5 * 9.9) << size;
  }
}

// A set written in class order: batches hold as many classes as those of a true
// permutation, 47.4 of 100 on average.
TEST(FeistelPermutationTest, LeavesNoClumpsOfClasses) {
  constexpr int64_t kClasses = 100, kPerClass = 100, kBatch = 64;
  const auto classes_of_batch = [](const FeistelPermutation& permutation,
                                   int64_t batch) {
    std::set<int64_t> classes;
    for (int64_t i = 0; i < kBatch; ++i) {
      classes.insert(permutation.At(batch * kBatch + i) / kPerClass);
    }
    return static_cast<int>(classes.size());
  };
  double sum = 0;
  for (uint64_t epoch = 0; epoch < 50; ++epoch) {
    const FeistelPermutation permutation(kClasses * kPerClass, 1, epoch);
    for (int64_t batch = 0; batch < 10; ++batch) {
      const int classes = classes_of_batch(permutation, batch);
      if (epoch == 0) {
        EXPECT_GE(classes, 40) << batch;
      }
      sum += classes;
    }
  }
  // The mean of 500 batches of deviation 2.9: 47.4 with deviation 0.13.
  EXPECT_NEAR(sum / 500, 47.4, 0.6);
}

}  // namespace
}  // namespace millrace
