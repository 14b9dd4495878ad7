// Failures that users of other loaders have reported of sampling: orders,
// tails, seeds, shares of ranks and random numbers. The numbers in the tests'
// names are those of the list of cases.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "distributed/communicator.h"
#include "distributed/distributed_sampler.h"
#include "distributed/order.h"
#include "distributed/torch_distributed_sampler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loader/data_loader.h"
#include "tests/loader/numbered_samples.h"
#include "tests/loader/run_loaders.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"

namespace millrace::loader {
namespace {

using distributed::Order;
using distributed::Tail;
using distributed::TorchDistributedSampler;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

DataLoaderOptions TrainOptions(int64_t batch_size) {
  DataLoaderOptions options;
  options.batch_size = batch_size;
  options.seed = 7;
  options.num_workers = 1;
  return options;
}

DataLoaderOptions EvalOptions(int64_t batch_size) {
  DataLoaderOptions options = TrainOptions(batch_size);
  options.order = Order::kSequential;
  options.tail = Tail::kShort;
  return options;
}

std::vector<int64_t> AllOf0To(int64_t n) {
  std::vector<int64_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(Case44Test, EpochsDifferWithoutAnyCallAndAreThoseOfAFreshStart) {
  for (const int world : {1, 2}) {
    DataLoaderOptions options = TrainOptions(11);
    const RunResult run =
        RunLoaders(world, NumberedSamples(22), options, {.epochs = 3});
    std::set<std::vector<int64_t>> orders;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<Delivered> part;
      std::copy_if(
          run.samples.begin(), run.samples.end(), std::back_inserter(part),
          [epoch](const Delivered& sample) { return sample.epoch == epoch; });
      RunResult one_epoch{.samples = part};
      orders.insert(one_epoch.Indices());
      EXPECT_EQ(RunLoaders(world, NumberedSamples(22), options,
                           {.start_epoch = epoch})
                    .samples,
                part);
    }
    EXPECT_THAT(orders, SizeIs(3));
  }
}

TEST(Case44Test, NamingTheEpochTwiceIsNamingItOnce) {
  const auto first_batch = [](int times) {
    absl::StatusOr<std::unique_ptr<DataLoader>> loader = DataLoader::Create(
        NumberedSamples(22), MakeDrawTransform(), TrainOptions(22));
    EXPECT_OK(loader);
    for (int i = 0; i < times; ++i) EXPECT_OK((*loader)->StartEpoch(5));
    std::vector<Delivered> samples;
    absl::StatusOr<std::optional<Batch>> batch = (*loader)->Next();
    EXPECT_OK(batch);
    AppendDelivered(**batch, &samples);
    return samples;
  };
  EXPECT_EQ(first_batch(1), first_batch(2));
}

TEST(Case45Test, EvaluationTakesEachSampleOnceOnAnyNumberOfRanks) {
  constexpr int64_t kSamples = 21;
  for (const int world : {1, 2, 3, 7}) {
    const RunResult run =
        RunLoaders(world, NumberedSamples(kSamples), EvalOptions(8));
    EXPECT_EQ(run.Indices(), AllOf0To(kSamples)) << world << " ranks";
    EXPECT_THAT(run.batches_of_rank, Each(3));
    // A metric: how many samples have label 2.
    EXPECT_EQ(std::count_if(run.samples.begin(), run.samples.end(),
                            [](const Delivered& s) { return s.label == 2; }),
              3);
  }
}

TEST(Case45Test, EvaluationIsExactOn24Ranks) {
  constexpr int64_t kSamples = 50'000;
  DataLoaderOptions options = EvalOptions(24 * 64);
  options.num_workers = 0;
  const RunResult run = RunLoaders(24, NumberedSamples(kSamples), options);
  EXPECT_EQ(run.Indices(), AllOf0To(kSamples));
  EXPECT_THAT(run.batches_of_rank, Each(kSamples / (24 * 64) + 1));
}

// The samples of each rank, in its order, by the PyTorch-compatible sampler and
// global batches of the whole epoch.
std::vector<std::vector<int64_t>> TorchShares(int64_t size, int world,
                                              bool drop_last,
                                              bool shuffle = false,
                                              int64_t epoch = 0) {
  absl::StatusOr<TorchDistributedSampler> sampler =
      TorchDistributedSampler::Create({.dataset_size = size,
                                       .world_size = world,
                                       .shuffle = shuffle,
                                       .drop_last = drop_last});
  EXPECT_OK(sampler);
  DataLoaderOptions options = EvalOptions(sampler->size());
  options.sampler =
      std::make_shared<TorchDistributedSampler>(*std::move(sampler));
  const RunResult run =
      RunLoaders(world, NumberedSamples(size), options, {.start_epoch = epoch});
  std::vector<std::vector<int64_t>> shares(world);
  for (const Delivered& sample : run.samples) {
    shares[sample.position % world].push_back(sample.index);
  }
  return shares;
}

TEST(Case46Test, TheSamplesThatAreRepeatedAreThoseOfPyTorch) {
  EXPECT_THAT(TorchShares(10, 4, /*drop_last=*/false),
              ElementsAre(ElementsAre(0, 4, 8), ElementsAre(1, 5, 9),
                          ElementsAre(2, 6, 0), ElementsAre(3, 7, 1)));
}

TEST(Case47Test, DroppingLeavesOutTheLastSamplesOnce) {
  EXPECT_THAT(TorchShares(10, 4, /*drop_last=*/true),
              ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5),
                          ElementsAre(2, 6), ElementsAre(3, 7)));
}

// Lines that are logged while `run` runs.
std::vector<std::string> LinesLoggedBy(const std::function<void()>& run) {
  std::vector<std::string> lines;
  SetLogSink([&lines](absl::string_view line) { lines.emplace_back(line); });
  run();
  SetLogSink(nullptr);
  return lines;
}

TEST(Case47Test, WhatIsDroppedOrPaddedIsReportedOnce) {
  DataLoaderOptions options = TrainOptions(4);
  EXPECT_THAT(LinesLoggedBy([&options] {
                RunLoaders(4, NumberedSamples(10), options, {.epochs = 3});
              }),
              ElementsAre("dropped=2 in each epoch of 10 samples, which "
                          "batches of 4 don't divide (tail=drop)\n"));
  options.tail = Tail::kPad;
  EXPECT_THAT(LinesLoggedBy([&options] {
                RunLoaders(2, NumberedSamples(11), options, {.epochs = 2});
              }),
              ElementsAre(HasSubstr("padded=1 in each epoch of 11 samples")));
  EXPECT_THAT(LinesLoggedBy([&options] {
                RunLoaders(2, NumberedSamples(12), options);
                RunLoaders(2, NumberedSamples(11), EvalOptions(4));
              }),
              IsEmpty());
}

TEST(Case47Test, WhatIsDroppedChangesByEpoch) {
  DataLoaderOptions options = TrainOptions(4);
  for (const int world : {1, 4}) {
    const RunResult run =
        RunLoaders(world, NumberedSamples(10), options, {.epochs = 8});
    std::set<std::vector<int64_t>> dropped;
    for (int64_t epoch = 0; epoch < 8; ++epoch) {
      std::vector<int64_t> missing = AllOf0To(10);
      for (const Delivered& sample : run.samples) {
        if (sample.epoch == epoch) std::erase(missing, sample.index);
      }
      EXPECT_THAT(missing, SizeIs(2));
      dropped.insert(missing);
    }
    EXPECT_THAT(dropped, SizeIs(Ge(2)));
  }
}

TEST(Case49Test, MoreRanksThanSamplesArePaddedAsInPyTorch) {
  EXPECT_THAT(TorchShares(3, 7, /*drop_last=*/false),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2),
                          ElementsAre(0), ElementsAre(1), ElementsAre(2),
                          ElementsAre(0)));
}

TEST(Case49Test, MoreRanksThanSamplesCanNotBeDropped) {
  const absl::Status status =
      TorchDistributedSampler::Create(
          {.dataset_size = 3, .world_size = 7, .drop_last = true})
          .status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("3 samples < 7 ranks")));
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kUsage);
}

TEST(Case49Test, MoreRanksThanSamplesTakePartInEvaluation) {
  const RunResult run = RunLoaders(7, NumberedSamples(3), EvalOptions(7));
  EXPECT_EQ(run.Indices(), AllOf0To(3));
  EXPECT_THAT(run.batches_of_rank, Each(1));
  EXPECT_THAT(run.samples_of_rank, ElementsAre(1, 1, 1, 0, 0, 0, 0));
}

TEST(Case51Test, RanksWithDifferentSeedsAreNamed) {
  RunRanks(3, [](distributed::Communicator& communicator) {
    DataLoaderOptions options = TrainOptions(4);
    options.seed = communicator.rank() == 1 ? 2 : 1;
    options.communicator = &communicator;
    const absl::Status status =
        DataLoader::Create(NumberedSamples(12), MakeDrawTransform(), options)
            .status();
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("seed"), HasSubstr("1 on ranks 0, 2"),
                               HasSubstr("2 on rank 1"))));
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kUsage);
    EXPECT_OK(communicator.Close(absl::Minutes(1)));
  });
}

TEST(Case51Test, RanksWithDifferentDataAreNamedBeforeTheFirstBatch) {
  RunRanks(2, [](distributed::Communicator& communicator) {
    DataLoaderOptions options = TrainOptions(4);
    options.communicator = &communicator;
    // Equal sizes, other labels.
    ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<DataLoader> loader,
        DataLoader::Create(NumberedSamples(12, 2 + communicator.rank()),
                           MakeDrawTransform(), options));
    const absl::Status status = loader->Next().status();
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("fingerprint"), HasSubstr("rank 0"),
                               HasSubstr("rank 1"))));
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kUsage);
    EXPECT_OK(communicator.Close(absl::Minutes(1)));
  });
}

TEST(Case51Test, WithoutASeedRanksShareOneAndSplitTheData) {
  DataLoaderOptions options = TrainOptions(6);
  options.seed = std::nullopt;
  const RunResult run = RunLoaders(3, NumberedSamples(60), options);
  EXPECT_THAT(run.Indices(), UnorderedElementsAreArray(AllOf0To(60)));
  EXPECT_EQ(run.states[1].seed, run.states[0].seed);
  EXPECT_EQ(run.states[2].seed, run.states[0].seed);
  EXPECT_NE(RunLoaders(3, NumberedSamples(60), options).states[0].seed,
            run.states[0].seed);
}

TEST(Case54Test, BatchesOfASetInClassOrderHoldManyClasses) {
  constexpr int64_t kClasses = 100;
  DataLoaderOptions options = TrainOptions(64);
  const RunResult run = RunLoaders(1, NumberedSamples(100 * kClasses, kClasses),
                                   options, {.batches = 10});
  std::vector<std::set<int64_t>> classes(10);
  for (const Delivered& sample : run.samples) {
    EXPECT_EQ(sample.label, sample.index / 100);
    classes[sample.step].insert(sample.label);
  }
  size_t sum = 0;
  for (const std::set<int64_t>& batch : classes) {
    EXPECT_THAT(batch, SizeIs(Ge(40)));
    sum += batch.size();
  }
  // A true permutation gives 47.4 on average.
  EXPECT_NEAR(static_cast<double>(sum) / 10, 47.4, 3);
}

TEST(Case55Test, OneStoreIsSplitBySampleBetweenRanksAndWorkers) {
  DataLoaderOptions options = TrainOptions(40);
  options.num_workers = 8;
  const RunResult run = RunLoaders(4, NumberedSamples(1000), options);
  EXPECT_THAT(run.Indices(), UnorderedElementsAreArray(AllOf0To(1000)));
  EXPECT_THAT(run.samples_of_rank, Each(250));
}

TEST(Case56Test, TheNumberOfWorkersChangesNothing) {
  DataLoaderOptions options = TrainOptions(16);
  options.num_workers = 0;
  const std::vector<Delivered> expected =
      RunLoaders(1, NumberedSamples(64), options, {.epochs = 2}).samples;
  for (const int workers : {1, 2, 7}) {
    options.num_workers = workers;
    EXPECT_EQ(
        RunLoaders(1, NumberedSamples(64), options, {.epochs = 2}).samples,
        expected);
  }
}

TEST(Case57Test, NoTwoSamplesDrawTheSameNumbers) {
  DataLoaderOptions options = TrainOptions(16);
  options.num_workers = 8;
  const RunResult run =
      RunLoaders(2, NumberedSamples(80), options, {.epochs = 2});
  ASSERT_THAT(run.samples, SizeIs(160));
  std::set<std::pair<int64_t, int64_t>> draws;
  std::set<int64_t> first_draws;
  for (const Delivered& sample : run.samples) {
    draws.emplace(sample.first_draw, sample.second_draw);
    first_draws.insert(sample.first_draw);
  }
  EXPECT_THAT(draws, SizeIs(160));
  EXPECT_THAT(first_draws, SizeIs(160));
}

TEST(Case57Test, ASampleDrawnTwiceInAnEpochIsAugmentedAnew) {
  DataLoaderOptions options = TrainOptions(16);
  options.tail = Tail::kPad;
  const RunResult run = RunLoaders(1, NumberedSamples(20), options);
  ASSERT_THAT(run.samples, SizeIs(32));
  std::set<int64_t> draws;
  for (const Delivered& sample : run.samples) draws.insert(sample.first_draw);
  EXPECT_THAT(draws, SizeIs(32));
}

}  // namespace
}  // namespace millrace::loader
