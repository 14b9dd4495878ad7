// Failures that users of other loaders have reported of memory. The numbers in
// the tests' names are those of the list of cases. Sizes are those of the
// process, so each test runs loaders of its own in turn.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distributed/distributed_sampler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loader/data_loader.h"
#include "loader/make_loader.h"
#include "storage/memory_dataset.h"
#include "tests/loader/numbered_samples.h"
#include "tests/support/images.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tools/bench/process_usage.h"

namespace millrace::loader {
namespace {

// Takes the batches of a whole epoch.
void DrainEpoch(DataLoader& loader) {
  while (true) {
    ASSERT_OK_AND_ASSIGN(const std::optional<Batch> batch, loader.Next());
    if (!batch.has_value()) return;
  }
}

// Proportional set size at the end of an epoch of a million samples.
absl::StatusOr<int64_t> SizeWithWorkers(
    std::shared_ptr<const storage::Dataset> dataset, int workers) {
  DataLoaderOptions options;
  options.batch_size = 4096;
  options.seed = 7;
  options.num_workers = workers;
  absl::StatusOr<std::unique_ptr<DataLoader>> loader =
      DataLoader::Create(std::move(dataset), MakeDrawTransform(), options);
  EXPECT_OK(loader);
  DrainEpoch(**loader);
  return tools::ProportionalSetBytes();
}

TEST(Case80Test, WorkersShareOneIndex) {
  constexpr int64_t kSamples = 1'280'000;
  const auto values = std::make_shared<const std::vector<int64_t>>(kSamples);
  std::vector<std::string> keys;
  keys.reserve(kSamples);
  for (int64_t i = 0; i < kSamples; ++i) {
    keys.push_back(absl::StrCat("n01440764/n01440764_", i, ".JPEG"));
  }
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<storage::MemoryDataset> owned,
                       storage::MemoryDataset::Create(
                           {.size = kSamples,
                            .arrays = {{.name = "value",
                                        .dtype = DType::kInt64,
                                        .shape = {1},
                                        .data = values->data()}},
                            .labels = std::vector<int64_t>(kSamples, 0),
                            .keys = std::move(keys),
                            .owner = values}));
  const std::shared_ptr<const storage::Dataset> dataset = std::move(owned);
  EXPECT_LE(dataset->IndexBytes(), 150 * kSamples);
  const absl::StatusOr<int64_t> one = SizeWithWorkers(dataset, 1);
  if (!one.ok()) GTEST_SKIP() << one.status();
  for (const int workers : {8, 32}) {
    ASSERT_OK_AND_ASSIGN(const int64_t many, SizeWithWorkers(dataset, workers));
    EXPECT_LE(many, *one * 11 / 10) << workers << " workers";
  }
}

TEST(Case81Test, AFewHugePicturesDoNotMakeTheProcessGrow) {
  const TempDir dir;
  for (int i = 0; i < 199; ++i) {
    dir.Write(absl::StrCat("a/", i, ".jpg"), TestJpeg(60 + i % 9, 80, i));
  }
  // 36 million pixels: 103 MiB decoded.
  dir.Write("a/huge.jpg", TestJpeg(6000, 6000));
  MakeLoaderOptions options;
  options.image_size = 32;
  options.augment = "eval";
  options.loader.seed = 7;
  options.loader.num_workers = 4;
  options.loader.tail = distributed::Tail::kShort;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DataLoader> loader,
                       MakeTrainLoader(dir.path(), 16, options));
  std::vector<int64_t> sizes;
  for (int epoch = 0; epoch < 3; ++epoch) {
    DrainEpoch(*loader);
    const absl::StatusOr<int64_t> size = tools::ProportionalSetBytes();
    if (!size.ok()) GTEST_SKIP() << size.status();
    sizes.push_back(*size);
  }
  EXPECT_LE(sizes.back(), sizes.front() * 21 / 20);
}

}  // namespace
}  // namespace millrace::loader
