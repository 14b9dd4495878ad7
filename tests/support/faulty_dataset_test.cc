#include "tests/support/faulty_dataset.h"

#include <cstdint>
#include <latch>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "storage/memory_dataset.h"
#include "tests/support/status_matchers.h"

namespace millrace {
namespace {

using storage::MemoryDataset;
using storage::MemoryDatasetOptions;
using storage::Sample;

absl::StatusOr<std::unique_ptr<MemoryDataset>> ThreeImages() {
  MemoryDatasetOptions options;
  options.size = 3;
  options.encoded = {"a", "b", "c"};
  return MemoryDataset::Create(std::move(options));
}

TEST(FaultyDatasetTest, FailsTheChosenReadsAndPassesTheOthers) {
  ASSERT_OK_AND_ASSIGN(auto base, ThreeImages());
  FaultyDataset faulty(std::move(base));
  faulty.Fail(1, absl::DataLossError("torn"));
  faulty.Fail(2, absl::UnavailableError("hiccup"), 2);
  Sample sample;
  ASSERT_OK(faulty.Read(0, &sample));
  EXPECT_EQ(sample.fields()[0].bytes, "a");
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(faulty.Read(1, &sample),
                StatusIs(absl::StatusCode::kDataLoss, "torn"));
    EXPECT_TRUE(sample.fields().empty());
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(faulty.Read(2, &sample),
                StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_OK(faulty.Read(2, &sample));
  faulty.Fail(1, absl::OkStatus());
  EXPECT_OK(faulty.Read(1, &sample));
  EXPECT_THAT(faulty.Read(3, &sample), StatusIs(absl::StatusCode::kOutOfRange));
}

TEST(FaultyDatasetTest, CountsReads) {
  ASSERT_OK_AND_ASSIGN(auto base, ThreeImages());
  FaultyDataset faulty(std::move(base));
  faulty.Fail(1, absl::DataLossError("torn"));
  Sample sample;
  for (const int64_t i : {0, 1, 1, 3}) (void)faulty.Read(i, &sample);
  EXPECT_EQ(faulty.reads(0), 1);
  EXPECT_EQ(faulty.reads(1), 2);
  EXPECT_EQ(faulty.reads(2), 0);
  EXPECT_EQ(faulty.reads(3), 1);
  EXPECT_EQ(faulty.total_reads(), 4);
}

TEST(FaultyDatasetTest, ABlockedReadWaitsForItsLatchAlone) {
  ASSERT_OK_AND_ASSIGN(auto base, ThreeImages());
  FaultyDataset faulty(std::move(base));
  std::latch go(1);
  faulty.Block(1, &go);
  bool done = false;
  std::thread reader([&] {
    Sample sample;
    EXPECT_OK(faulty.Read(1, &sample));
    done = true;
  });
  faulty.WaitForReads(1, 1);
  Sample sample;
  EXPECT_OK(faulty.Read(0, &sample));
  go.count_down();
  reader.join();
  EXPECT_TRUE(done);
}

TEST(FaultyDatasetTest, IsItsBaseInAllElse) {
  ASSERT_OK_AND_ASSIGN(std::shared_ptr<MemoryDataset> base, ThreeImages());
  const FaultyDataset faulty(base);
  EXPECT_EQ(faulty.size(), 3);
  EXPECT_EQ(faulty.fingerprint(), base->fingerprint());
  EXPECT_EQ(faulty.Describe(), base->Describe());
  EXPECT_EQ(faulty.Location(2), base->Location(2));
  EXPECT_THAT(faulty.Key(2), IsOkAndHolds("2"));
}

}  // namespace
}  // namespace millrace
