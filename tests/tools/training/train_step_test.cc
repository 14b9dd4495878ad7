#include "tools/training/train_step.h"

#include <signal.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"
#include "tools/training/model_state.h"
#include "torch/nn/modules/linear.h"
#include "torch/types.h"

namespace millrace::tools::training {
namespace {

using distributed::Communicator;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr absl::Duration kTimeout = absl::Minutes(1);
constexpr int64_t kImageSize = 16;
constexpr int64_t kClasses = 10;

// Keeps a batch's arrays.
struct TestStorage : loader::BatchStorage {
  std::vector<float> images;
  std::vector<int64_t> labels;
};

// Rank `rank`'s share of a global batch of `global_size` samples whose pixels
// and labels depend on `seed` and the sample's position. `change` may alter the
// pixels of a sample, given its position.
loader::Batch TestBatch(
    int64_t global_size, int seed, int rank, int world_size,
    const std::function<void(int64_t position, float* pixels)>& change = {}) {
  constexpr int64_t kPixels = 3 * kImageSize * kImageSize;
  auto storage = std::make_shared<TestStorage>();
  loader::Batch::Contents contents;
  contents.global_size = global_size;
  for (int64_t p = rank; p < global_size; p += world_size) {
    contents.positions.push_back(p);
    contents.indices.push_back(100 + p);
    storage->labels.push_back((p + seed) % kClasses);
    for (int64_t i = 0; i < kPixels; ++i) {
      // Made up, but different for each sample.
      const int64_t value =
          (7 * i + 131 * p + 17 * seed + i * i * (p + 1)) % 97;
      storage->images.push_back(static_cast<float>(value) / 48 - 1);
    }
    if (change) change(p, &*(storage->images.end() - kPixels));
  }
  const int64_t size = static_cast<int64_t>(contents.indices.size());
  contents.tensors.push_back({"image",
                              {DType::kFloat32,
                               {size, 3, kImageSize, kImageSize},
                               storage->images.data()}});
  contents.tensors.push_back(
      {"label", {DType::kInt64, {size}, storage->labels.data()}});
  contents.storage = storage;
  return loader::Batch(std::move(contents));
}

std::shared_ptr<Model> NewModel(Norm norm, Precision precision) {
  auto model = MakeModel(
      {.norm = norm, .precision = precision, .classes = kClasses, .seed = 1});
  EXPECT_OK(model);
  return *model;
}

std::string HashOf(const Model& model) {
  auto hash = HashParameters(model);
  EXPECT_OK(hash);
  return hash->ToHex();
}

// All gradients in one row, in double precision.
at::Tensor Flat(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> rows;
  for (const at::Tensor& tensor : tensors) {
    rows.push_back(tensor.reshape({-1}).to(at::kDouble));
  }
  return at::cat(rows);
}

struct Outcome {
  StepResult result;
  at::Tensor gradient;
};

// One step of a fresh model on `ranks` ranks, as rank 0 sees it.
Outcome RunOneStep(int ranks, int64_t global_size, const Norm norm,
                   const TrainStepOptions& options) {
  Outcome outcome;
  RunRanks(ranks, [&](Communicator& communicator) {
    const auto model = NewModel(norm, options.precision);
    auto step = TrainStep::Create(model.get(), &communicator, options);
    ASSERT_OK(step);
    auto result = (*step)->Run(
        TestBatch(global_size, 0, communicator.rank(), ranks), 0.1, 0);
    ASSERT_OK(result);
    if (communicator.rank() == 0) {
      outcome = {*result, Flat((*step)->gradients())};
    }
    EXPECT_OK(communicator.Close(kTimeout));
  });
  return outcome;
}

// |a - b| / |b|, of whole rows.
double Difference(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

TrainStepOptions WithPrecision(Precision precision) {
  TrainStepOptions options;
  options.precision = precision;
  options.label_smoothing = 0.1;
  options.timeout = kTimeout;
  return options;
}

TEST(TrainStepTest, GradientsAreTheSameOnAnyNumberOfRanks) {
  const struct {
    Precision precision;
    double tolerance;
  } cases[] = {{Precision::kFloat64, 1e-12}, {Precision::kFloat32, 1e-5}};
  for (const auto& [precision, tolerance] : cases) {
    // On 3 ranks the shares are 3, 2, 2; with 8 one rank has none.
    const Outcome alone =
        RunOneStep(1, 7, Norm::kGroup, WithPrecision(precision));
    EXPECT_EQ(alone.result.images, 7);
    EXPECT_GT(alone.gradient.norm().item<double>(), 0);
    for (const int ranks : {2, 3, 8}) {
      const Outcome shared =
          RunOneStep(ranks, 7, Norm::kGroup, WithPrecision(precision));
      EXPECT_LT(Difference(shared.gradient, alone.gradient), tolerance)
          << ranks;
      EXPECT_NEAR(shared.result.loss, alone.result.loss,
                  tolerance * alone.result.loss)
          << ranks;
      EXPECT_EQ(shared.result.images, 7);
      EXPECT_EQ(shared.result.correct, alone.result.correct);
    }
  }
}

TEST(TrainStepTest, AccumulatingGivesTheSameGradient) {
  const TrainStepOptions whole = WithPrecision(Precision::kFloat64);
  const Outcome unsplit = RunOneStep(2, 9, Norm::kGroup, whole);
  // Shares are 5 and 4; 9 parts are more than a share has samples.
  for (const int64_t parts : {2, 3, 9}) {
    TrainStepOptions options = whole;
    options.accumulate = parts;
    const Outcome split = RunOneStep(2, 9, Norm::kGroup, options);
    EXPECT_LT(Difference(split.gradient, unsplit.gradient), 1e-12) << parts;
    EXPECT_NEAR(split.result.loss, unsplit.result.loss, 1e-12) << parts;
  }
}

TEST(TrainStepTest, GradientIsThatOfTheMeanLossByAutograd) {
  const Outcome outcome =
      RunOneStep(3, 7, Norm::kGroup, WithPrecision(Precision::kFloat64));
  const auto model = NewModel(Norm::kGroup, Precision::kFloat64);
  const loader::Batch batch = TestBatch(7, 0, 0, 1);
  const at::Tensor images =
      at::from_blob(batch.images().data, {7, 3, kImageSize, kImageSize})
          .to(at::kDouble);
  const at::Tensor labels =
      at::from_blob(batch.labels().data, {7}, at::TensorOptions(at::kLong));
  const at::Tensor loss = at::cross_entropy_loss(
      model->forward(images), labels, {}, at::Reduction::Mean, -100, 0.1);
  loss.backward();
  std::vector<at::Tensor> gradients;
  // TrainStep's gradients have the weight decay of 0 added.
  for (const at::Tensor& parameter : model->parameters()) {
    gradients.push_back(parameter.grad());
  }
  EXPECT_LT(Difference(outcome.gradient, Flat(gradients)), 1e-12);
  EXPECT_NEAR(outcome.result.loss, loss.item<double>(), 1e-12);
}

TEST(TrainStepTest, ParametersStayBitEqualOverRanks) {
  for (const Norm norm : {Norm::kGroup, Norm::kBatch}) {
    constexpr int kRanks = 3;
    constexpr int kSteps = 10;
    // By step, then rank.
    std::vector<std::vector<std::string>> hashes(
        kSteps, std::vector<std::string>(kRanks));
    RunRanks(kRanks, [&](Communicator& communicator) {
      const int rank = communicator.rank();
      const auto model = NewModel(norm, Precision::kFloat32);
      auto step = TrainStep::Create(model.get(), &communicator,
                                    WithPrecision(Precision::kFloat32));
      ASSERT_OK(step);
      for (int k = 0; k < kSteps; ++k) {
        ASSERT_OK((*step)->Run(TestBatch(7, k, rank, kRanks), 0.1, 0));
        hashes[k][rank] = HashOf(*model);
      }
      EXPECT_OK(communicator.Close(kTimeout));
    });
    for (int k = 0; k < kSteps; ++k) {
      EXPECT_THAT(hashes[k], Each(hashes[k][0])) << "step " << k;
      if (k > 0) {
        EXPECT_NE(hashes[k][0], hashes[k - 1][0]);
      }
    }
  }
}

// A linear model with a second layer that only some ranks use.
class PartlyUsedModel : public Model {
 public:
  explicit PartlyUsedModel(bool use_second) : use_second_(use_second) {
    first_ = register_module(
        "first", torch::nn::Linear(3 * kImageSize * kImageSize, kClasses));
    second_ = register_module("second", torch::nn::Linear(kClasses, kClasses));
    const at::NoGradGuard no_grad;
    for (at::Tensor& parameter : parameters()) parameter.fill_(0.01);
  }

  torch::Tensor forward(const torch::Tensor& images) override {
    const torch::Tensor scores = first_(images.flatten(1));
    return use_second_ ? second_(scores) : scores;
  }

 private:
  bool use_second_;
  torch::nn::Linear first_ = nullptr;
  torch::nn::Linear second_ = nullptr;
};

TEST(TrainStepTest, LayersUsedOnOneRankAloneAreReducedOnAll) {
  constexpr int kRanks = 3;
  std::vector<std::string> hashes(kRanks);
  RunRanks(kRanks, [&](Communicator& communicator) {
    const int rank = communicator.rank();
    PartlyUsedModel model(/*use_second=*/rank == 0);
    auto step = TrainStep::Create(&model, &communicator,
                                  WithPrecision(Precision::kFloat32));
    ASSERT_OK(step);
    for (int k = 0; k < 10; ++k) {
      ASSERT_OK((*step)->Run(TestBatch(6, k, rank, kRanks), 0.1, 0));
    }
    hashes[rank] = HashOf(model);
    EXPECT_OK(communicator.Close(kTimeout));
  });
  EXPECT_THAT(hashes, Each(hashes[0]));
}

TEST(TrainStepTest, UnusedLayersStayAsTheyAre) {
  RunRanks(2, [&](Communicator& communicator) {
    PartlyUsedModel model(/*use_second=*/false);
    TrainStepOptions options = WithPrecision(Precision::kFloat32);
    auto step = TrainStep::Create(&model, &communicator, options);
    ASSERT_OK(step);
    ASSERT_OK((*step)->Run(TestBatch(6, 0, communicator.rank(), 2), 0.1, 0));
    const auto parameters = model.named_parameters();
    EXPECT_TRUE(parameters["second.weight"].eq(0.01f).all().item<bool>());
    EXPECT_FALSE(parameters["first.bias"].eq(0.01f).all().item<bool>());
    EXPECT_OK(communicator.Close(kTimeout));
  });
}

TEST(TrainStepTest, RanksWeighByTheirSamples) {
  // 40 samples on 2 ranks as 32 and 8: as on one rank.
  const auto share = [](const loader::Batch& batch, int64_t begin,
                        int64_t end) {
    loader::Batch::Contents contents;
    contents.global_size = 40;
    for (int64_t i = begin; i < end; ++i) contents.indices.push_back(i);
    contents.positions = contents.indices;
    const int64_t pixels = 3 * kImageSize * kImageSize;
    contents.tensors = {
        {"image",
         {DType::kFloat32,
          {end - begin, 3, kImageSize, kImageSize},
          batch.images().As<float>() + begin * pixels}},
        {"label",
         {DType::kInt64, {end - begin}, batch.labels().As<int64_t>() + begin}}};
    return loader::Batch(std::move(contents));
  };
  const Outcome alone =
      RunOneStep(1, 40, Norm::kGroup, WithPrecision(Precision::kFloat64));
  const loader::Batch whole = TestBatch(40, 0, 0, 1);
  RunRanks(2, [&](Communicator& communicator) {
    const auto model = NewModel(Norm::kGroup, Precision::kFloat64);
    auto step = TrainStep::Create(model.get(), &communicator,
                                  WithPrecision(Precision::kFloat64));
    ASSERT_OK(step);
    const bool first = communicator.rank() == 0;
    auto result =
        (*step)->Run(share(whole, first ? 0 : 32, first ? 32 : 40), 0.1, 0);
    ASSERT_OK(result);
    EXPECT_NEAR(result->loss, alone.result.loss, 1e-12);
    EXPECT_LT(Difference(Flat((*step)->gradients()), alone.gradient), 1e-12);
    EXPECT_OK(communicator.Close(kTimeout));
  });
}

TEST(TrainStepTest, LossThatIsNotFiniteOnOneRankLeavesTheStepOutOnAll) {
  constexpr int kRanks = 2;
  // Positions 3 and 7 are rank 1's.
  const auto spoil = [](int64_t position, float* pixels) {
    if (position % 4 == 3) {
      pixels[5] = std::numeric_limits<float>::quiet_NaN();
    }
  };
  for (const Norm norm : {Norm::kGroup, Norm::kBatch}) {
    for (const int64_t accumulate : {1, 4}) {
      RunRanks(kRanks, [&](Communicator& communicator) {
        const int rank = communicator.rank();
        const auto model = NewModel(norm, Precision::kFloat32);
        TrainStepOptions options = WithPrecision(Precision::kFloat32);
        options.accumulate = norm == Norm::kGroup ? accumulate : 1;
        auto step = TrainStep::Create(model.get(), &communicator, options);
        ASSERT_OK(step);
        ASSERT_OK((*step)->Run(TestBatch(8, 0, rank, kRanks), 0.1, 0));
        auto before = SaveTensors(*model, (*step)->sgd());
        auto bad = (*step)->Run(TestBatch(8, 1, rank, kRanks, spoil), 0.1, 0);
        ASSERT_OK(bad);
        EXPECT_TRUE(bad->skipped);
        EXPECT_FALSE(bad->gradient_not_finite);
        EXPECT_EQ(bad->images, 8);
        if (rank == 0) {
          EXPECT_THAT(bad->bad_samples, IsEmpty());
        } else if (norm == Norm::kGroup) {
          // In parts, the step ends with the first bad part.
          EXPECT_EQ(bad->bad_samples, options.accumulate == 1
                                          ? std::vector<int64_t>({103, 107})
                                          : std::vector<int64_t>({103}));
        } else {
          // Batch normalisation spreads it over the rank's samples.
          EXPECT_THAT(bad->bad_samples, ElementsAre(101, 103, 105, 107));
        }
        auto after = SaveTensors(*model, (*step)->sgd());
        ASSERT_OK(before);
        ASSERT_OK(after);
        for (size_t i = 0; i < before->size(); ++i) {
          EXPECT_EQ((*before)[i].bytes, (*after)[i].bytes) << (*before)[i].name;
        }
        auto good = (*step)->Run(TestBatch(8, 2, rank, kRanks), 0.1, 0);
        ASSERT_OK(good);
        EXPECT_FALSE(good->skipped);
        EXPECT_TRUE(std::isfinite(good->loss));
        EXPECT_OK(communicator.Close(kTimeout));
      });
    }
  }
}

// Its loss is finite and its gradient is not: the square root of zero.
class SteepModel : public Model {
 public:
  SteepModel() {
    weight_ = register_parameter("weight", torch::zeros({1, kClasses}));
  }
  torch::Tensor forward(const torch::Tensor& images) override {
    return weight_.sqrt() + torch::zeros({images.size(0), kClasses});
  }

 private:
  torch::Tensor weight_;
};

TEST(TrainStepTest, GradientThatIsNotFiniteLeavesTheStepOut) {
  RunRanks(2, [&](Communicator& communicator) {
    SteepModel model;
    auto step = TrainStep::Create(&model, &communicator,
                                  WithPrecision(Precision::kFloat32));
    ASSERT_OK(step);
    auto result = (*step)->Run(TestBatch(4, 0, communicator.rank(), 2), 0.1, 0);
    ASSERT_OK(result);
    EXPECT_TRUE(result->skipped);
    EXPECT_TRUE(result->gradient_not_finite);
    EXPECT_THAT(result->bad_samples, IsEmpty());
    EXPECT_TRUE(model.parameters()[0].eq(0).all().item<bool>());
    EXPECT_OK(communicator.Close(kTimeout));
  });
}

TEST(TrainStepTest, AStopOnOneRankReachesAllInTheSameStep) {
  const struct {
    std::vector<int> passed;
    int heard;
  } cases[] = {{{0, 0, 0}, 0},
               {{0, SIGINT, 0}, SIGINT},
               {{0, 0, SIGTERM}, SIGTERM},
               {{SIGINT, SIGTERM, SIGINT}, SIGTERM}};
  for (const auto& [passed, heard] : cases) {
    RunRanks(3, [&passed = passed, heard = heard](Communicator& communicator) {
      const int rank = communicator.rank();
      const auto model = NewModel(Norm::kGroup, Precision::kFloat32);
      auto step = TrainStep::Create(model.get(), &communicator,
                                    WithPrecision(Precision::kFloat32));
      ASSERT_OK(step);
      auto result = (*step)->Run(TestBatch(2, 0, rank, 3), 0.1, passed[rank]);
      ASSERT_OK(result);
      EXPECT_EQ(result->stop_signal, heard);
      EXPECT_FALSE(result->skipped);
      EXPECT_OK(communicator.Close(kTimeout));
    });
  }
}

TEST(TrainStepTest, TooFewSamplesForBatchNormalisationAreExplained) {
  RunRanks(1, [&](Communicator& communicator) {
    // One sample, and the last layer has one pixel of it.
    const auto model = NewModel(Norm::kBatch, Precision::kFloat32);
    auto step = TrainStep::Create(model.get(), &communicator,
                                  WithPrecision(Precision::kFloat32));
    ASSERT_OK(step);
    EXPECT_THAT((*step)->Run(TestBatch(1, 0, 0, 1), 0.1, 0),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("--norm=group")));
  });
}

TEST(TrainStepTest, BatchesOfAnotherKindAreRefused) {
  RunRanks(1, [&](Communicator& communicator) {
    const auto model = NewModel(Norm::kGroup, Precision::kFloat32);
    auto step = TrainStep::Create(model.get(), &communicator,
                                  WithPrecision(Precision::kFloat32));
    ASSERT_OK(step);
    loader::Batch::Contents contents;
    uint8_t bytes[3] = {};
    contents.indices = {0};
    contents.tensors = {{"image", {DType::kUInt8, {1, 1, 1, 3}, bytes}}};
    EXPECT_THAT((*step)->Run(loader::Batch(std::move(contents)), 0.1, 0),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("images are uint8 [1, 1, 1, 3]")));
  });
}

TEST(TrainStepTest, AModelMayOutliveItsStep) {
  RunRanks(1, [&](Communicator& communicator) {
    const auto model = NewModel(Norm::kGroup, Precision::kFloat32);
    for (int k = 0; k < 2; ++k) {
      auto step = TrainStep::Create(model.get(), &communicator,
                                    WithPrecision(Precision::kFloat32));
      ASSERT_OK(step);
      ASSERT_OK((*step)->Run(TestBatch(2, k, 0, 1), 0.1, 0));
    }
    model->forward(torch::randn({1, 3, 16, 16})).sum().backward();
  });
}

}  // namespace
}  // namespace millrace::tools::training
