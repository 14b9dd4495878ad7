#include "tools/training/model_state.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"
#include "torch/types.h"

namespace millrace::tools::training {
namespace {

using distributed::Communicator;
using testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Minutes(1);

std::shared_ptr<Model> NewModel(uint64_t seed, Norm norm = Norm::kBatch) {
  auto model = MakeModel({.norm = norm, .classes = 10, .seed = seed});
  EXPECT_OK(model);
  return *model;
}

// The bytes of parameters, buffers and velocities together.
std::string AllBytes(const Model& model, const Sgd& sgd) {
  auto tensors = SaveTensors(model, sgd);
  EXPECT_OK(tensors);
  std::string bytes;
  for (const CheckpointTensor& tensor : *tensors) bytes += tensor.bytes;
  return bytes;
}

TEST(ModelStateTest, BroadcastGivesAllRanksTheModelOfRankZero) {
  std::vector<Hash128> hashes(3);
  RunRanks(3, [&](Communicator& communicator) {
    const auto model = NewModel(communicator.rank());
    EXPECT_OK(BroadcastModel(model.get(), &communicator, kTimeout));
    auto hash = HashParameters(*model);
    ASSERT_OK(hash);
    hashes[communicator.rank()] = *hash;
    EXPECT_OK(communicator.Close(kTimeout));
  });
  ASSERT_OK_AND_ASSIGN(const Hash128 of_rank_zero,
                       HashParameters(*NewModel(0)));
  EXPECT_THAT(hashes, testing::Each(of_rank_zero));
  EXPECT_NE(HashParameters(*NewModel(1)).value(), of_rank_zero);
}

TEST(ModelStateTest, BuffersAreAveragedByTheSamplesBehindThem) {
  RunRanks(3, [&](Communicator& communicator) {
    const auto model = NewModel(1);
    const int rank = communicator.rank();
    const at::NoGradGuard no_grad;
    // Means 0, 8, 80 with weights 3, 1, 0.
    for (at::Tensor& buffer : model->buffers()) {
      buffer.fill_(rank == 0 ? 0 : rank == 1 ? 8 : 80);
    }
    const int64_t samples[] = {3, 1, 0};
    EXPECT_OK(
        AverageBuffers(model.get(), samples[rank], &communicator, kTimeout));
    for (const at::Tensor& buffer : model->buffers()) {
      EXPECT_TRUE(buffer.eq(2).all().item<bool>());
    }
    // Nothing new: they stay.
    EXPECT_OK(AverageBuffers(model.get(), 0, &communicator, kTimeout));
    EXPECT_TRUE(model->buffers()[0].eq(2).all().item<bool>());
    EXPECT_OK(communicator.Close(kTimeout));
  });
}

TEST(ModelStateTest, RestoringGivesBackEveryBit) {
  const auto model = NewModel(1);
  Sgd sgd({}, model->parameters());
  {
    const at::NoGradGuard no_grad;
    for (at::Tensor& buffer : model->buffers()) buffer.fill_(3);
    for (const at::Tensor& velocity : sgd.velocities()) velocity.normal_();
  }
  ASSERT_OK_AND_ASSIGN(const std::vector<CheckpointTensor> saved,
                       SaveTensors(*model, sgd));
  const auto other = NewModel(2);
  Sgd other_sgd({}, other->parameters());
  EXPECT_OK(RestoreTensors(saved, other.get(), &other_sgd));
  EXPECT_EQ(AllBytes(*other, other_sgd), AllBytes(*model, sgd));
  EXPECT_TRUE(other->buffers()[0].eq(3).all().item<bool>());
}

TEST(ModelStateTest, RestoringAnotherModelNamesTheTensor) {
  const auto model = NewModel(1);
  Sgd sgd({}, model->parameters());
  ASSERT_OK_AND_ASSIGN(std::vector<CheckpointTensor> saved,
                       SaveTensors(*model, sgd));
  saved[0].shape[0] = 1;
  EXPECT_THAT(RestoreTensors(saved, model.get(), &sgd),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("parameter conv1.weight is float32 [1, 3, 3, "
                                 "3], the model's is float32 [24, 3, 3, 3]")));
  saved.erase(saved.begin());
  EXPECT_THAT(RestoreTensors(saved, model.get(), &sgd),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("no tensor parameter conv1.weight")));
}

}  // namespace
}  // namespace millrace::tools::training
