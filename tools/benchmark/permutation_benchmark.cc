// What the order of an epoch costs: items are positions turned into indices.
//
//   bazel run -c opt //tools/benchmark:permutation_benchmark
//   bazel-bin/tools/benchmark/permutation_benchmark --benchmark_filter=Feistel

#include <cstdint>

#include "base/permutation.h"
#include "base/torch_random.h"
#include "benchmark/benchmark.h"

namespace millrace {
namespace {

// One call for each position, as the sampler makes them. Sizes: just above a
// power of two, where half of all values are walked past, and ImageNet's.
void BM_FeistelAt(benchmark::State& state) {
  const int64_t size = state.range(0);
  const FeistelPermutation permutation(size, /*key=*/1, /*tweak=*/2);
  int64_t position = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(permutation.At(position));
    if (++position == size) position = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FeistelAt)
    ->Arg(1000)
    ->Arg((1 << 20) + 1)
    ->Arg(1281167)
    ->Arg((int64_t{1} << 40) - 1);

void BM_FeistelPositionOf(benchmark::State& state) {
  const int64_t size = state.range(0);
  const FeistelPermutation permutation(size, /*key=*/1, /*tweak=*/2);
  int64_t element = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(permutation.PositionOf(element));
    if (++element == size) element = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FeistelPositionOf)->Arg(1281167);

// A new epoch: the round keys.
void BM_FeistelCreate(benchmark::State& state) {
  uint64_t epoch = 0;
  for (auto _ : state) {
    const FeistelPermutation permutation(1281167, /*key=*/1, epoch++);
    benchmark::DoNotOptimize(permutation.size());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FeistelCreate);

// The whole list at once, as PyTorch does it.
void BM_TorchRandPerm(benchmark::State& state) {
  uint64_t seed = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(TorchRandPerm(state.range(0), seed++));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_TorchRandPerm)->Arg(1000)->Arg(1281167);

}  // namespace
}  // namespace millrace

BENCHMARK_MAIN();
