#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/images.h"
#include "tests/support/subprocess.h"
#include "tests/support/temp_dir.h"

namespace millrace {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(MinimalLoopTest, GoesThroughEveryEpoch) {
  const TempDir dir;
  for (int i = 0; i < 70; ++i) {
    dir.Write(absl::StrCat(i % 2, "/", i, ".jpg"), TestJpeg(20, 20, i));
  }
  const SubprocessResult result =
      RunProcess({"tools/minimal_loop", dir.path()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("epoch 0 batch 0: 64 of 64 images"),
                                HasSubstr("epoch 0 batch 1: 6 of 6 images"),
                                HasSubstr("epoch 1 batch 1: 6 of 6 images")));
}

TEST(MinimalLoopTest, MistakesHaveTheUsualCodes) {
  EXPECT_EQ(RunProcess({"tools/minimal_loop"}).exit_code, 2);
  const SubprocessResult missing =
      RunProcess({"tools/minimal_loop", "/does/not/exist"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("/does/not/exist"));
}

}  // namespace
}  // namespace millrace
