#include "tools/training/model.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "torch/types.h"

namespace millrace::tools::training {
namespace {

using testing::Contains;
using testing::Key;

int64_t ParameterCount(const Model& model) {
  int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters()) {
    count += parameter.numel();
  }
  return count;
}

std::map<std::string, std::vector<int64_t>> ParameterShapes(
    const Model& model) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& item : model.named_parameters()) {
    shapes[item.key()] = item.value().sizes().vec();
  }
  return shapes;
}

TEST(ModelTest, ResNetsAreTorchvisions) {
  // Counts of torchvision's models with 1000 classes.
  ASSERT_OK_AND_ASSIGN(
      const auto resnet18,
      MakeModel({.kind = ModelKind::kResNet18, .classes = 1000}));
  EXPECT_EQ(ParameterCount(*resnet18), 11689512);
  ASSERT_OK_AND_ASSIGN(
      const auto resnet50,
      MakeModel({.kind = ModelKind::kResNet50, .classes = 1000}));
  EXPECT_EQ(ParameterCount(*resnet50), 25557032);
  const auto shapes = ParameterShapes(*resnet50);
  EXPECT_EQ(shapes.at("conv1.weight"), (std::vector<int64_t>{64, 3, 7, 7}));
  EXPECT_EQ(shapes.at("layer3.5.conv2.weight"),
            (std::vector<int64_t>{256, 256, 3, 3}));
  EXPECT_EQ(shapes.at("layer2.0.downsample.0.weight"),
            (std::vector<int64_t>{512, 256, 1, 1}));
  EXPECT_EQ(shapes.at("layer4.2.bn3.bias"), (std::vector<int64_t>{2048}));
  EXPECT_EQ(shapes.at("fc.weight"), (std::vector<int64_t>{1000, 2048}));
}

TEST(ModelTest, EveryKindGivesAScoreAClass) {
  for (const ModelKind kind :
       {ModelKind::kSmallCnn, ModelKind::kResNet18, ModelKind::kResNet50}) {
    for (const Norm norm : {Norm::kBatch, Norm::kGroup}) {
      ASSERT_OK_AND_ASSIGN(
          const auto model,
          MakeModel({.kind = kind, .norm = norm, .classes = 7}));
      const at::Tensor scores = model->forward(torch::randn({2, 3, 64, 48}));
      EXPECT_EQ(scores.sizes().vec(), (std::vector<int64_t>{2, 7}));
      EXPECT_TRUE(at::isfinite(scores).all().item<bool>());
      EXPECT_EQ(model->buffers().empty(), norm == Norm::kGroup);
    }
  }
}

TEST(ModelTest, SmallCnnTakesTheSmallestImages) {
  ASSERT_OK_AND_ASSIGN(const auto model, MakeModel({.classes = 10}));
  EXPECT_EQ(model->forward(torch::randn({2, 3, 16, 16})).sizes().vec(),
            (std::vector<int64_t>{2, 10}));
  EXPECT_THAT(ParameterShapes(*model), Contains(Key("bn6.weight")));
}

TEST(ModelTest, SeedDecidesTheParameters) {
  ModelOptions options = {.classes = 10, .seed = 5};
  ASSERT_OK_AND_ASSIGN(const auto first, MakeModel(options));
  torch::randn({100});  // Moves torch's generator on.
  ASSERT_OK_AND_ASSIGN(const auto again, MakeModel(options));
  options.seed = 6;
  ASSERT_OK_AND_ASSIGN(const auto other, MakeModel(options));
  EXPECT_TRUE(first->parameters()[0].equal(again->parameters()[0]));
  EXPECT_TRUE(first->parameters().back().equal(again->parameters().back()));
  EXPECT_FALSE(first->parameters()[0].equal(other->parameters()[0]));
}

TEST(ModelTest, DoublePrecisionReachesAllOfIt) {
  ASSERT_OK_AND_ASSIGN(
      const auto model,
      MakeModel({.precision = Precision::kFloat64, .classes = 10}));
  for (const at::Tensor& parameter : model->parameters()) {
    EXPECT_EQ(parameter.scalar_type(), at::kDouble);
  }
  EXPECT_EQ(model->forward(torch::randn({2, 3, 32, 32}, torch::kFloat64))
                .scalar_type(),
            at::kDouble);
}

TEST(ModelTest, NeedsClasses) {
  EXPECT_THAT(MakeModel({.classes = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace millrace::tools::training
