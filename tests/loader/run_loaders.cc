#include "tests/loader/run_loaders.h"

#include <algorithm>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/loader/numbered_samples.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"

namespace millrace::loader {
namespace {

// One rank's part of a run, written by its thread alone.
struct RankResult {
  std::vector<Delivered> samples;
  int64_t batches = 0;
  LoaderState state;
};

void RunRank(const std::shared_ptr<const storage::Dataset>& dataset,
             const DataLoaderOptions& options, const RunPlan& plan,
             RankResult* result) {
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<DataLoader> loader,
      DataLoader::Create(dataset, MakeDrawTransform(), options));
  if (plan.from.has_value()) {
    ASSERT_OK(loader->Restore(*plan.from));
  } else if (plan.start_epoch != 0) {
    ASSERT_OK(loader->StartEpoch(plan.start_epoch));
  }
  int64_t epochs = 0;
  while (plan.batches < 0 ? epochs < plan.epochs
                          : result->batches < plan.batches) {
    ASSERT_OK_AND_ASSIGN(const std::optional<Batch> batch, loader->Next());
    if (!batch.has_value()) {
      ++epochs;
      continue;
    }
    ++result->batches;
    AppendDelivered(*batch, &result->samples);
  }
  result->state = loader->state();
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Delivered& d) {
  return out << "epoch " << d.epoch << " step " << d.step << " position "
             << d.position << " index " << d.index << " label " << d.label
             << " number " << d.number << " draws " << d.first_draw << " "
             << d.second_draw;
}

std::vector<int64_t> RunResult::Indices() const {
  std::vector<int64_t> indices;
  for (const Delivered& sample : samples) indices.push_back(sample.index);
  return indices;
}

void AppendDelivered(const Batch& batch, std::vector<Delivered>* samples) {
  const int64_t* const draws = batch.images().As<int64_t>();
  for (int64_t i = 0; i < batch.size(); ++i) {
    samples->push_back({.epoch = batch.epoch(),
                        .step = batch.step(),
                        .position = batch.positions()[i],
                        .index = batch.indices()[i],
                        .label = batch.labels().As<int64_t>()[i],
                        .number = draws[3 * i],
                        .first_draw = draws[3 * i + 1],
                        .second_draw = draws[3 * i + 2]});
  }
}

RunResult RunLoaders(int world_size,
                     std::shared_ptr<const storage::Dataset> dataset,
                     const DataLoaderOptions& options, const RunPlan& plan) {
  std::vector<RankResult> ranks(world_size);
  RunRanks(world_size, [&](distributed::Communicator& communicator) {
    DataLoaderOptions rank_options = options;
    rank_options.communicator = &communicator;
    RunRank(dataset, rank_options, plan, &ranks[communicator.rank()]);
    EXPECT_OK(communicator.Close(absl::Minutes(1)));
  });
  RunResult result;
  for (const RankResult& rank : ranks) {
    result.samples.insert(result.samples.end(), rank.samples.begin(),
                          rank.samples.end());
    result.samples_of_rank.push_back(static_cast<int64_t>(rank.samples.size()));
    result.batches_of_rank.push_back(rank.batches);
    result.states.push_back(rank.state);
  }
  std::sort(result.samples.begin(), result.samples.end());
  return result;
}

}  // namespace millrace::loader
