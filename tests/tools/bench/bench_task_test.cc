#include "tools/bench/bench_task.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::tools {
namespace {

using testing::HasSubstr;

// "PRESET SIZE BATCH" of the task named `name`.
std::string Summary(const char* name) {
  const absl::StatusOr<BenchTask> task = FindBenchTask(name);
  if (!task.ok()) return task.status().ToString();
  EXPECT_EQ(task->name, name);
  return absl::StrCat(task->preset, " ", task->image_size, " ",
                      task->batch_size);
}

TEST(BenchTaskTest, TasksAreTheComparisons) {
  EXPECT_EQ(Summary("basic"), "train 224 64");
  EXPECT_EQ(Summary("full"), "train_full 224 64");
  EXPECT_EQ(Summary("eval"), "eval 224 64");
  EXPECT_EQ(Summary("read"), " 224 64");
  EXPECT_EQ(Summary("t1"), "train 224 64");
  EXPECT_EQ(Summary("t2"), "train_full 224 64");
  EXPECT_EQ(Summary("t3"), "eval 224 64");
  EXPECT_EQ(Summary("t4"), "train 64 256");
}

TEST(BenchTaskTest, RefusesOthersListingAll) {
  EXPECT_THAT(FindBenchTask("t5"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--task=t5: want basic, full, eval, read, t1, "
                                 "t2, t3 or t4")));
  EXPECT_THAT(FindBenchTask(""), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace millrace::tools
