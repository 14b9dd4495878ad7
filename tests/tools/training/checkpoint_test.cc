#include "tools/training/checkpoint.h"

#include <cstring>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::tools::training {
namespace {

using testing::HasSubstr;

Checkpoint TestCheckpoint() {
  Checkpoint checkpoint;
  checkpoint.loader.fingerprint = HashBytes("set");
  checkpoint.loader.dataset_size = 1000;
  checkpoint.loader.seed = std::numeric_limits<uint64_t>::max();
  checkpoint.loader.batch_size = 64;
  checkpoint.loader.sampler = "feistel";
  checkpoint.loader.tail = "drop";
  checkpoint.loader.epoch = 3;
  checkpoint.loader.step = 7;
  checkpoint.epochs_done = 3;
  checkpoint.totals = {
      .images = 448, .correct = 100, .loss_sum = 0.1 + 0.2, .skipped_steps = 1};
  checkpoint.architecture = {{"model", "small_cnn"}, {"norm", "batch"}};
  checkpoint.course = {{"epochs", "20"}};
  checkpoint.tensors.push_back({.name = "parameter a",
                                .dtype = DType::kFloat32,
                                .shape = {2, 3},
                                .bytes = std::string(24, '\x7f')});
  checkpoint.tensors.push_back({.name = "buffer n",
                                .dtype = DType::kInt64,
                                .shape = {},
                                .bytes = std::string(8, '\0')});
  checkpoint.tensors.push_back({.name = "velocity none",
                                .dtype = DType::kFloat64,
                                .shape = {0, 4},
                                .bytes = ""});
  return checkpoint;
}

TEST(CheckpointTest, ComesBackAsItWasSaved) {
  const Checkpoint saved = TestCheckpoint();
  ASSERT_OK_AND_ASSIGN(const Checkpoint read,
                       ParseCheckpoint(SerializeCheckpoint(saved)));
  EXPECT_EQ(read.loader.Serialize(), saved.loader.Serialize());
  EXPECT_EQ(read.epochs_done, 3);
  EXPECT_EQ(read.totals.images, 448);
  EXPECT_EQ(read.totals.correct, 100);
  EXPECT_EQ(read.totals.loss_sum, 0.1 + 0.2);
  EXPECT_EQ(read.totals.skipped_steps, 1);
  EXPECT_EQ(read.architecture, saved.architecture);
  EXPECT_EQ(read.course, saved.course);
  ASSERT_EQ(read.tensors.size(), saved.tensors.size());
  for (size_t i = 0; i < saved.tensors.size(); ++i) {
    EXPECT_EQ(read.tensors[i].name, saved.tensors[i].name);
    EXPECT_EQ(read.tensors[i].dtype, saved.tensors[i].dtype);
    EXPECT_EQ(read.tensors[i].shape, saved.tensors[i].shape);
    EXPECT_EQ(read.tensors[i].bytes, saved.tensors[i].bytes);
  }
}

TEST(CheckpointTest, RefusesEveryPrefix) {
  const std::string bytes = SerializeCheckpoint(TestCheckpoint());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(ParseCheckpoint(bytes.substr(0, size)),
                StatusIs(absl::StatusCode::kDataLoss))
        << size;
  }
}

TEST(CheckpointTest, RefusesEveryChangedByte) {
  const std::string bytes = SerializeCheckpoint(TestCheckpoint());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] ^= 0x10;
    EXPECT_THAT(ParseCheckpoint(changed), StatusIs(absl::StatusCode::kDataLoss))
        << i;
  }
}

TEST(CheckpointTest, RefusesWhatFollowsItsEnd) {
  EXPECT_THAT(ParseCheckpoint(SerializeCheckpoint(TestCheckpoint()) + "x"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("checksum")));
}

// A file whose checksum is right, but made by other hands.
std::string WithHeader(const std::string& header, const std::string& data) {
  const uint64_t size = header.size();
  std::string bytes = "MRCKPT01";
  bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes += header + data;
  return bytes + HashBytes(bytes).ToHex();
}

TEST(CheckpointTest, RefusesHeadersOfOtherMeaning) {
  const std::string loader = TestCheckpoint().loader.Serialize();
  std::string quoted;
  for (const char c : loader) quoted += c == '"' ? "\\\"" : std::string(1, c);
  const auto header = [&quoted](const std::string& tensors) {
    return "{\"loader\":\"" + quoted +
           "\",\"epochs_done\":0,\"totals\":{\"images\":0,\"correct\":0,"
           "\"loss_sum\":0,\"skipped_steps\":0},\"architecture\":{},"
           "\"course\":{},\"tensors\":" +
           tensors + "}";
  };
  EXPECT_OK(ParseCheckpoint(WithHeader(header("[]"), "")));
  const std::string bad[] = {
      WithHeader("", ""),
      WithHeader("[]", ""),
      WithHeader("{}", ""),
      WithHeader(header("3"), ""),
      WithHeader(header("[]"), "x"),
      WithHeader(header(R"([{"name":"a","dtype":5,"shape":[2]}])"), "1234567"),
      WithHeader(header(R"([{"name":"a","dtype":5,"shape":[-1]}])"), ""),
      WithHeader(header(R"([{"name":"a","dtype":99,"shape":[0]}])"), ""),
      WithHeader(header(R"([{"name":"a","dtype":6,
                             "shape":[4611686018427387904]}])"),
                 ""),
      WithHeader(header(R"([{"name":"a","dtype":5,"shape":"x"}])"), ""),
  };
  for (const std::string& bytes : bad) {
    EXPECT_THAT(ParseCheckpoint(bytes), StatusIs(absl::StatusCode::kDataLoss))
        << bytes;
  }
}

}  // namespace
}  // namespace millrace::tools::training
