// One stream: the bytes of each global batch are the same for any number of
// ranks and workers and any prefetch, on pictures of many kinds.

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distributed/communicator.h"
#include "distributed/distributed_sampler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loader/batch_digest.h"
#include "loader/data_loader.h"
#include "loader/make_loader.h"
#include "tests/support/images.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::loader {
namespace {

using testing::SizeIs;

struct Case {
  std::string data;
  std::string augment = "train";
  int image_size = 32;
  int64_t batch_size = 16;
  distributed::Tail tail = distributed::Tail::kShort;
  // Of the second epoch, so that something lies before.
  int64_t steps = 3;
};

// What rank 0 of `world` says of each global batch.
std::vector<std::string> Digests(const Case& c, int world, int workers,
                                 int prefetch) {
  std::vector<std::string> digests;
  RunRanks(world, [&](distributed::Communicator& communicator) {
    MakeLoaderOptions options;
    options.image_size = c.image_size;
    options.augment = c.augment;
    options.loader.tail = c.tail;
    options.loader.seed = 1;
    options.loader.communicator = &communicator;
    options.loader.num_workers = workers;
    options.loader.prefetch_factor = prefetch;
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DataLoader> loader,
                         MakeTrainLoader(c.data, c.batch_size, options));
    ASSERT_OK(loader->StartEpoch(1));
    for (int64_t step = 0; step < c.steps; ++step) {
      ASSERT_OK_AND_ASSIGN(const std::optional<Batch> batch, loader->Next());
      ASSERT_TRUE(batch.has_value());
      ASSERT_OK_AND_ASSIGN(
          const BatchDigest digest,
          SumOverRanks(DigestOf(*batch), communicator, absl::Minutes(5)));
      if (communicator.rank() == 0) digests.push_back(digest.ToString());
    }
    EXPECT_OK(communicator.Close(absl::Minutes(1)));
  });
  return digests;
}

void ExpectOneStream(const Case& c, const std::vector<int>& prefetches) {
  const std::vector<std::string> expected = Digests(c, 1, 0, 1);
  ASSERT_THAT(expected, SizeIs(c.steps));
  for (const int world : {1, 2, 3, 4}) {
    for (const int workers : {0, 1, 4}) {
      for (const int prefetch : prefetches) {
        EXPECT_EQ(Digests(c, world, workers, prefetch), expected)
            << world << " ranks, " << workers << " workers, prefetch "
            << prefetch;
      }
    }
  }
}

// 37 pictures in three classes: JPEGs of several samplings, grey and
// progressive ones, and other formats.
void WritePictures(const TempDir& dir) {
  for (int i = 0; i < 37; ++i) {
    const JpegOptions jpeg = {.quality = 60 + i,
                              .horizontal_sampling = 1 + i % 2,
                              .vertical_sampling = 1 + i / 2 % 2,
                              .progressive = i % 5 == 0,
                              .gray = i % 7 == 0};
    const std::string stem = absl::StrCat("class", i % 3, "/", i);
    if (i % 11 == 0) {
      dir.Write(stem + ".png", TestImage(".png", 30 + i, 80 - i, i));
    } else {
      dir.Write(stem + ".jpg", TestJpeg(30 + 3 * i, 90 - i, i, jpeg));
    }
  }
}

TEST(DigestInvarianceTest, RanksWorkersAndPrefetchChangeNoByte) {
  const TempDir dir;
  WritePictures(dir);
  ExpectOneStream({.data = dir.path()}, {1, 2, 5});
}

TEST(DigestInvarianceTest, NorWithFullAugmentationAndAPaddedTail) {
  const TempDir dir;
  WritePictures(dir);
  ExpectOneStream({.data = dir.path(),
                   .augment = "train_full",
                   .tail = distributed::Tail::kPad},
                  {2});
}

TEST(DigestInvarianceTest, NorWithFewerSamplesThanRanks) {
  const TempDir dir;
  dir.Write("a/1.jpg", TestJpeg(40, 40));
  dir.Write("a/2.jpg", TestJpeg(50, 40, 1));
  dir.Write("b/3.jpg", TestJpeg(40, 60, 2));
  ExpectOneStream({.data = dir.path(), .steps = 1}, {2});
}

TEST(DigestInvarianceTest, SeedAndEpochDecideTheBytes) {
  const TempDir dir;
  WritePictures(dir);
  MakeLoaderOptions options;
  options.image_size = 32;
  std::vector<BatchDigest> digests;
  for (const auto& [seed, epoch] :
       {std::pair(1, 0), std::pair(1, 1), std::pair(2, 0)}) {
    options.loader.seed = seed;
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DataLoader> loader,
                         MakeTrainLoader(dir.path(), 37, options));
    ASSERT_OK(loader->StartEpoch(epoch));
    ASSERT_OK_AND_ASSIGN(const std::optional<Batch> batch, loader->Next());
    for (const BatchDigest& other : digests) {
      EXPECT_NE(DigestOf(*batch).indices, other.indices);
      EXPECT_NE(DigestOf(*batch).pixels, other.pixels);
    }
    digests.push_back(DigestOf(*batch));
  }
}

// A set below MILLRACE_REAL_DATA, or none.
std::optional<std::string> RealData(const std::string& name) {
  const char* const root = std::getenv("MILLRACE_REAL_DATA");
  if (root == nullptr) return std::nullopt;
  std::string path = absl::StrCat(root, "/", name);
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

TEST(DigestInvarianceRealDataTest, HoldsOnPhotographsOfSignDigits) {
  const std::optional<std::string> data = RealData("sign-digits/train");
  if (!data.has_value()) {
    GTEST_SKIP() << "MILLRACE_REAL_DATA names no folder with sign-digits";
  }
  ExpectOneStream({.data = *data, .image_size = 64, .batch_size = 64}, {2});
}

TEST(DigestInvarianceRealDataTest, HoldsOnImageNetFiles) {
  const std::optional<std::string> data = RealData("imagenet-sample");
  if (!data.has_value()) {
    GTEST_SKIP() << "MILLRACE_REAL_DATA names no folder with imagenet-sample";
  }
  ExpectOneStream({.data = *data, .image_size = 64, .batch_size = 64}, {2});
}

}  // namespace
}  // namespace millrace::loader
