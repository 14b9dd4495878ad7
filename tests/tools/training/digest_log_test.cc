#include "tools/training/digest_log.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::tools::training {
namespace {

std::string Line(int epoch, int batch) {
  return "epoch " + std::to_string(epoch) + " batch " + std::to_string(batch) +
         " " + loader::BatchDigest().ToString() + "\n";
}

TEST(DigestLogTest, WritesALineABatch) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(DigestLog log, DigestLog::Create(dir.Join("log")));
  loader::BatchDigest digest;
  digest.indices = {.high = 1, .low = 2};
  digest.pixels = {.high = 3, .low = 0xabc};
  EXPECT_OK(log.Append(0, 17, digest));
  EXPECT_EQ(ReadFileOrDie(dir.Join("log")),
            "epoch 0 batch 17 indices=00000000000000010000000000000002 "
            "pixels=00000000000000030000000000000abc\n");
}

TEST(DigestLogTest, GoesOnAtTheCheckpoint) {
  const TempDir dir;
  const std::string path = dir.Join("log");
  dir.Write("log",
            Line(0, 0) + Line(0, 1) + Line(1, 0) + Line(1, 1) + "epoch 1 bat");
  {
    ASSERT_OK_AND_ASSIGN(DigestLog log, DigestLog::Continue(path, 1, 1));
    EXPECT_EQ(ReadFileOrDie(path), Line(0, 0) + Line(0, 1) + Line(1, 0));
    EXPECT_OK(log.Append(1, 1, {}));
  }
  ASSERT_OK_AND_ASSIGN(DigestLog log, DigestLog::Continue(path, 1, 0));
  EXPECT_EQ(ReadFileOrDie(path), Line(0, 0) + Line(0, 1));
}

TEST(DigestLogTest, DropsWhatIsNoDigestLine) {
  const TempDir dir;
  dir.Write("log", Line(0, 0) + "epoch x batch 1 a b\n" + Line(0, 2));
  ASSERT_OK_AND_ASSIGN(DigestLog log,
                       DigestLog::Continue(dir.Join("log"), 5, 0));
  EXPECT_EQ(ReadFileOrDie(dir.Join("log")), Line(0, 0));
}

}  // namespace
}  // namespace millrace::tools::training
