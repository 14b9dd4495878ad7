#include "base/torch_random.h"

#include <limits>
#include <numeric>
#include <utility>

namespace millrace {

std::vector<int64_t> TorchRandPerm(int64_t n, uint64_t seed) {
  constexpr int64_t kFirstWithWideDraws =
      std::numeric_limits<uint32_t>::max() / 20;
  TorchGenerator generator(seed);
  std::vector<int64_t> result(n);
  std::iota(result.begin(), result.end(), int64_t{0});
  for (int64_t i = 0; i + 1 < n; ++i) {
    const uint64_t draw =
        n < kFirstWithWideDraws ? generator.NextU32() : generator.NextU64();
    std::swap(result[i], result[i + draw % static_cast<uint64_t>(n - i)]);
  }
  return result;
}

}  // namespace millrace
