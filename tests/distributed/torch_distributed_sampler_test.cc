#include "distributed/torch_distributed_sampler.h"

#include <cstdint>
#include <string>
#include <vector>

#include "distributed/distributed_sampler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Lists = std::vector<std::vector<int64_t>>;

// Every rank's list for one epoch.
Lists ListsOf(const TorchDistributedSamplerOptions& options,
              int64_t epoch = 0) {
  const TorchDistributedSampler sampler =
      TorchDistributedSampler::Create(options).value();
  Lists lists;
  for (int rank = 0; rank < options.world_size; ++rank) {
    lists.push_back(sampler.RankIndices(epoch, rank));
  }
  return lists;
}

// Values that PyTorch's class gives, checked by hand against torch 2.15.
TEST(TorchDistributedSamplerTest, RepeatsTheHeadWithoutShuffling) {
  EXPECT_EQ(ListsOf({.dataset_size = 11, .world_size = 4, .shuffle = false}),
            (Lists{{0, 4, 8}, {1, 5, 9}, {2, 6, 10}, {3, 7, 0}}));
  EXPECT_EQ(ListsOf({.dataset_size = 10, .world_size = 4, .shuffle = false}),
            (Lists{{0, 4, 8}, {1, 5, 9}, {2, 6, 0}, {3, 7, 1}}));
}

TEST(TorchDistributedSamplerTest, CutsTheTailWithDropLast) {
  EXPECT_EQ(ListsOf({.dataset_size = 11,
                     .world_size = 4,
                     .shuffle = false,
                     .drop_last = true}),
            (Lists{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(ListsOf({.dataset_size = 10,
                     .world_size = 4,
                     .shuffle = false,
                     .drop_last = true}),
            (Lists{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

TEST(TorchDistributedSamplerTest, ShufflesLikeTorch) {
  EXPECT_EQ(ListsOf({.dataset_size = 11, .world_size = 4, .seed = 0}, 0),
            (Lists{{10, 5, 9}, {0, 8, 7}, {4, 2, 6}, {3, 1, 10}}));
  EXPECT_EQ(ListsOf({.dataset_size = 11, .world_size = 4, .seed = 0}, 1),
            (Lists{{0, 7, 1}, {10, 6, 9}, {2, 4, 5}, {3, 8, 0}}));
  EXPECT_EQ(
      ListsOf(
          {.dataset_size = 11, .world_size = 4, .seed = 7, .drop_last = true},
          3),
      (Lists{{10, 1}, {6, 3}, {8, 2}, {0, 7}}));
  EXPECT_EQ(
      ListsOf(
          {.dataset_size = 12, .world_size = 4, .seed = 0, .drop_last = true},
          0),
      (Lists{{8, 7, 3}, {0, 4, 1}, {5, 2, 11}, {9, 10, 6}}));
}

TEST(TorchDistributedSamplerTest, MoreRanksThanSamplesGoRoundTheList) {
  EXPECT_EQ(ListsOf({.dataset_size = 3, .world_size = 8, .shuffle = false}),
            (Lists{{0}, {1}, {2}, {0}, {1}, {2}, {0}, {1}}));
  EXPECT_EQ(ListsOf({.dataset_size = 3, .world_size = 7, .shuffle = false}),
            (Lists{{0}, {1}, {2}, {0}, {1}, {2}, {0}}));
}

TEST(TorchDistributedSamplerTest, MoreRanksThanSamplesCantBeDropped) {
  EXPECT_THAT(TorchDistributedSampler::Create(
                  {.dataset_size = 3, .world_size = 7, .drop_last = true}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("3 samples < 7 ranks")));
}

TEST(TorchDistributedSamplerTest, SharesAreRanksOfTheGlobalList) {
  ASSERT_OK_AND_ASSIGN(const TorchDistributedSampler sampler,
                       TorchDistributedSampler::Create(
                           {.dataset_size = 103, .world_size = 4, .seed = 2}));
  ASSERT_EQ(sampler.size(), 104);
  // Two samples a rank and step, as a PyTorch run with batch_size=2.
  for (int rank = 0; rank < 4; ++rank) {
    ASSERT_OK_AND_ASSIGN(
        const DistributedSampler split,
        DistributedSampler::Create(&sampler, {.global_batch_size = 8,
                                              .tail = Tail::kShort,
                                              .world_size = 4,
                                              .rank = rank}));
    std::vector<int64_t> indices;
    for (int64_t step = 0; step < split.steps(); ++step) {
      for (int64_t i = 0; i < split.Count(step); ++i) {
        indices.push_back(split.At(1, step, i).index);
      }
    }
    EXPECT_EQ(indices, sampler.RankIndices(1, rank));
  }
}

// Without a call that sets the epoch, which users forget: epochs differ, and
// equal those of a process that starts there.
TEST(TorchDistributedSamplerTest, EpochsDifferAndRepeat) {
  const TorchDistributedSamplerOptions options = {.dataset_size = 22,
                                                  .world_size = 2};
  EXPECT_NE(ListsOf(options, 0), ListsOf(options, 1));
  EXPECT_NE(ListsOf(options, 1), ListsOf(options, 2));
  ASSERT_OK_AND_ASSIGN(const TorchDistributedSampler sampler,
                       TorchDistributedSampler::Create(options));
  for (const int64_t epoch : {2, 0, 1, 2}) {
    EXPECT_EQ(sampler.RankIndices(epoch, 0), ListsOf(options, epoch)[0]);
  }
}

TEST(TorchDistributedSamplerTest, DescribesItself) {
  ASSERT_OK_AND_ASSIGN(
      const TorchDistributedSampler sampler,
      TorchDistributedSampler::Create(
          {.dataset_size = 10, .world_size = 4, .seed = 7, .drop_last = true}));
  EXPECT_EQ(sampler.Describe(),
            "torch_distributed(size=10, world_size=4, seed=7, shuffle=true, "
            "drop_last=true)");
}

TEST(TorchDistributedSamplerTest, ValidateNamesFieldAndValue) {
  EXPECT_THAT(TorchDistributedSamplerOptions{.dataset_size = 0}.Validate(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("dataset_size"), HasSubstr("0"))));
  EXPECT_THAT(
      (TorchDistributedSamplerOptions{.dataset_size = 1, .world_size = -2}
           .Validate()),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("world_size"), HasSubstr("-2"))));
}

TEST(TorchDistributedSamplerTest, HugeSetsCostNothingUnshuffled) {
  const int64_t size = int64_t{1} << 62;
  ASSERT_OK_AND_ASSIGN(
      const TorchDistributedSampler sampler,
      TorchDistributedSampler::Create(
          {.dataset_size = size, .world_size = 3, .shuffle = false}));
  EXPECT_EQ(sampler.size(), size + 2);
  EXPECT_EQ(sampler.IndexAt(0, size + 1), 1);
}

}  // namespace
}  // namespace millrace::distributed
