#include "distributed/rank_list.h"

#include "gtest/gtest.h"

namespace millrace::distributed {
namespace {

TEST(RankListTest, JoinsRunsOfNeighbours) {
  EXPECT_EQ(JoinRuns({}), "");
  EXPECT_EQ(JoinRuns({7}), "7");
  EXPECT_EQ(JoinRuns({1, 3, 4, 5, 9}), "1, 3-5, 9");
}

TEST(RankListTest, NamesRanks) {
  EXPECT_EQ(RanksToString({}), "no rank");
  EXPECT_EQ(RanksToString({3}), "rank 3");
  EXPECT_EQ(RanksToString({0, 1}), "ranks 0-1");
  EXPECT_EQ(RanksToString({0, 2, 3}), "ranks 0, 2-3");
  EXPECT_EQ(RanksToString({1, 2, 3, 7, 9, 10}), "ranks 1-3, 7, 9-10");
}

}  // namespace
}  // namespace millrace::distributed
