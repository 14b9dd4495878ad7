// Failures that users of other loaders have reported of workers: errors, ends
// and stalls. The numbers in the tests' names are those of the list of cases.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/mutex.h"
#include "distributed/communicator.h"
#include "distributed/order.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loader/data_loader.h"
#include "tests/loader/numbered_samples.h"
#include "tests/loader/run_loaders.h"
#include "tests/support/faulty_dataset.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"

namespace millrace::loader {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

DataLoaderOptions Options(int64_t batch_size, int workers) {
  DataLoaderOptions options;
  options.batch_size = batch_size;
  options.seed = 7;
  options.num_workers = workers;
  return options;
}

int64_t ThreadsOfThisProcess() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

// Samples of the next `batches` batches, which must be there.
std::vector<Delivered> Take(DataLoader& loader, int batches) {
  std::vector<Delivered> samples;
  for (int i = 0; i < batches; ++i) {
    const absl::StatusOr<std::optional<Batch>> batch = loader.Next();
    EXPECT_OK(batch);
    if (!batch.ok() || !batch->has_value()) {
      ADD_FAILURE() << "no batch " << i;
      break;
    }
    AppendDelivered(**batch, &samples);
  }
  return samples;
}

TEST(Case69Test, ABadSampleIsNamedOnceByTheRankThatHasIt) {
  const std::shared_ptr<FaultyDataset> dataset = NumberedSamples(1000);
  dataset->Fail(613, absl::DataLossError("truncated"));
  Mutex mutex;
  std::vector<std::string> errors;
  std::atomic<int> good_batches = 0;
  RunRanks(2, [&](distributed::Communicator& communicator) {
    DataLoaderOptions options = Options(50, 8);
    options.communicator = &communicator;
    ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<DataLoader> loader,
        DataLoader::Create(dataset, MakeDrawTransform(), options));
    for (int step = 0; step < 20; ++step) {
      const absl::StatusOr<std::optional<Batch>> batch = loader->Next();
      if (batch.ok()) {
        ++good_batches;
        continue;
      }
      EXPECT_EQ(ExitCodeOf(batch.status()), ExitCode::kData);
      EXPECT_THAT(std::string(batch.status().message()),
                  HasSubstr(absl::StrCat("rank ", communicator.rank(), ",")));
      MutexLock lock(&mutex);
      errors.emplace_back(batch.status().message());
    }
    EXPECT_OK(communicator.Close(absl::Minutes(1)));
  });
  EXPECT_EQ(good_batches, 39);
  EXPECT_THAT(errors,
              ElementsAre(AllOf(HasSubstr("epoch 0"), HasSubstr("worker "),
                                HasSubstr("sample 613 (613): truncated"),
                                Not(HasSubstr("\n")))));
}

TEST(Case71Test, LeavingEarlyEndsAllThreadsAndMakesNothingMore) {
  const int64_t threads = ThreadsOfThisProcess();
  const std::shared_ptr<FaultyDataset> dataset = NumberedSamples(100'000);
  {
    DataLoaderOptions options = Options(10, 16);
    options.prefetch_factor = 8;
    ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<DataLoader> loader,
        DataLoader::Create(dataset, MakeDrawTransform(), options));
    ASSERT_OK(loader->Next());
    EXPECT_EQ(ThreadsOfThisProcess(), threads + 16);
  }
  EXPECT_EQ(ThreadsOfThisProcess(), threads);
  // The batch taken, what was ahead of it, and the one begun since.
  EXPECT_LE(dataset->total_reads(), 10 * (8 + 2));
}

TEST(Case73Test, AnEpochAfterOneLeftHalfWayIsWholeOnAllRanks) {
  Mutex mutex;
  std::vector<int64_t> counts;
  RunRanks(2, [&](distributed::Communicator& communicator) {
    DataLoaderOptions options = Options(10, 3);
    options.communicator = &communicator;
    ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<DataLoader> loader,
        DataLoader::Create(NumberedSamples(100), MakeDrawTransform(), options));
    Take(*loader, 3);
    ASSERT_OK(loader->StartEpoch(1));
    const std::vector<Delivered> samples = Take(*loader, 10);
    ASSERT_OK_AND_ASSIGN(const std::optional<Batch> end, loader->Next());
    EXPECT_FALSE(end.has_value());
    EXPECT_EQ(samples.front().epoch, 1);
    EXPECT_EQ(samples.back().epoch, 1);
    EXPECT_OK(communicator.Close(absl::Minutes(1)));
    MutexLock lock(&mutex);
    counts.push_back(static_cast<int64_t>(samples.size()));
  });
  EXPECT_THAT(counts, ElementsAre(50, 50));
}

TEST(Case73Test, TwoLoadersAtOnceDoNotDisturbEachOther) {
  const std::shared_ptr<FaultyDataset> dataset = NumberedSamples(100);
  const std::vector<Delivered> expected =
      RunLoaders(1, NumberedSamples(100), Options(10, 0), {.epochs = 2})
          .samples;
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<DataLoader> first,
      DataLoader::Create(dataset, MakeDrawTransform(), Options(10, 2)));
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<DataLoader> second,
      DataLoader::Create(dataset, MakeDrawTransform(), Options(10, 2)));
  std::vector<Delivered> of_first = Take(*first, 3);
  std::vector<Delivered> of_second = Take(*second, 7);
  for (std::vector<Delivered>* const part : {&of_first, &of_second}) {
    DataLoader& loader = part == &of_first ? *first : *second;
    while (part->size() < 200) {
      ASSERT_OK_AND_ASSIGN(const std::optional<Batch> batch, loader.Next());
      if (batch.has_value()) AppendDelivered(*batch, part);
    }
  }
  std::sort(of_first.begin(), of_first.end());
  std::sort(of_second.begin(), of_second.end());
  EXPECT_EQ(of_first, expected);
  EXPECT_EQ(of_second, expected);
}

TEST(Case76Test, AStalledReadEndsTheWholeJobWithTheSamplesName) {
  const std::shared_ptr<FaultyDataset> dataset = NumberedSamples(8);
  std::latch release(1);
  dataset->Block(3, &release);  // Rank 1's in the second batch.
  RunRanks(2, [&](distributed::Communicator& communicator) {
    DataLoaderOptions options = Options(2, 2);
    options.order = distributed::Order::kSequential;
    options.communicator = &communicator;
    options.timeout =
        communicator.rank() == 1 ? absl::Milliseconds(50) : absl::Minutes(5);
    ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<DataLoader> loader,
        DataLoader::Create(dataset, MakeDrawTransform(), options));
    absl::Status status;
    while (status.ok()) {
      status = loader->Next().status();
      // As a training step does it.
      if (status.ok()) status = communicator.Barrier(absl::Minutes(5));
    }
    communicator.ReportFailure(status);
    const absl::Status job = communicator.Close(absl::Minutes(1));
    EXPECT_THAT(job, StatusIs(absl::StatusCode::kDeadlineExceeded,
                              AllOf(HasSubstr("rank 1"),
                                    HasSubstr("reading sample 3 (3)"))));
    EXPECT_EQ(ExitCodeOf(job), ExitCode::kResource);
    if (communicator.rank() == 1) release.count_down();
  });
}

}  // namespace
}  // namespace millrace::loader
