#include "augment/exact_math.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace::augment {
namespace {

// The C library's double results, within one unit in the last place, round to
// the right float for all but one value in 10^8: none of these.
TEST(ExactMathTest, ExpIsRoundedToTheNearestFloat) {
  for (int i = -200000; i <= 200000; ++i) {
    const float x = static_cast<float>(i) * 0.0003f;
    ASSERT_EQ(ExactExp(x), static_cast<float>(std::exp(double{x}))) << x;
  }
  EXPECT_EQ(ExactExp(0), 1.0f);
  EXPECT_EQ(ExactExp(80), static_cast<float>(std::exp(80.0)));
  EXPECT_EQ(ExactExp(-80), static_cast<float>(std::exp(-80.0)));
}

TEST(ExactMathTest, LogIsRoundedToTheNearestFloat) {
  float x = 1e-37f;
  for (int i = 0; x < 1e37f; ++i, x *= 1.0005f) {
    ASSERT_EQ(ExactLog(x), static_cast<float>(std::log(double{x}))) << x;
  }
  for (int i = 1; i < 100000; ++i) {
    const float near_one = 0.5f + static_cast<float>(i) * 1e-5f;
    ASSERT_EQ(ExactLog(near_one),
              static_cast<float>(std::log(double{near_one})));
  }
  EXPECT_EQ(ExactLog(1), 0.0f);
}

TEST(ExactMathTest, SinAndCosAreWithinTheirBound) {
  for (int i = -300000; i <= 300000; ++i) {
    const double x = i * 0.00333;
    ASSERT_NEAR(ExactSin(x), static_cast<double>(std::sin((long double)x)),
                2e-16)
        << x;
    ASSERT_NEAR(ExactCos(x), static_cast<double>(std::cos((long double)x)),
                2e-16)
        << x;
  }
  EXPECT_EQ(ExactSin(0), 0.0);
  EXPECT_EQ(ExactCos(0), 1.0);
}

// The same bits everywhere: these were computed once.
TEST(ExactMathTest, GivesItsGoldenBits) {
  EXPECT_EQ(ExactExp(0.3f), 0x1.59905ap+0f);
  EXPECT_EQ(ExactLog(0.75f), -0x1.269622p-2f);
  EXPECT_EQ(ExactLog(1.3333334f), 0x1.269624p-2f);
  EXPECT_EQ(ExactSin(0.25), 0x1.faaeed4f31577p-3);
  EXPECT_EQ(ExactCos(0.25), 0x1.f01549f7deea1p-1);
}

}  // namespace
}  // namespace millrace::augment
