#include "base/philox.h"

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

std::vector<uint32_t> Words(Generator& generator, int count) {
  std::vector<uint32_t> words;
  for (int i = 0; i < count; ++i) words.push_back(generator.NextU32());
  return words;
}

// The known-answer vectors that the authors publish with Random123.
TEST(Philox4x32Test, MatchesThePublishedVectors) {
  EXPECT_THAT(Philox4x32({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  EXPECT_THAT(Philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                         {0xffffffff, 0xffffffff}),
              ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                         {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09u, 0x94fdcceb, 0x5001e420u, 0x24126ea1u));
}

// Words of an independent program that follows the header's definition.
TEST(PhiloxGeneratorTest, KeepsItsStreams) {
  PhiloxGenerator generator(0x0123456789ABCDEF, 5, (uint64_t{1} << 40) + 7);
  EXPECT_THAT(Words(generator, 8),
              ElementsAre(0xd65e0792u, 0x68683022u, 0x9f0cb5bfu, 0x24b08b63u,
                          0x9a6825f6u, 0x79ba1aafu, 0x4318669eu, 0x8eda9a63u));
  generator.StartUse(3);
  EXPECT_THAT(Words(generator, 4),
              ElementsAre(0x7d3df716u, 0x0d1a0081u, 0x603e085eu, 0x7979d81cu));
}

TEST(PhiloxGeneratorTest, WordsOfAUseDoNotDependOnDrawsBeforeIt) {
  PhiloxGenerator fresh(1, 2, 3);
  fresh.StartUse(4);
  const std::vector<uint32_t> expected = Words(fresh, 10);
  for (int before = 0; before < 10; ++before) {
    PhiloxGenerator generator(1, 2, 3);
    Words(generator, before);
    generator.StartUse(1);
    Words(generator, before);
    generator.StartUse(4);
    EXPECT_THAT(Words(generator, 10), ElementsAreArray(expected));
  }
}

TEST(PhiloxGeneratorTest, FirstUseIsUse0) {
  PhiloxGenerator implied(1, 2, 3), stated(1, 2, 3);
  stated.StartUse(0);
  EXPECT_EQ(Words(implied, 10), Words(stated, 10));
}

TEST(PhiloxGeneratorTest, EveryPartOfTheKeyMakesAnotherStream) {
  constexpr uint64_t kHigh = uint64_t{1} << 32;
  std::set<std::vector<uint32_t>> streams;
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, kHigh}) {
    for (const int64_t epoch : {int64_t{0}, int64_t{1}, int64_t{0xFFFFFFFF}}) {
      for (const uint64_t position : {uint64_t{0}, uint64_t{1}, kHigh}) {
        for (const uint32_t use : {0u, 1u, 0x7FFFu}) {
          PhiloxGenerator generator(seed, epoch, position);
          generator.StartUse(use);
          streams.insert(Words(generator, 4));
        }
      }
    }
  }
  EXPECT_EQ(streams.size(), 81u);
}

TEST(PhiloxGeneratorTest, UseWrapsAroundWithoutReachingTheNext) {
  constexpr int kWordsOfAUse = 1 << 18;
  PhiloxGenerator generator(1, 2, 3);
  generator.StartUse(7);
  const std::vector<uint32_t> words = Words(generator, kWordsOfAUse);
  EXPECT_THAT(Words(generator, 8),
              ElementsAreArray(words.begin(), words.begin() + 8));
}

// Workers that all draw the same numbers, and again every epoch, are a known
// fault of loaders that seed a generator per worker.
TEST(PhiloxGeneratorTest, SamplesAndEpochsDrawNumbersOfTheirOwn) {
  std::set<uint64_t> draws;
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    for (uint64_t position = 0; position < 80; ++position) {
      draws.insert(PhiloxGenerator(0, epoch, position).NextU64());
    }
  }
  EXPECT_EQ(draws.size(), 160u);
}

// The first words of neighbouring positions, which each sample's first
// transform sees, are as even as one stream would be.
TEST(PhiloxGeneratorTest, FirstWordsOverPositionsAreUniform) {
  constexpr int kDraws = 64000, kBins = 64;
  std::array<int, kBins> high{}, low{};
  for (uint64_t position = 0; position < kDraws; ++position) {
    const uint32_t word = PhiloxGenerator(9, 1, position).NextU32();
    ++high[word >> 26];
    ++low[word % kBins];
  }
  for (const std::array<int, kBins>& bins : {high, low}) {
    double chi_square = 0;
    for (const int count : bins) {
      chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
    }
    // 63 degrees of freedom: mean 63, deviation 11.2.
    EXPECT_GT(chi_square, 63 - 4 * 11.2);
    EXPECT_LT(chi_square, 63 + 5 * 11.2);
  }
}

}  // namespace
}  // namespace millrace
