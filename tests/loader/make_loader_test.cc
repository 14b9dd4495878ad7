#include "loader/make_loader.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "augment/pipeline.h"
#include "base/tensor.h"
#include "distributed/order.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/images.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::loader {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// Ten pictures in two classes.
class MakeLoaderTest : public testing::Test {
 protected:
  MakeLoaderTest() {
    for (int i = 0; i < 10; ++i) {
      dir_.Write(absl::StrCat(i < 4 ? "cat/" : "dog/", i, ".jpg"),
                 TestJpeg(40 + i, 50, i));
    }
    options_.loader.seed = 3;
    options_.loader.num_workers = 1;
  }

  // All indices of an epoch.
  static std::vector<int64_t> Epoch(DataLoader& loader) {
    std::vector<int64_t> indices;
    while (true) {
      const absl::StatusOr<std::optional<Batch>> batch = loader.Next();
      EXPECT_OK(batch);
      if (!batch.ok() || !batch->has_value()) return indices;
      indices.insert(indices.end(), (*batch)->indices().begin(),
                     (*batch)->indices().end());
    }
  }

  static std::vector<int64_t> InOrder() {
    std::vector<int64_t> indices(10);
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
  }

  const TempDir dir_;
  MakeLoaderOptions options_;
};

TEST_F(MakeLoaderTest, DefaultsWorkWithoutOptions) {
  ASSERT_OK_AND_ASSIGN(const auto train, MakeTrainLoader(dir_.path(), 5));
  ASSERT_OK_AND_ASSIGN(const std::optional<Batch> batch, train->Next());
  EXPECT_THAT(batch->images().shape, ElementsAre(5, 3, 224, 224));
  EXPECT_EQ(batch->images().dtype, DType::kFloat32);
  EXPECT_THAT(batch->labels().shape, ElementsAre(5));
}

TEST_F(MakeLoaderTest, TrainingIsShuffledAndDropsTheTail) {
  options_.image_size = 16;
  ASSERT_OK_AND_ASSIGN(const auto loader,
                       MakeTrainLoader(dir_.path(), 4, options_));
  EXPECT_EQ(loader->steps(), 2);
  std::vector<int64_t> indices = Epoch(*loader);
  EXPECT_THAT(indices, SizeIs(8));
  EXPECT_FALSE(std::is_sorted(indices.begin(), indices.end()));
  EXPECT_NE(Epoch(*loader), indices);
}

TEST_F(MakeLoaderTest, TrainingTakesTheUsersOrderAndTail) {
  options_.image_size = 16;
  options_.loader.order = distributed::Order::kSequential;
  options_.loader.tail = distributed::Tail::kShort;
  ASSERT_OK_AND_ASSIGN(const auto loader,
                       MakeTrainLoader(dir_.path(), 4, options_));
  EXPECT_EQ(Epoch(*loader), InOrder());
}

TEST_F(MakeLoaderTest, EvaluationTakesEachSampleOnceInOrder) {
  options_.image_size = 16;
  options_.loader.order = distributed::Order::kFeistel;
  options_.loader.tail = distributed::Tail::kDrop;
  ASSERT_OK_AND_ASSIGN(const auto loader,
                       MakeEvalLoader(dir_.path(), 4, options_));
  EXPECT_EQ(loader->steps(), 3);
  EXPECT_EQ(Epoch(*loader), InOrder());
  EXPECT_EQ(Epoch(*loader), InOrder());
}

TEST_F(MakeLoaderTest, EvaluationIsNotAugmented) {
  options_.image_size = 16;
  ASSERT_OK_AND_ASSIGN(const auto first,
                       MakeEvalLoader(dir_.path(), 10, options_));
  options_.loader.seed = 4;
  ASSERT_OK_AND_ASSIGN(const auto second,
                       MakeEvalLoader(dir_.path(), 10, options_));
  ASSERT_OK_AND_ASSIGN(const std::optional<Batch> a, first->Next());
  ASSERT_OK_AND_ASSIGN(const std::optional<Batch> b, second->Next());
  const auto pixels = [](const Batch& batch) {
    const float* const data = batch.images().As<float>();
    return std::vector<float>(data, data + ElementCount(batch.images().shape));
  };
  EXPECT_EQ(pixels(*a), pixels(*b));
}

TEST_F(MakeLoaderTest, APresetIsTakenByName) {
  options_.image_size = 16;
  options_.augment = "train_full";
  ASSERT_OK_AND_ASSIGN(const auto full,
                       MakeTrainLoader(dir_.path(), 5, options_));
  options_.augment = "train";
  ASSERT_OK_AND_ASSIGN(const auto basic,
                       MakeTrainLoader(dir_.path(), 5, options_));
  options_.augment = "";
  ASSERT_OK_AND_ASSIGN(const auto usual,
                       MakeTrainLoader(dir_.path(), 5, options_));
  EXPECT_NE(full->state().transform, basic->state().transform);
  EXPECT_EQ(basic->state().transform, usual->state().transform);
}

TEST_F(MakeLoaderTest, APipelineOfTheUsersOwnIsTaken) {
  ASSERT_OK_AND_ASSIGN(
      options_.pipeline,
      augment::Pipeline::Create({augment::Resize{.size = 6, .width = 9}},
                                {.layout = Layout::kHWC}));
  ASSERT_OK_AND_ASSIGN(const auto loader,
                       MakeTrainLoader(dir_.path(), 5, options_));
  ASSERT_OK_AND_ASSIGN(const std::optional<Batch> batch, loader->Next());
  EXPECT_THAT(batch->images().shape, ElementsAre(5, 6, 9, 3));
  EXPECT_EQ(batch->images().dtype, DType::kUInt8);
}

TEST_F(MakeLoaderTest, RefusesAPresetAndAPipelineTogether) {
  ASSERT_OK_AND_ASSIGN(options_.pipeline,
                       augment::Pipeline::Preset("eval", 16));
  options_.augment = "train";
  EXPECT_THAT(MakeTrainLoader(dir_.path(), 5, options_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("augment"), HasSubstr("pipeline"))));
}

TEST_F(MakeLoaderTest, ErrorsOfEachPartComeThrough) {
  EXPECT_THAT(
      MakeTrainLoader(dir_.path(), 0, options_),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("batch_size")));
  EXPECT_THAT(MakeEvalLoader(dir_.Join("none"), 4, options_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
  options_.augment = "trian";
  EXPECT_THAT(MakeTrainLoader(dir_.path(), 4, options_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("trian"), HasSubstr("train_full"))));
}

}  // namespace
}  // namespace millrace::loader
