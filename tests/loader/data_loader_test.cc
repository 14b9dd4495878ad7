#include "loader/data_loader.h"

#include <atomic>
#include <cstring>
#include <latch>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/mutex.h"
#include "distributed/communicator_threads.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/memory_dataset.h"
#include "tests/support/faulty_dataset.h"
#include "tests/support/status_matchers.h"

namespace millrace::loader {
namespace {

using distributed::Order;
using distributed::Tail;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Writes, for each sample, its first value and two random words of its own.
class DrawTransform : public SampleTransform {
 public:
  explicit DrawTransform(int64_t scratch_bytes = 0)
      : scratch_bytes_(scratch_bytes),
        outputs_({{"draw", DType::kInt64, {3}}}) {}

  absl::Span<const OutputField> outputs() const override { return outputs_; }
  std::unique_ptr<Context> MakeContext() const override {
    return std::make_unique<Context>();
  }
  absl::Status Run(const storage::Sample& sample, Generator* generator,
                   Context*, absl::Span<void* const> outputs) const override {
    int64_t values[3];
    std::memcpy(values, sample.fields()[0].bytes.data(), sizeof(int64_t));
    values[1] = generator->NextU32();
    values[2] = generator->NextU32();
    std::memcpy(outputs[0], values, sizeof(values));
    return absl::OkStatus();
  }
  int64_t ScratchBytes(const storage::Sample&) const override {
    return scratch_bytes_;
  }
  std::string Describe() const override { return "draw"; }

 private:
  int64_t scratch_bytes_;
  std::vector<OutputField> outputs_;
};

// N samples; sample i holds the number 1000 + i and has label i % 7.
std::shared_ptr<FaultyDataset> Numbers(int64_t n) {
  auto values = std::make_shared<std::vector<int64_t>>(n);
  std::iota(values->begin(), values->end(), 1000);
  storage::MemoryDatasetOptions options;
  options.size = n;
  storage::ArrayField field;
  field.name = "value";
  field.dtype = DType::kInt64;
  field.data = values->data();
  options.arrays = {field};
  for (int64_t i = 0; i < n; ++i) options.labels.push_back(i % 7);
  options.owner = values;
  auto dataset = storage::MemoryDataset::Create(std::move(options));
  EXPECT_OK(dataset);
  return std::make_shared<FaultyDataset>(
      std::shared_ptr<const storage::Dataset>(*std::move(dataset)));
}

DataLoaderOptions Options(int64_t batch_size, int workers) {
  DataLoaderOptions options;
  options.batch_size = batch_size;
  options.num_workers = workers;
  options.seed = 7;
  return options;
}

std::unique_ptr<DataLoader> MakeLoader(
    std::shared_ptr<const storage::Dataset> dataset,
    const DataLoaderOptions& options) {
  auto loader = DataLoader::Create(std::move(dataset),
                                   std::make_shared<DrawTransform>(), options);
  EXPECT_OK(loader);
  return loader.ok() ? *std::move(loader) : nullptr;
}

// All that a batch holds, as text.
std::string Text(const Batch& batch) {
  std::string text = absl::StrCat("e", batch.epoch(), " s", batch.step(), ":");
  const int64_t* draws = batch.images().As<int64_t>();
  for (int64_t i = 0; i < batch.size(); ++i) {
    absl::StrAppend(&text, " ", batch.positions()[i], "/", batch.indices()[i],
                    "=", draws[3 * i], ",", draws[3 * i + 1], ",",
                    draws[3 * i + 2], "#", batch.labels().As<int64_t>()[i]);
  }
  return text;
}

// The batches from where the loader stands to the end of `epochs` epochs.
std::vector<std::string> Drain(DataLoader& loader, int epochs = 1) {
  std::vector<std::string> batches;
  while (epochs > 0) {
    auto batch = loader.Next();
    EXPECT_OK(batch);
    if (!batch.ok()) break;
    if (batch->has_value()) {
      batches.push_back(Text(**batch));
    } else {
      --epochs;
    }
  }
  return batches;
}

std::vector<int64_t> Indices(const Batch& batch) {
  return {batch.indices().begin(), batch.indices().end()};
}

TEST(DataLoaderTest, ABatchHoldsImagesLabelsIndicesAndItsPlace) {
  DataLoaderOptions options = Options(4, 1);
  options.order = Order::kSequential;
  auto loader = MakeLoader(Numbers(10), options);
  ASSERT_OK_AND_ASSIGN(auto first, loader->Next());
  ASSERT_OK_AND_ASSIGN(auto batch, loader->Next());
  EXPECT_EQ(batch->size(), 4);
  EXPECT_EQ(batch->global_size(), 4);
  EXPECT_EQ(batch->epoch(), 0);
  EXPECT_EQ(batch->step(), 1);
  EXPECT_EQ(batch->global_step(), 1);
  EXPECT_THAT(batch->indices(), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(batch->positions(), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(batch->images().shape, Shape({4, 3}));
  EXPECT_EQ(batch->images().As<int64_t>()[0], 1004);
  EXPECT_EQ(batch->labels().shape, Shape({4}));
  EXPECT_EQ(batch->labels().As<int64_t>()[3], 0);
  EXPECT_EQ(batch->Find("draw"), &batch->images());
  EXPECT_EQ(batch->Find("mask"), nullptr);
}

TEST(DataLoaderTest, TheEndOfAnEpochIsOneNulloptAndTheNextFollows) {
  auto loader = MakeLoader(Numbers(10), Options(5, 2));
  EXPECT_EQ(loader->steps(), 2);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 0; step < 2; ++step) {
      ASSERT_OK_AND_ASSIGN(auto batch, loader->Next());
      ASSERT_TRUE(batch.has_value());
      EXPECT_EQ(batch->epoch(), epoch);
      EXPECT_EQ(batch->step(), step);
      EXPECT_EQ(batch->global_step(), 2 * epoch + step);
    }
    ASSERT_OK_AND_ASSIGN(auto end, loader->Next());
    EXPECT_FALSE(end.has_value());
  }
}

// Row 56 of the public cases, and its whole kind.
TEST(DataLoaderTest, WorkersPrefetchAndPersistenceChangeNothing) {
  const auto expected = Drain(*MakeLoader(Numbers(64), Options(8, 0)), 3);
  ASSERT_EQ(expected.size(), 24u);
  for (const int workers : {0, 1, 2, 7}) {
    for (const int prefetch : {1, 2, 9}) {
      for (const bool persistent : {true, false}) {
        DataLoaderOptions options = Options(8, workers);
        options.prefetch_factor = prefetch;
        options.persistent_workers = persistent;
        EXPECT_EQ(Drain(*MakeLoader(Numbers(64), options), 3), expected)
            << workers << " workers, prefetch " << prefetch;
      }
    }
  }
}

TEST(DataLoaderTest, EveryWorldSizeSharesTheSameGlobalBatches) {
  constexpr int64_t kSamples = 53;
  std::map<std::pair<int64_t, int64_t>, std::string> expected;
  for (const int world : {1, 2, 3, 5}) {
    auto ranks = distributed::MakeThreadCommunicators(world);
    Mutex mutex;
    // (step, position) -> what the sample is.
    std::map<std::pair<int64_t, int64_t>, std::string> seen;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world; ++rank) {
      threads.emplace_back([&, rank] {
        DataLoaderOptions options = Options(8, rank % 3);
        options.tail = Tail::kShort;
        options.communicator = ranks[rank].get();
        auto loader = MakeLoader(Numbers(kSamples), options);
        int64_t steps = 0;
        while (true) {
          auto batch = loader->Next();
          ASSERT_OK(batch);
          if (!batch->has_value()) break;
          ++steps;
          EXPECT_EQ((*batch)->global_size(), steps == 7 ? 5 : 8);
          const int64_t* draws = (*batch)->images().As<int64_t>();
          MutexLock lock(&mutex);
          for (int64_t i = 0; i < (*batch)->size(); ++i) {
            EXPECT_TRUE(
                seen.emplace(
                        std::pair((*batch)->step(), (*batch)->positions()[i]),
                        absl::StrCat((*batch)->indices()[i], " ", draws[3 * i],
                                     " ", draws[3 * i + 1]))
                    .second);
          }
        }
        EXPECT_EQ(steps, 7);
        EXPECT_OK(ranks[rank]->Close(absl::Seconds(60)));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(seen.size(), static_cast<size_t>(kSamples));
    if (world == 1) expected = seen;
    EXPECT_EQ(seen, expected) << world << " ranks";
  }
}

TEST(DataLoaderTest, ARankWithoutSamplesStillGetsItsBatches) {
  auto ranks = distributed::MakeThreadCommunicators(3);
  std::vector<std::thread> threads;
  std::atomic<int64_t> samples = 0;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      DataLoaderOptions options = Options(8, 1);
      options.tail = Tail::kShort;
      options.communicator = ranks[rank].get();
      auto loader = MakeLoader(Numbers(2), options);
      auto batch = loader->Next();
      ASSERT_OK(batch);
      ASSERT_TRUE(batch->has_value());
      EXPECT_EQ((*batch)->size(), rank < 2 ? 1 : 0);
      EXPECT_EQ((*batch)->global_size(), 2);
      EXPECT_EQ((*batch)->images().shape[0], (*batch)->size());
      samples += (*batch)->size();
      auto end = loader->Next();
      ASSERT_OK(end);
      EXPECT_FALSE(end->has_value());
      EXPECT_OK(ranks[rank]->Close(absl::Seconds(60)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(samples, 2);
}

TEST(DataLoaderTest, RanksThatDisagreeStopWithTheFieldAndExitCode2) {
  auto ranks = distributed::MakeThreadCommunicators(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      DataLoaderOptions options = Options(rank == 0 ? 8 : 10, 1);
      options.communicator = ranks[rank].get();
      auto loader = MakeLoader(Numbers(100), options);
      const auto batch = loader->Next();
      EXPECT_THAT(batch, StatusIs(absl::StatusCode::kFailedPrecondition,
                                  AllOf(HasSubstr("batch_size"), HasSubstr("8"),
                                        HasSubstr("10"))));
      EXPECT_EQ(ExitCodeOf(batch.status()), ExitCode::kUsage);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Row 44: nobody calls set_epoch.
TEST(DataLoaderTest, EpochsDifferAndEqualThoseOfAFreshLoader) {
  auto loader = MakeLoader(Numbers(22), Options(22, 1));
  std::set<std::vector<int64_t>> orders;
  for (int epoch = 0; epoch < 3; ++epoch) {
    ASSERT_OK_AND_ASSIGN(auto batch, loader->Next());
    orders.insert(Indices(*batch));
    auto fresh = MakeLoader(Numbers(22), Options(22, 0));
    ASSERT_OK(fresh->StartEpoch(epoch));
    ASSERT_OK(fresh->StartEpoch(epoch));
    ASSERT_OK_AND_ASSIGN(auto same, fresh->Next());
    EXPECT_EQ(Text(*batch), Text(*same));
    ASSERT_OK(loader->Next());
  }
  EXPECT_EQ(orders.size(), 3u);
}

// Row 73.
TEST(DataLoaderTest, AfterLeavingAnEpochHalfWayTheNextIsWhole) {
  for (const bool persistent : {true, false}) {
    DataLoaderOptions options = Options(10, 2);
    options.persistent_workers = persistent;
    auto loader = MakeLoader(Numbers(100), options);
    for (int i = 0; i < 3; ++i) ASSERT_OK(loader->Next());
    ASSERT_OK(loader->StartEpoch(1));
    auto reference = MakeLoader(Numbers(100), Options(10, 0));
    ASSERT_OK(reference->StartEpoch(1));
    EXPECT_EQ(Drain(*loader), Drain(*reference));
  }
}

TEST(DataLoaderTest, StartEpochRefusesEpochsOutOfRange) {
  auto loader = MakeLoader(Numbers(4), Options(2, 0));
  EXPECT_THAT(loader->StartEpoch(-1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-1")));
  EXPECT_THAT(loader->StartEpoch(int64_t{1} << 31),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_OK(loader->StartEpoch((int64_t{1} << 31) - 1));
}

// Rows 59, 60 and 62.
TEST(DataLoaderTest, ARestoredLoaderGoesOnWithoutReadingWhatItSkips) {
  const auto whole = Drain(*MakeLoader(Numbers(100), Options(10, 0)), 2);
  DataLoaderOptions options = Options(10, 3);
  options.prefetch_factor = 8;
  auto loader = MakeLoader(Numbers(100), options);
  for (int i = 0; i < 3; ++i) ASSERT_OK(loader->Next());
  const LoaderState state = loader->state();
  EXPECT_EQ(state.epoch, 0);
  EXPECT_EQ(state.step, 3);

  auto dataset = Numbers(100);
  auto resumed = MakeLoader(dataset, Options(10, 2));
  ASSERT_OK(resumed->Restore(state));
  EXPECT_EQ(Drain(*resumed, 2),
            std::vector<std::string>(whole.begin() + 3, whole.end()));
  // Each of the 70 left of this epoch, 100 of the next, and what was prefetched
  // of the third; none of the first 30 of this one.
  EXPECT_GE(dataset->total_reads(), 170);
  EXPECT_LE(dataset->total_reads(), 170 + 30);

  auto again = MakeLoader(Numbers(100), options);
  ASSERT_OK(again->Restore(state));
  ASSERT_OK(again->Next());
  EXPECT_EQ(again->state().step, 4);
}

TEST(DataLoaderTest, TheStateAtTheEndOfAnEpochLeadsToTheNext) {
  auto loader = MakeLoader(Numbers(20), Options(10, 1));
  ASSERT_OK(loader->Next());
  ASSERT_OK(loader->Next());
  const LoaderState at_end = loader->state();
  EXPECT_EQ(at_end.step, 2);
  for (const int workers : {0, 2}) {
    auto resumed = MakeLoader(Numbers(20), Options(10, workers));
    ASSERT_OK(resumed->Restore(at_end));
    ASSERT_OK_AND_ASSIGN(auto end, resumed->Next());
    EXPECT_FALSE(end.has_value());
    ASSERT_OK_AND_ASSIGN(auto batch, resumed->Next());
    ASSERT_TRUE(batch.has_value());
    EXPECT_EQ(batch->epoch(), 1);
    EXPECT_EQ(batch->step(), 0);
  }
}

TEST(DataLoaderTest, RestoreRefusesAStateOfAnotherRun) {
  auto loader = MakeLoader(Numbers(100), Options(10, 0));
  const LoaderState state = loader->state();
  auto other = MakeLoader(Numbers(100), Options(20, 0));
  EXPECT_THAT(other->Restore(state),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("10"), HasSubstr("20"))));
  LoaderState beyond = state;
  beyond.step = 11;
  EXPECT_THAT(loader->Restore(beyond),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("11")));
}

// Row 69.
TEST(DataLoaderTest, ABadSampleFailsItsBatchAloneAndIsNamed) {
  for (const int workers : {0, 3}) {
    auto dataset = Numbers(30);
    dataset->Fail(13, absl::DataLossError("torn"));
    DataLoaderOptions options = Options(10, workers);
    options.order = Order::kSequential;
    auto loader = MakeLoader(dataset, options);
    ASSERT_OK_AND_ASSIGN(auto first, loader->Next());
    EXPECT_THAT(first->indices()[0], 0);
    const auto bad = loader->Next();
    EXPECT_THAT(bad, StatusIs(absl::StatusCode::kDataLoss,
                              AllOf(HasSubstr("torn"), HasSubstr("sample 13"),
                                    HasSubstr("epoch 0"), HasSubstr("rank 0"),
                                    HasSubstr("worker "))));
    EXPECT_EQ(ExitCodeOf(bad.status()), ExitCode::kData);
    ASSERT_OK_AND_ASSIGN(auto third, loader->Next());
    EXPECT_EQ(third->step(), 2);
    EXPECT_THAT(third->indices()[0], 20);
    ASSERT_OK_AND_ASSIGN(auto end, loader->Next());
    EXPECT_FALSE(end.has_value());
  }
}

TEST(DataLoaderTest, AnUnavailableDiskIsAStorageErrorAndNoLostRank) {
  auto dataset = Numbers(4);
  dataset->Fail(0, absl::UnavailableError("I/O error"));
  auto loader = MakeLoader(dataset, Options(4, 0));
  EXPECT_EQ(ExitCodeOf(loader->Next().status()), ExitCode::kStorage);
}

// Row 76: a read that never returns.
TEST(DataLoaderTest, AStalledReadEndsInAnErrorThatNamesTheSample) {
  auto dataset = Numbers(4);
  std::latch release(1);
  dataset->Block(2, &release);
  DataLoaderOptions options = Options(4, 1);
  options.order = Order::kSequential;
  options.timeout = absl::Milliseconds(50);
  auto loader = MakeLoader(dataset, options);
  const auto batch = loader->Next();
  EXPECT_THAT(
      batch, StatusIs(absl::StatusCode::kDeadlineExceeded,
                      AllOf(HasSubstr("reading sample 2"), HasSubstr("50ms"))));
  EXPECT_EQ(ExitCodeOf(batch.status()), ExitCode::kResource);
  release.count_down();
  // The batch is not lost: it comes when it is done.
  absl::StatusOr<std::optional<Batch>> late = loader->Next();
  while (late.status().code() == absl::StatusCode::kDeadlineExceeded) {
    late = loader->Next();
  }
  ASSERT_OK(late);
  EXPECT_EQ((*late)->step(), 0);
}

TEST(DataLoaderTest, AWaitingConsumerHearsOfAnotherRanksFailure) {
  auto ranks = distributed::MakeThreadCommunicators(2);
  auto dataset = Numbers(4);
  std::latch release(1);
  dataset->Block(1, &release);
  std::thread other([&] {
    DataLoaderOptions options = Options(4, 1);
    options.order = Order::kSequential;
    options.communicator = ranks[0].get();
    auto loader = MakeLoader(Numbers(4), options);
    EXPECT_OK(loader->Next());
    dataset->WaitForReads(1, 1);
    ranks[0]->ReportFailure(absl::DataLossError("a bad sample"));
  });
  DataLoaderOptions options = Options(4, 1);
  options.order = Order::kSequential;
  options.communicator = ranks[1].get();
  auto loader = MakeLoader(dataset, options);
  EXPECT_THAT(loader->Next(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("a bad sample")));
  other.join();
  release.count_down();
}

// Row 71, and destruction in every state.
TEST(DataLoaderTest, IsDestroyedWhileBusyFullBlockedOrUnused) {
  { auto unused = MakeLoader(Numbers(10), Options(2, 4)); }
  {
    DataLoaderOptions options = Options(2, 16);
    options.prefetch_factor = 8;
    auto full = MakeLoader(Numbers(100), options);
    ASSERT_OK(full->Next());
  }
  {
    // Two workers wait for memory behind the oldest, which reads.
    auto dataset = Numbers(8);
    std::latch release(1);
    dataset->Block(0, &release);
    DataLoaderOptions options = Options(4, 3);
    options.order = Order::kSequential;
    options.inflight_bytes = 10;
    options.timeout = absl::Milliseconds(20);
    auto loader = DataLoader::Create(
        dataset, std::make_shared<DrawTransform>(100), options);
    ASSERT_OK(loader);
    EXPECT_THAT((*loader)->Next(),
                StatusIs(absl::StatusCode::kDeadlineExceeded));
    dataset->WaitForReads(1, 1);
    release.count_down();
  }
}

TEST(DataLoaderTest, BatchesOutliveTheLoader) {
  std::optional<Batch> batch;
  {
    auto loader = MakeLoader(Numbers(10), Options(10, 1));
    ASSERT_OK_AND_ASSIGN(batch, loader->Next());
  }
  const Batch copy = *batch;
  batch.reset();
  EXPECT_EQ(copy.images().As<int64_t>()[0], 1000 + copy.indices()[0]);
}

TEST(DataLoaderTest, HeldBatchesAreNeverOverwritten) {
  auto loader = MakeLoader(Numbers(40), Options(4, 2));
  std::vector<Batch> held;
  std::vector<std::string> texts;
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK_AND_ASSIGN(auto batch, loader->Next());
    held.push_back(*batch);
    texts.push_back(Text(*batch));
  }
  for (size_t i = 0; i < held.size(); ++i) EXPECT_EQ(Text(held[i]), texts[i]);
}

TEST(DataLoaderTest, HoldingTooManyBatchesIsAnErrorAndNoDeadlock) {
  for (const int workers : {0, 2}) {
    DataLoaderOptions options = Options(4, workers);
    // A batch takes 4 * 3 * 8 bytes and 4 labels, each rounded up to 64: 192.
    options.memory_limit_bytes = 192 * 5;
    auto loader = MakeLoader(Numbers(400), options);
    std::vector<Batch> held;
    absl::Status error;
    while (error.ok() && held.size() < 100) {
      auto batch = loader->Next();
      error = batch.status();
      if (error.ok()) held.push_back(**batch);
    }
    EXPECT_EQ(held.size(), 5u);
    EXPECT_THAT(error, StatusIs(absl::StatusCode::kResourceExhausted,
                                AllOf(HasSubstr("5 batches"),
                                      HasSubstr("memory_limit_bytes"))));
    EXPECT_EQ(ExitCodeOf(error), ExitCode::kResource);
    // Nothing is lost: once batches are dropped, the same one comes.
    held.clear();
    ASSERT_OK_AND_ASSIGN(auto batch, loader->Next());
    EXPECT_EQ(batch->step(), 5);
  }
}

// Row 81's cause: huge samples do not meet, and all get through.
TEST(DataLoaderTest, SamplesLargerThanTheBudgetGetThroughOneByOne) {
  DataLoaderOptions options = Options(8, 4);
  options.inflight_bytes = 10;
  auto loader = DataLoader::Create(
      Numbers(32), std::make_shared<DrawTransform>(1000), options);
  ASSERT_OK(loader);
  EXPECT_EQ(Drain(**loader, 2),
            Drain(*MakeLoader(Numbers(32), Options(8, 0)), 2));
}

TEST(DataLoaderTest, ACollateFunctionMakesTheBatch) {
  for (const int workers : {0, 3}) {
    DataLoaderOptions options = Options(5, workers);
    options.order = Order::kSequential;
    options.tail = Tail::kShort;
    options.collate = [](absl::Span<const CollateSample> samples,
                         BatchBuilder* batch) -> absl::Status {
      auto sum = batch->Add("sum", DType::kInt64, {2});
      if (!sum.ok()) return sum.status();
      for (const CollateSample& sample : samples) {
        int64_t stored;
        std::memcpy(&stored, sample.fields[0].bytes.data(), sizeof(stored));
        sum->As<int64_t>()[0] += stored;
        sum->As<int64_t>()[1] += sample.labels.AsInt64()[0];
        EXPECT_EQ(sample.outputs[0].As<int64_t>()[0], stored);
      }
      return absl::OkStatus();
    };
    auto loader = MakeLoader(Numbers(8), options);
    ASSERT_OK_AND_ASSIGN(auto first, loader->Next());
    ASSERT_NE(first->Find("sum"), nullptr);
    EXPECT_EQ(first->Find("draw"), nullptr);
    EXPECT_EQ(first->Find("sum")->As<int64_t>()[0], 5 * 1000 + 10);
    EXPECT_EQ(first->Find("sum")->As<int64_t>()[1], 10);
    ASSERT_OK_AND_ASSIGN(auto second, loader->Next());
    EXPECT_EQ(second->Find("sum")->As<int64_t>()[0], 3 * 1000 + 5 + 6 + 7);
  }
}

TEST(DataLoaderTest, ACollateFunctionsErrorNamesTheStep) {
  DataLoaderOptions options = Options(4, 1);
  options.collate = [](absl::Span<const CollateSample>, BatchBuilder*) {
    return absl::InvalidArgumentError("no boxes");
  };
  auto loader = MakeLoader(Numbers(4), options);
  EXPECT_THAT(loader->Next(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("collate"), HasSubstr("step 0"),
                             HasSubstr("no boxes"))));
}

// Visits the even samples, last first.
class EvensBackwards : public Sampler {
 public:
  int64_t size() const override { return 5; }
  int64_t IndexAt(int64_t, int64_t position) const override {
    return 8 - 2 * position;
  }
  std::string Describe() const override { return "evens backwards"; }
};

TEST(DataLoaderTest, ASamplerOfTheUsersOwnDecidesTheOrder) {
  DataLoaderOptions options = Options(3, 1);
  options.sampler = std::make_shared<EvensBackwards>();
  options.tail = Tail::kShort;
  auto loader = MakeLoader(Numbers(10), options);
  ASSERT_OK_AND_ASSIGN(auto first, loader->Next());
  EXPECT_THAT(first->indices(), ElementsAre(8, 6, 4));
  ASSERT_OK_AND_ASSIGN(auto second, loader->Next());
  EXPECT_THAT(second->indices(), ElementsAre(2, 0));
}

TEST(DataLoaderTest, TailsDecideWhatBecomesOfTheRest) {
  DataLoaderOptions options = Options(4, 1);
  options.order = Order::kSequential;
  options.tail = Tail::kDrop;
  EXPECT_EQ(MakeLoader(Numbers(10), options)->steps(), 2);
  options.tail = Tail::kPad;
  auto padded = MakeLoader(Numbers(10), options);
  ASSERT_EQ(padded->steps(), 3);
  ASSERT_OK(padded->Next());
  ASSERT_OK(padded->Next());
  ASSERT_OK_AND_ASSIGN(auto last, padded->Next());
  EXPECT_THAT(last->indices(), ElementsAre(8, 9, 0, 1));
  EXPECT_THAT(last->positions(), ElementsAre(8, 9, 10, 11));
}

TEST(DataLoaderTest, OptionsOutOfRangeAreNamedWithTheirValue) {
  const auto error = [](const DataLoaderOptions& options) {
    return DataLoader::Create(Numbers(10), std::make_shared<DrawTransform>(),
                              options)
        .status();
  };
  const auto names = [](const char* field, const char* value) {
    return StatusIs(absl::StatusCode::kInvalidArgument,
                    AllOf(HasSubstr(field), HasSubstr(value)));
  };
  EXPECT_THAT(error(Options(0, 1)), names("batch_size", "0"));
  EXPECT_THAT(error(Options(4, -1)), names("num_workers", "-1"));
  EXPECT_THAT(error(Options(4, 1025)), names("num_workers", "1025"));
  DataLoaderOptions options = Options(4, 1);
  options.prefetch_factor = 0;
  EXPECT_THAT(error(options), names("prefetch_factor", "0"));
  options = Options(4, 1);
  options.timeout = absl::ZeroDuration();
  EXPECT_THAT(error(options), names("timeout", "0"));
  options = Options(4, 1);
  options.memory_limit_bytes = 0;
  EXPECT_THAT(error(options), names("memory_limit_bytes", "0"));
  options = Options(4, 1);
  options.inflight_bytes = -5;
  EXPECT_THAT(error(options), names("inflight_bytes", "-5"));
  // Fewer samples than a batch, and nothing but whole batches wanted.
  EXPECT_THAT(error(Options(11, 1)), names("10", "11"));
}

TEST(DataLoaderTest, PinnedMemoryWithoutCudaSaysHowToGetIt) {
  DataLoaderOptions options = Options(4, 1);
  options.pin_memory = true;
  const auto loader = DataLoader::Create(
      Numbers(10), std::make_shared<DrawTransform>(), options);
  if (loader.ok()) GTEST_SKIP() << "built with CUDA, and there is a GPU";
  EXPECT_THAT(loader.status().code(), AnyOf(absl::StatusCode::kUnimplemented,
                                            absl::StatusCode::kUnavailable));
  EXPECT_THAT(loader, StatusIs(loader.status().code(), HasSubstr("CUDA")));
}

TEST(DataLoaderTest, ASeedIsDrawnWhereNoneIsGiven) {
  DataLoaderOptions options = Options(4, 1);
  options.seed.reset();
  auto a = MakeLoader(Numbers(10), options);
  auto b = MakeLoader(Numbers(10), options);
  EXPECT_NE(a->seed(), b->seed());
  options.seed = a->seed();
  EXPECT_EQ(Drain(*a), Drain(*MakeLoader(Numbers(10), options)));
}

TEST(DataLoaderTest, StatsCountSamplesBatchesAndBytes) {
  auto loader = MakeLoader(Numbers(12), Options(4, 0));
  Drain(*loader);
  const LoaderStats stats = loader->stats();
  EXPECT_EQ(stats.batches, 3);
  EXPECT_EQ(stats.samples, 12);
  EXPECT_EQ(stats.bytes_read, 12 * 8);
  EXPECT_GT(stats.wait, absl::ZeroDuration());
}

// Row 80's cause: workers are threads on the data set that was passed.
TEST(DataLoaderTest, AllWorkersUseTheDataSetThatWasPassed) {
  auto dataset = Numbers(64);
  auto loader = MakeLoader(dataset, Options(8, 32));
  EXPECT_EQ(&loader->dataset(), dataset.get());
  Drain(*loader);
  EXPECT_GE(dataset->total_reads(), 64);
}

TEST(DataLoaderTest, AutoWorkersIsSharedByLocalRanksAndAtMostEight) {
  EXPECT_GE(AutoWorkers(1), 1);
  EXPECT_LE(AutoWorkers(1), 8);
  EXPECT_EQ(AutoWorkers(1 << 20), 1);
}

}  // namespace
}  // namespace millrace::loader
