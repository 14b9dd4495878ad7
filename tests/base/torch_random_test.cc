#include "base/torch_random.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// Golden values come from torch 2.15.

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TorchGeneratorTest, SeedsWithTheLow32Bits) {
  TorchGenerator small(5), large((uint64_t{1} << 32) + 5);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(small.NextU32(), large.NextU32());
}

// torch.empty((), dtype=torch.int64).random_() after manual_seed(0), twice.
TEST(TorchGeneratorTest, DrawsSeedsAsDataLoaderDoes) {
  constexpr uint64_t kPositive = (uint64_t{1} << 63) - 1;
  TorchGenerator generator(0);
  EXPECT_EQ(generator.NextU64() & kPositive, 900450186894289455u);
  const uint64_t sampler_seed = generator.NextU64() & kPositive;
  EXPECT_EQ(sampler_seed, 3969543146641149120u);
  EXPECT_THAT(TorchRandPerm(10, sampler_seed),
              ElementsAre(6, 7, 1, 4, 2, 0, 9, 8, 3, 5));
}

TEST(TorchGeneratorTest, UsesDoNotDisturbTheStream) {
  TorchGenerator plain(3), with_uses(3);
  for (uint32_t use = 0; use < 10; ++use) {
    with_uses.StartUse(use);
    EXPECT_EQ(plain.NextU32(), with_uses.NextU32());
  }
}

TEST(TorchRandPermTest, MatchesTorch) {
  EXPECT_THAT(TorchRandPerm(10, 0), ElementsAre(4, 1, 7, 5, 3, 9, 0, 8, 6, 2));
  EXPECT_THAT(TorchRandPerm(11, 0),
              ElementsAre(10, 0, 4, 3, 5, 8, 2, 1, 9, 7, 6));
  EXPECT_THAT(TorchRandPerm(11, 1),
              ElementsAre(0, 10, 2, 3, 7, 6, 4, 8, 1, 9, 5));
  EXPECT_THAT(TorchRandPerm(12, 0),
              ElementsAre(8, 0, 5, 9, 7, 4, 2, 10, 3, 1, 11, 6));
}

TEST(TorchRandPermTest, HandlesNoneAndOne) {
  EXPECT_THAT(TorchRandPerm(0, 1), IsEmpty());
  EXPECT_THAT(TorchRandPerm(1, 1), ElementsAre(0));
}

TEST(TorchRandPermTest, EqualsTheGeneratorsOwnPermutation) {
  std::vector<int> small(1000);
  TorchGenerator generator(42);
  generator.RandPerm(absl::MakeSpan(small));
  const std::vector<int64_t> large = TorchRandPerm(1000, 42);
  EXPECT_TRUE(std::equal(small.begin(), small.end(), large.begin()));
}

}  // namespace
}  // namespace millrace
