// What the loader itself costs a sample: reading and transforming are next to
// nothing here. Items are samples; time is the consumer's, from batch to batch.
//
//   bazel run -c opt //tools/benchmark:loader_overhead_benchmark
//   bazel-bin/tools/benchmark/loader_overhead_benchmark
//       --benchmark_filter=workers:2 --benchmark_repetitions=5   (one line)

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "benchmark/benchmark.h"
#include "loader/batch.h"
#include "loader/data_loader.h"
#include "loader/raw_transform.h"
#include "loader/sample_transform.h"
#include "storage/dataset.h"
#include "storage/memory_dataset.h"

namespace millrace::loader {
namespace {

constexpr int64_t kSamples = 1 << 16;
constexpr int64_t kFloats = 4;

absl::StatusOr<std::unique_ptr<DataLoader>> MakeLoader(int workers,
                                                       int64_t batch_size) {
  const auto numbers =
      std::make_shared<const std::vector<float>>(kSamples * kFloats, 1.0f);
  MILLRACE_ASSIGN_OR_RETURN(
      std::shared_ptr<const storage::Dataset> dataset,
      storage::MemoryDataset::Create({.size = kSamples,
                                      .arrays = {{.name = "numbers",
                                                  .dtype = DType::kFloat32,
                                                  .shape = {kFloats},
                                                  .data = numbers->data()}},
                                      .owner = numbers}));
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const SampleTransform> transform,
                            MakeRawTransform(*dataset));
  DataLoaderOptions options;
  options.batch_size = batch_size;
  options.seed = 1;
  options.num_workers = workers;
  return DataLoader::Create(std::move(dataset), std::move(transform), options);
}

void BM_Next(benchmark::State& state) {
  absl::StatusOr<std::unique_ptr<DataLoader>> loader =
      MakeLoader(static_cast<int>(state.range(0)), state.range(1));
  if (!loader.ok()) {
    state.SkipWithError(loader.status().ToString().c_str());
    return;
  }
  int64_t samples = 0;
  for (auto _ : state) {
    const absl::StatusOr<std::optional<Batch>> batch = (*loader)->Next();
    if (!batch.ok()) {
      state.SkipWithError(batch.status().ToString().c_str());
      return;
    }
    // None at the end of an epoch, once in a thousand calls.
    if (batch->has_value()) samples += (*batch)->size();
  }
  state.SetItemsProcessed(samples);
}
BENCHMARK(BM_Next)
    ->ArgNames({"workers", "batch"})
    ->ArgsProduct({{0, 1, 2, 4}, {64, 1024}})
    ->UseRealTime();

}  // namespace
}  // namespace millrace::loader

BENCHMARK_MAIN();
