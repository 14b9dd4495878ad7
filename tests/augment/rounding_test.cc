#include "augment/rounding.h"

#include "gtest/gtest.h"

namespace millrace::augment {
namespace {

TEST(RoundHalfToEvenTest, HalvesGoToTheEvenNeighbour) {
  EXPECT_EQ(RoundHalfToEven(0.5), 0);
  EXPECT_EQ(RoundHalfToEven(1.5), 2);
  EXPECT_EQ(RoundHalfToEven(2.5), 2);
  EXPECT_EQ(RoundHalfToEven(-0.5), 0);
  EXPECT_EQ(RoundHalfToEven(-1.5), -2);
  EXPECT_EQ(RoundHalfToEven(-2.5), -2);
}

TEST(RoundHalfToEvenTest, OthersGoToTheNearest) {
  EXPECT_EQ(RoundHalfToEven(0), 0);
  EXPECT_EQ(RoundHalfToEven(0.49999999999999994), 0);
  EXPECT_EQ(RoundHalfToEven(0.5000000000000001), 1);
  EXPECT_EQ(RoundHalfToEven(-0.51), -1);
  EXPECT_EQ(RoundHalfToEven(-7.0), -7);
  EXPECT_EQ(RoundHalfToEven(1e15 + 0.75), 1e15 + 1);
}

}  // namespace
}  // namespace millrace::augment
