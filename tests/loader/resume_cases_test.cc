// Failures that users of other loaders have reported of resuming in the middle
// of an epoch. The numbers in the tests' names are those of the list of cases.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sampler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loader/data_loader.h"
#include "loader/loader_state.h"
#include "tests/loader/numbered_samples.h"
#include "tests/loader/run_loaders.h"
#include "tests/support/faulty_dataset.h"
#include "tests/support/status_matchers.h"

namespace millrace::loader {
namespace {

using testing::Each;
using testing::Field;
using testing::SizeIs;

constexpr int64_t kSamples = 100;

DataLoaderOptions Options(int64_t batch_size, int workers = 2) {
  DataLoaderOptions options;
  options.batch_size = batch_size;
  options.seed = 7;
  options.num_workers = workers;
  return options;
}

// As a checkpoint keeps it.
LoaderState Stored(const LoaderState& state) {
  absl::StatusOr<LoaderState> stored = LoaderState::Parse(state.Serialize());
  EXPECT_OK(stored);
  return *stored;
}

// Samples of an unbroken run from batch `first` of its first epoch on.
std::vector<Delivered> UnbrokenFrom(int64_t first, int64_t batch_size,
                                    int64_t epochs = 1) {
  std::vector<Delivered> samples =
      RunLoaders(1, NumberedSamples(kSamples), Options(batch_size),
                 {.epochs = epochs})
          .samples;
  samples.erase(samples.begin(), samples.begin() + first * batch_size);
  return samples;
}

TEST(Case59Test, AResumedEpochGoesOnAndReadsNothingAgain) {
  const RunResult broken =
      RunLoaders(1, NumberedSamples(kSamples), Options(10), {.batches = 3});
  const std::shared_ptr<FaultyDataset> dataset = NumberedSamples(kSamples);
  const RunResult resumed =
      RunLoaders(1, dataset, Options(10, /*workers=*/0),
                 {.batches = 7, .from = Stored(broken.states[0])});
  EXPECT_EQ(resumed.samples, UnbrokenFrom(3, 10));
  for (const Delivered& sample : broken.samples) {
    EXPECT_EQ(dataset->reads(sample.index), 0);
  }
  EXPECT_EQ(dataset->total_reads(), 70);
}

// Counts how often it is asked.
class CountingSampler : public Sampler {
 public:
  explicit CountingSampler(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  int64_t IndexAt(int64_t /*epoch*/, int64_t position) const override {
    ++calls_;
    return position;
  }
  std::string Describe() const override { return "counting"; }
  int64_t calls() const { return calls_; }

 private:
  const int64_t size_;
  mutable std::atomic<int64_t> calls_{0};
};

TEST(Case59Test, RestartingCostsTheSameAtAnyPosition) {
  constexpr int64_t kMany = 100'000;
  for (const int64_t step : {1, 5'000, 9'999}) {
    const auto sampler = std::make_shared<CountingSampler>(kMany);
    const std::shared_ptr<FaultyDataset> dataset = NumberedSamples(kMany);
    DataLoaderOptions options = Options(10);
    options.sampler = sampler;
    options.prefetch_factor = 4;
    ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<DataLoader> loader,
        DataLoader::Create(dataset, MakeDrawTransform(), options));
    LoaderState state = loader->state();
    state.step = step;
    ASSERT_OK(loader->Restore(Stored(state)));
    ASSERT_OK_AND_ASSIGN(const std::optional<Batch> batch, loader->Next());
    EXPECT_EQ(batch->step(), step);
    // The batch, what is made ahead of it, and the one after.
    EXPECT_LE(sampler->calls(), 10 * (4 + 2));
    EXPECT_LE(dataset->total_reads(), 10 * (4 + 2));
  }
}

TEST(Case60Test, ASecondResumeInAnEpochDoesNotGoBack) {
  constexpr int64_t kBatch = 2;
  const RunResult first = RunLoaders(1, NumberedSamples(kSamples),
                                     Options(kBatch), {.batches = 30});
  EXPECT_EQ(first.states[0].step, 30);
  const RunResult second =
      RunLoaders(1, NumberedSamples(kSamples), Options(kBatch),
                 {.batches = 10, .from = Stored(first.states[0])});
  EXPECT_EQ(second.states[0].step, 40);
  const RunResult third =
      RunLoaders(1, NumberedSamples(kSamples), Options(kBatch),
                 {.from = Stored(second.states[0])});
  EXPECT_EQ(third.samples.front().step, 40);
  EXPECT_EQ(third.samples, UnbrokenFrom(40, kBatch));
}

TEST(Case60Test, ResumingAtTheVeryEndOfAnEpochGoesOnWithTheNext) {
  const RunResult first =
      RunLoaders(1, NumberedSamples(kSamples), Options(10), {.batches = 10});
  const RunResult second =
      RunLoaders(1, NumberedSamples(kSamples), Options(10),
                 {.batches = 10, .from = Stored(first.states[0])});
  EXPECT_EQ(second.samples, UnbrokenFrom(10, 10, /*epochs=*/2));
}

TEST(Case62Test, BatchesThatWereOnlyPrefetchedAreNotInTheState) {
  DataLoaderOptions options = Options(5, /*workers=*/4);
  options.prefetch_factor = 8;
  const std::shared_ptr<FaultyDataset> dataset = NumberedSamples(kSamples);
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<DataLoader> loader,
      DataLoader::Create(dataset, MakeDrawTransform(), options));
  for (int i = 0; i < 3; ++i) ASSERT_OK(loader->Next());
  // All eight in flight have been begun.
  const Delivered last = UnbrokenFrom(3, 5)[8 * 5 - 1];
  dataset->WaitForReads(last.index, 1);
  EXPECT_EQ(loader->state().epoch, 0);
  EXPECT_EQ(loader->state().step, 3);
  const RunResult resumed = RunLoaders(1, NumberedSamples(kSamples), options,
                                       {.from = Stored(loader->state())});
  EXPECT_EQ(resumed.samples, UnbrokenFrom(3, 5));
}

TEST(Case63Test, AnotherNumberOfRanksGoesOnWithTheSameGlobalBatches) {
  const std::vector<Delivered> unbroken = UnbrokenFrom(0, 20);
  const RunResult first =
      RunLoaders(4, NumberedSamples(kSamples), Options(20), {.batches = 2});
  EXPECT_EQ(first.samples,
            std::vector<Delivered>(unbroken.begin(), unbroken.begin() + 40));
  // All ranks save the same state.
  EXPECT_THAT(first.states, Each(Field(&LoaderState::step, 2)));

  const RunResult two_ranks =
      RunLoaders(2, NumberedSamples(kSamples), Options(20),
                 {.from = Stored(first.states[3])});
  EXPECT_THAT(two_ranks.samples_of_rank, Each(30));
  EXPECT_EQ(two_ranks.samples,
            std::vector<Delivered>(unbroken.begin() + 40, unbroken.end()));

  const RunResult five_ranks =
      RunLoaders(5, NumberedSamples(kSamples), Options(20),
                 {.from = Stored(first.states[0])});
  EXPECT_THAT(five_ranks.samples_of_rank, Each(12));
  EXPECT_EQ(five_ranks.samples, two_ranks.samples);
}

TEST(Case63Test, EvaluationResumesOnAnotherNumberOfRanks) {
  DataLoaderOptions options = Options(8);
  options.order = distributed::Order::kSequential;
  options.tail = distributed::Tail::kShort;
  const std::vector<Delivered> unbroken =
      RunLoaders(1, NumberedSamples(21), options).samples;
  ASSERT_THAT(unbroken, SizeIs(21));
  const RunResult first =
      RunLoaders(3, NumberedSamples(21), options, {.batches = 1});
  for (const int world : {1, 2, 7}) {
    const RunResult second = RunLoaders(world, NumberedSamples(21), options,
                                        {.from = Stored(first.states[0])});
    std::vector<Delivered> both = first.samples;
    both.insert(both.end(), second.samples.begin(), second.samples.end());
    EXPECT_EQ(both, unbroken) << world << " ranks";
  }
}

}  // namespace
}  // namespace millrace::loader
