#include "distributed/distributed_sampler.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distributed/order.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kWorlds[] = {1, 2, 3, 8};
constexpr Tail kTails[] = {Tail::kDrop, Tail::kShort, Tail::kPad};

using Pair = std::pair<int64_t, int64_t>;  // position, index

// One sampler a rank.
std::vector<DistributedSampler> AllRanks(const Sampler& order, int64_t batch,
                                         Tail tail, int world) {
  std::vector<DistributedSampler> ranks;
  for (int rank = 0; rank < world; ++rank) {
    ranks.push_back(
        DistributedSampler::Create(&order, {.global_batch_size = batch,
                                            .tail = tail,
                                            .world_size = world,
                                            .rank = rank})
            .value());
  }
  return ranks;
}

// (position, index) of a rank's share of a step, in its order.
std::vector<Pair> Share(const DistributedSampler& rank, int64_t epoch,
                        int64_t step) {
  std::vector<Pair> share;
  for (int64_t i = 0; i < rank.Count(step); ++i) {
    const SampleRef ref = rank.At(epoch, step, i);
    share.emplace_back(ref.position, ref.index);
  }
  return share;
}

std::vector<Pair> GlobalBatch(const std::vector<DistributedSampler>& ranks,
                              int64_t epoch, int64_t step) {
  std::vector<Pair> batch;
  for (const DistributedSampler& rank : ranks) {
    for (const Pair& pair : Share(rank, epoch, step)) batch.push_back(pair);
  }
  std::sort(batch.begin(), batch.end());
  return batch;
}

// The contract, for one data set size, batch size, tail and world.
void CheckContract(int64_t size, int64_t batch, Tail tail, int world) {
  SCOPED_TRACE(absl::StrCat("size ", size, ", batch ", batch, ", tail ",
                            Name(tail), ", world ", world));
  const std::unique_ptr<Sampler> order =
      MakeSampler(Order::kFeistel, size, 11).value();
  const std::vector<DistributedSampler> ranks =
      AllRanks(*order, batch, tail, world);
  const int64_t rest = size % batch;
  const int64_t steps =
      size / batch + (rest != 0 && tail != Tail::kDrop ? 1 : 0);
  for (const int64_t epoch : {0, 1, 7}) {
    std::map<int64_t, int> visits;
    for (int64_t step = 0; step < steps; ++step) {
      const bool is_short =
          tail == Tail::kShort && rest != 0 && step == steps - 1;
      const int64_t count = is_short ? rest : batch;
      std::vector<Pair> expected;
      for (int64_t p = step * batch; p < step * batch + count; ++p) {
        expected.emplace_back(p, order->IndexAt(epoch, p % size));
        ++visits[expected.back().second];
      }
      // All positions once and no others: disjoint shares that cover the batch.
      ASSERT_EQ(GlobalBatch(ranks, epoch, step), expected);
      int64_t least = batch;
      int64_t most = 0;
      for (const DistributedSampler& rank : ranks) {
        ASSERT_EQ(rank.GlobalCount(step), count);
        const std::vector<Pair> share = Share(rank, epoch, step);
        ASSERT_TRUE(std::is_sorted(share.begin(), share.end()));
        for (const Pair& pair : share) {
          ASSERT_EQ(pair.first % world, rank.options().rank);
        }
        least = std::min(least, rank.Count(step));
        most = std::max(most, rank.Count(step));
      }
      ASSERT_LE(most - least, 1);
      ASSERT_LE(most, ranks[0].slot_size());
    }
    int64_t once = 0, twice = 0;
    for (const auto& [index, times] : visits) ++(times == 1 ? once : twice);
    EXPECT_EQ(once + twice, size - ranks[0].dropped());
    if (tail != Tail::kPad) {
      EXPECT_EQ(twice, 0);
    }
  }
  for (const DistributedSampler& rank : ranks) {
    EXPECT_EQ(rank.steps(), steps);
    EXPECT_EQ(rank.slot_size(), (batch + world - 1) / world);
    EXPECT_EQ(rank.dropped(), tail == Tail::kDrop ? rest : 0);
    EXPECT_EQ(rank.padded(),
              tail == Tail::kPad && rest != 0 ? batch - rest : 0);
  }
}

TEST(DistributedSamplerTest, RanksTogetherVisitEveryBatchOnce) {
  for (const int world : kWorlds) {
    for (const int64_t size : {1, world - 1, world, 13, 101, 4096}) {
      for (const int64_t batch : {1, 2, 7, 32}) {
        for (const Tail tail : kTails) {
          if (size == 0 || (tail == Tail::kDrop && size < batch)) continue;
          CheckContract(size, batch, tail, world);
        }
      }
    }
  }
}

TEST(DistributedSamplerTest, GlobalBatchesDoNotDependOnTheWorld) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> order,
                       MakeSampler(Order::kFeistel, 1009, 3));
  for (const Tail tail : kTails) {
    const std::vector<DistributedSampler> one = AllRanks(*order, 64, tail, 1);
    for (const int world : {2, 3, 8, 100}) {
      const std::vector<DistributedSampler> ranks =
          AllRanks(*order, 64, tail, world);
      for (const int64_t epoch : {0, 1, 5}) {
        for (int64_t step = 0; step < one[0].steps(); ++step) {
          EXPECT_EQ(GlobalBatch(ranks, epoch, step),
                    GlobalBatch(one, epoch, step));
        }
      }
    }
  }
}

TEST(DistributedSamplerTest, EpochsDifferAndRepeatExactly) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> order,
                       MakeSampler(Order::kFeistel, 100, 3));
  const std::vector<DistributedSampler> ranks =
      AllRanks(*order, 100, Tail::kDrop, 2);
  EXPECT_NE(GlobalBatch(ranks, 0, 0), GlobalBatch(ranks, 1, 0));
  EXPECT_EQ(GlobalBatch(ranks, 0, 0), GlobalBatch(ranks, 0, 0));
}

TEST(DistributedSamplerTest, PositionsOfTheDrawing) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> order,
                       MakeSampler(Order::kSequential, 11, 0));
  const std::vector<DistributedSampler> ranks =
      AllRanks(*order, 4, Tail::kShort, 2);
  EXPECT_THAT(Share(ranks[0], 0, 1), ElementsAre(Pair(4, 4), Pair(6, 6)));
  EXPECT_THAT(Share(ranks[1], 0, 1), ElementsAre(Pair(5, 5), Pair(7, 7)));
  EXPECT_THAT(Share(ranks[0], 0, 2), ElementsAre(Pair(8, 8), Pair(10, 10)));
  EXPECT_THAT(Share(ranks[1], 0, 2), ElementsAre(Pair(9, 9)));
}

TEST(DistributedSamplerTest, PaddingRepeatsTheHeadUnderNewPositions) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> order,
                       MakeSampler(Order::kSequential, 3, 0));
  const std::vector<DistributedSampler> ranks =
      AllRanks(*order, 8, Tail::kPad, 2);
  EXPECT_EQ(ranks[0].steps(), 1);
  EXPECT_EQ(ranks[0].padded(), 5);
  // More than once around.
  EXPECT_THAT(Share(ranks[0], 0, 0),
              ElementsAre(Pair(0, 0), Pair(2, 2), Pair(4, 1), Pair(6, 0)));
  EXPECT_THAT(Share(ranks[1], 0, 0),
              ElementsAre(Pair(1, 1), Pair(3, 0), Pair(5, 2), Pair(7, 1)));
}

// 21 samples on 2 ranks and 50,000 on 24, with ranks that have nothing in the
// last step: evaluation counts each once.
TEST(DistributedSamplerTest, EvaluationVisitsEachOnceInEqualSteps) {
  for (const auto& [size, batch, world] :
       std::vector<std::tuple<int64_t, int64_t, int>>{
           {21, 8, 2}, {50000, 256, 24}, {3, 7, 7}, {3, 1, 7}}) {
    CheckContract(size, batch, Tail::kShort, world);
  }
}

TEST(DistributedSamplerTest, ARankWithoutSamplesStillTakesTheStep) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> order,
                       MakeSampler(Order::kSequential, 3, 0));
  const std::vector<DistributedSampler> ranks =
      AllRanks(*order, 7, Tail::kShort, 7);
  for (int rank = 0; rank < 7; ++rank) {
    EXPECT_EQ(ranks[rank].steps(), 1);
    EXPECT_EQ(ranks[rank].Count(0), rank < 3 ? 1 : 0);
  }
}

TEST(DistributedSamplerTest, WorksAtTheEndOf63Bits) {
  const int64_t size = std::numeric_limits<int64_t>::max() - 100;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> order,
                       MakeSampler(Order::kSequential, size, 0));
  for (const Tail tail : kTails) {
    const std::vector<DistributedSampler> ranks =
        AllRanks(*order, 100, tail, 3);
    const int64_t last = ranks[0].steps() - 1;
    const std::vector<Pair> batch = GlobalBatch(ranks, 0, last);
    EXPECT_EQ(static_cast<int64_t>(batch.size()), ranks[0].GlobalCount(last));
    EXPECT_EQ(batch.front(), Pair(last * 100, last * 100));
  }
  EXPECT_THAT(
      DistributedSampler::Create(order.get(), {.global_batch_size = 101}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("63 bits")));
}

TEST(DistributedSamplerTest, RefusesAnEpochWithoutSteps) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> empty,
                       MakeSampler(Order::kFeistel, 0, 0));
  for (const Tail tail : kTails) {
    EXPECT_THAT(DistributedSampler::Create(
                    empty.get(), {.global_batch_size = 64, .tail = tail}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("0 samples"), HasSubstr("64"))));
  }
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> small,
                       MakeSampler(Order::kFeistel, 63, 0));
  EXPECT_THAT(
      DistributedSampler::Create(small.get(), {.global_batch_size = 64}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("63 samples"), HasSubstr("64"))));
}

TEST(DistributedSamplerTest, ValidateNamesFieldAndValue) {
  const DistributedSamplerOptions good = {
      .global_batch_size = 1, .tail = Tail::kPad, .world_size = 2, .rank = 1};
  EXPECT_OK(good.Validate());
  const auto invalid = [&](auto change, const std::string& field,
                           const std::string& value) {
    DistributedSamplerOptions options = good;
    change(options);
    EXPECT_THAT(options.Validate(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(field), HasSubstr(value))));
  };
  using O = DistributedSamplerOptions;
  invalid([](O& o) { o.global_batch_size = 0; }, "global_batch_size", "0");
  invalid([](O& o) { o.global_batch_size = -5; }, "global_batch_size", "-5");
  invalid([](O& o) { o.world_size = 0; }, "world_size", "0");
  invalid([](O& o) { o.rank = -1; }, "rank", "-1");
  invalid([](O& o) { o.rank = 2; }, "rank", "2");
  invalid([](O& o) { o.tail = static_cast<Tail>(9); }, "tail", "9");
}

TEST(TailTest, NameAndParseAreInverse) {
  for (const Tail tail : kTails) {
    EXPECT_THAT(ParseTail(Name(tail)), IsOkAndHolds(tail));
  }
  EXPECT_THAT(
      ParseTail("keep"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("keep"), HasSubstr("drop, short, pad"))));
}

}  // namespace
}  // namespace millrace::distributed
