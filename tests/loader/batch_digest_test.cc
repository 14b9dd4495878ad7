#include "loader/batch_digest.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/tensor.h"
#include "distributed/communicator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"

namespace millrace::loader {
namespace {

using testing::Each;
using testing::SizeIs;

// The samples at some positions of an imaginary batch: sample p has the index
// 100 + p, an image of two floats and a label.
class Share {
 public:
  explicit Share(std::vector<int64_t> positions)
      : positions_(std::move(positions)) {
    for (const int64_t position : positions_) {
      indices_.push_back(100 + position);
      images_.push_back(static_cast<float>(position) + 0.5f);
      images_.push_back(static_cast<float>(position) * 2);
      labels_.push_back(position % 3);
    }
  }

  std::vector<int64_t>& indices() { return indices_; }
  std::vector<float>& images() { return images_; }
  std::vector<int64_t>& labels() { return labels_; }

  BatchDigest Digest() { return DigestOf(MakeBatch({})); }
  // With a further tensor.
  BatchDigest DigestWith(NamedTensor extra) {
    return DigestOf(MakeBatch({std::move(extra)}));
  }

 private:
  Batch MakeBatch(std::vector<NamedTensor> extra) {
    const int64_t size = static_cast<int64_t>(positions_.size());
    std::vector<NamedTensor> tensors = {
        {"image", {DType::kFloat32, {size, 2}, images_.data()}},
        {"label", {DType::kInt64, {size}, labels_.data()}}};
    for (NamedTensor& tensor : extra) tensors.push_back(std::move(tensor));
    return Batch({.tensors = std::move(tensors),
                  .indices = indices_,
                  .positions = positions_});
  }

  std::vector<int64_t> positions_;
  std::vector<int64_t> indices_;
  std::vector<float> images_;
  std::vector<int64_t> labels_;
};

TEST(BatchDigestTest, IsPinned) {
  EXPECT_EQ(Share({0, 1, 2, 3, 4, 5, 6}).Digest().ToString(),
            "indices=31733ae353e76c816d587f674dcebe13 "
            "pixels=0e4589362b2e893d7b7da682e39946d5");
}

TEST(BatchDigestTest, SharesAddUpToTheBatch) {
  const BatchDigest whole = Share({0, 1, 2, 3, 4, 5, 6}).Digest();
  BatchDigest two = Share({0, 2, 4, 6}).Digest();
  two += Share({1, 3, 5}).Digest();
  EXPECT_EQ(two, whole);
  BatchDigest three = Share({2, 5}).Digest();
  three += Share({1, 4}).Digest();
  three += Share({0, 3, 6}).Digest();
  EXPECT_EQ(three, whole);
}

TEST(BatchDigestTest, TheOrderWithinAShareIsOfNoMatter) {
  EXPECT_EQ(Share({3, 0, 1}).Digest(), Share({0, 1, 3}).Digest());
}

TEST(BatchDigestTest, AnEmptyShareAddsNothing) {
  EXPECT_EQ(Share({}).Digest(), BatchDigest());
}

TEST(BatchDigestTest, SeesEachIndex) {
  const BatchDigest before = Share({0, 1, 2}).Digest();
  Share other({0, 1, 2});
  other.indices()[1] = 7;
  EXPECT_NE(other.Digest().indices, before.indices);
  EXPECT_EQ(other.Digest().pixels, before.pixels);
}

TEST(BatchDigestTest, SeesEachByteOfEachTensor) {
  const BatchDigest before = Share({0, 1, 2}).Digest();
  for (size_t i = 0; i < 6; ++i) {
    Share other({0, 1, 2});
    other.images()[i] += 0.25f;
    EXPECT_NE(other.Digest().pixels, before.pixels);
    EXPECT_EQ(other.Digest().indices, before.indices);
  }
  Share other({0, 1, 2});
  other.labels()[2] += 1;
  EXPECT_NE(other.Digest().pixels, before.pixels);
}

TEST(BatchDigestTest, SeesSamplesThatChangedPlaces) {
  const BatchDigest before = Share({0, 1}).Digest();
  Share other({0, 1});
  std::swap(other.indices()[0], other.indices()[1]);
  EXPECT_NE(other.Digest().indices, before.indices);
  std::swap(other.images()[0], other.images()[2]);
  std::swap(other.images()[1], other.images()[3]);
  EXPECT_NE(other.Digest().pixels, before.pixels);
}

TEST(BatchDigestTest, LeavesOutTensorsWithoutASampleDimension) {
  const BatchDigest before = Share({0, 1, 2}).Digest();
  int64_t scalar = 5;
  EXPECT_EQ(Share({0, 1, 2}).DigestWith({"sum", {DType::kInt64, {}, &scalar}}),
            before);
  EXPECT_EQ(Share({0, 1, 2}).DigestWith({"sum", {DType::kInt64, {1}, &scalar}}),
            before);
  std::vector<uint8_t> flags(3);
  EXPECT_NE(
      Share({0, 1, 2}).DigestWith({"flag", {DType::kUInt8, {3}, flags.data()}}),
      before);
}

TEST(BatchDigestTest, AllRanksGetTheSum) {
  const BatchDigest whole = Share({0, 1, 2, 3, 4, 5, 6}).Digest();
  for (const int world : {1, 2, 5, 9}) {
    Mutex mutex;
    std::vector<BatchDigest> sums;
    RunRanks(world, [&](distributed::Communicator& communicator) {
      std::vector<int64_t> positions;
      for (int64_t p = communicator.rank(); p < 7; p += world) {
        positions.push_back(p);
      }
      ASSERT_OK_AND_ASSIGN(const BatchDigest sum,
                           SumOverRanks(Share(positions).Digest(), communicator,
                                        absl::Minutes(1)));
      EXPECT_OK(communicator.Close(absl::Minutes(1)));
      MutexLock lock(&mutex);
      sums.push_back(sum);
    });
    EXPECT_THAT(sums, SizeIs(world));
    EXPECT_THAT(sums, Each(whole));
  }
}

}  // namespace
}  // namespace millrace::loader
