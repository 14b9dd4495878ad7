// Orders against those of PyTorch itself: tests/golden/make_sampler_goldens.py
// says how the file was made.

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/hash.h"
#include "distributed/order.h"
#include "distributed/torch_distributed_sampler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

constexpr char kGoldens[] = "tests/golden/sampler_goldens.txt";

// Lines of one kind, each without its first word.
std::vector<std::string> GoldenLines(const std::string& kind) {
  std::ifstream file(kGoldens);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(kind + " ", 0) == 0) {
      lines.push_back(line.substr(kind.size() + 1));
    }
  }
  return lines;
}

std::string Digest(const std::vector<int64_t>& values) {
  Hasher hasher;
  for (const int64_t value : values) hasher.AddInt(value);
  return hasher.Finish().ToHex().substr(0, 16);
}

TEST(SamplerGoldensTest, TorchOrderIsRandPerm) {
  const std::vector<std::string> lines = GoldenLines("randperm");
  EXPECT_EQ(lines.size(), 7u);
  for (const std::string& line : lines) {
    SCOPED_TRACE(line);
    std::istringstream fields(line);
    int64_t size = 0;
    uint64_t seed = 0;
    std::string hash;
    ASSERT_TRUE(fields >> size >> seed >> hash);
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Sampler> sampler,
                         MakeSampler(Order::kTorch, size, seed));
    std::vector<int64_t> order;
    for (int64_t p = 0; p < size; ++p) order.push_back(sampler->IndexAt(0, p));
    EXPECT_EQ(Digest(order), hash);
  }
}

TEST(SamplerGoldensTest, SharesArePyTorchs) {
  const std::vector<std::string> lines = GoldenLines("sampler");
  EXPECT_GT(lines.size(), 600u);
  for (const std::string& line : lines) {
    SCOPED_TRACE(line);
    std::istringstream fields(line);
    TorchDistributedSamplerOptions options;
    int64_t epoch = 0;
    size_t samples_per_rank = 0;
    std::string hash;
    ASSERT_TRUE(fields >> options.dataset_size >> options.world_size >>
                options.shuffle >> options.seed >> epoch >> options.drop_last >>
                samples_per_rank >> hash);
    ASSERT_OK_AND_ASSIGN(const TorchDistributedSampler sampler,
                         TorchDistributedSampler::Create(options));
    std::vector<int64_t> everything;
    for (int rank = 0; rank < options.world_size; ++rank) {
      const std::vector<int64_t> list = sampler.RankIndices(epoch, rank);
      ASSERT_EQ(list.size(), samples_per_rank);
      everything.insert(everything.end(), list.begin(), list.end());
    }
    EXPECT_EQ(Digest(everything), hash);
  }
}

}  // namespace
}  // namespace millrace::distributed
