#include "base/generator.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace millrace {

uint64_t Generator::NextU64() {
  const uint64_t high = NextU32();
  return high << 32 | NextU32();
}

float Generator::Rand() {
  return static_cast<float>(NextU32() & 0xFFFFFF) * 0x1p-24f;
}

float Generator::Uniform(float low, float high) {
  return std::fma(Rand(), high - low, low);
}

int64_t Generator::RandInt(int64_t n) { return int64_t{NextU32()} % n; }

void Generator::RandPerm(absl::Span<int> values) {
  std::iota(values.begin(), values.end(), 0);
  const size_t n = values.size();
  for (size_t i = 0; i + 1 < n; ++i) {
    std::swap(values[i], values[i + NextU32() % (n - i)]);
  }
}

}  // namespace millrace
