#include "base/generator.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/torch_random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// Golden values come from torch 2.15 and torchvision 0.29.2.

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Gives the words it was made with, then fails the test.
class ScriptedGenerator : public Generator {
 public:
  explicit ScriptedGenerator(std::vector<uint32_t> words)
      : words_(std::move(words)) {}
  ~ScriptedGenerator() override { EXPECT_EQ(next_, words_.size()); }

  uint32_t NextU32() override {
    EXPECT_LT(next_, words_.size());
    return next_ < words_.size() ? words_[next_++] : 0;
  }
  void StartUse(uint32_t) override {}

 private:
  std::vector<uint32_t> words_;
  size_t next_ = 0;
};

TEST(GeneratorTest, WideDrawTakesTheHighWordFirst) {
  EXPECT_EQ(ScriptedGenerator({0x01234567, 0x89ABCDEF}).NextU64(),
            0x0123456789ABCDEFu);
}

TEST(GeneratorTest, RandUsesTheLow24BitsAndStaysBelowOne) {
  EXPECT_EQ(ScriptedGenerator({0xFF000000}).Rand(), 0.0f);
  EXPECT_EQ(ScriptedGenerator({0x00800000}).Rand(), 0.5f);
  EXPECT_EQ(ScriptedGenerator({0xFFFFFFFF}).Rand(), 1.0f - 0x1p-24f);
}

TEST(GeneratorTest, RandIntIsTheRemainder) {
  EXPECT_EQ(ScriptedGenerator({17}).RandInt(10), 7);
  EXPECT_EQ(ScriptedGenerator({0xFFFFFFFF}).RandInt(1), 0);
  EXPECT_EQ(ScriptedGenerator({0xFFFFFFFF}).RandInt(int64_t{1} << 32),
            0xFFFFFFFF);
}

TEST(GeneratorTest, UniformReachesLowAndItsNeighbourOfHigh) {
  EXPECT_EQ(ScriptedGenerator({0}).Uniform(-2.5f, 4.0f), -2.5f);
  EXPECT_LT(ScriptedGenerator({0xFFFFFF}).Uniform(0.0f, 1.0f), 1.0f);
  EXPECT_EQ(ScriptedGenerator({12345}).Uniform(3.0f, 3.0f), 3.0f);
}

// The product of two float32 is exact in double, and here so is the sum: what
// fma must round once, a product rounded to float first rounds twice.
TEST(GeneratorTest, UniformRoundsOnce) {
  int different = 0;
  TorchGenerator generator(1), twin(1);
  constexpr float kLow = 0.6f, kHigh = 1.4f;
  for (int i = 0; i < 3000; ++i) {
    const float drawn = generator.Uniform(kLow, kHigh);
    const float x = twin.Rand();
    const double exact = double{x} * double{kHigh - kLow} + double{kLow};
    ASSERT_EQ(drawn, static_cast<float>(exact));
    volatile float product = x * (kHigh - kLow);
    different += drawn != product + kLow ? 1 : 0;
  }
  EXPECT_GT(different, 300);
}

// torchvision's ColorJitter(0.4, 0.4, 0.4, 0.1) after manual_seed(0).
TEST(GeneratorTest, DrawsColorJitterAsTorchvision) {
  TorchGenerator generator(0);
  std::array<int, 4> order;
  generator.RandPerm(absl::MakeSpan(order));
  EXPECT_THAT(order, ElementsAre(0, 1, 3, 2));
  EXPECT_EQ(generator.Uniform(0.6f, 1.4f), 0.7056244015693665f);
  EXPECT_EQ(generator.Uniform(0.6f, 1.4f), 0.8459382653236389f);
  EXPECT_EQ(generator.Uniform(0.6f, 1.4f), 1.1072629690170288f);
  EXPECT_EQ(generator.Uniform(-0.1f, 0.1f), -0.0019813179969787598f);
}

// torchvision's RandomRotation(15) after manual_seed(0), three times.
TEST(GeneratorTest, DrawsRotationsAsTorchvision) {
  TorchGenerator generator(0);
  EXPECT_EQ(generator.Uniform(-15, 15), -0.11230230331420898f);
  EXPECT_EQ(generator.Uniform(-15, 15), 8.046653747558594f);
  EXPECT_EQ(generator.Uniform(-15, 15), -12.345677375793457f);
}

// torchvision's RandomResizedCrop boxes (top, left, height, width), whose first
// candidate fits for these seeds.
TEST(GeneratorTest, DrawsCropBoxesAsTorchvision) {
  struct Case {
    uint64_t seed;
    int64_t height, width;
    std::array<int64_t, 4> box;
  };
  for (const Case& c : {Case{0, 375, 500, {17, 80, 294, 343}},
                        Case{1, 375, 500, {71, 153, 272, 311}},
                        Case{2, 500, 333, {143, 5, 339, 317}},
                        Case{42, 1080, 1920, {68, 552, 830, 1080}}}) {
    TorchGenerator generator(c.seed);
    while (true) {
      const double area = static_cast<double>(c.height * c.width) *
                          double{generator.Uniform(0.08f, 1.0f)};
      const double aspect = double{std::exp(
          generator.Uniform(std::log(3.0f / 4.0f), std::log(4.0f / 3.0f)))};
      const auto w = static_cast<int64_t>(std::rint(std::sqrt(area * aspect)));
      const auto h = static_cast<int64_t>(std::rint(std::sqrt(area / aspect)));
      if (w <= 0 || w > c.width || h <= 0 || h > c.height) continue;
      const int64_t top = generator.RandInt(c.height - h + 1);
      const int64_t left = generator.RandInt(c.width - w + 1);
      EXPECT_THAT((std::array<int64_t, 4>{top, left, h, w}),
                  testing::ElementsAreArray(c.box))
          << "seed " << c.seed;
      break;
    }
  }
}

TEST(GeneratorTest, RandPermOfNoneAndOneDrawsNothing) {
  ScriptedGenerator generator({});
  std::vector<int> none;
  generator.RandPerm(absl::MakeSpan(none));
  EXPECT_THAT(none, IsEmpty());
  std::vector<int> one = {9};
  generator.RandPerm(absl::MakeSpan(one));
  EXPECT_THAT(one, ElementsAre(0));
}

}  // namespace
}  // namespace millrace
