#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "distributed/communicator_local.h"
#include "distributed/gradient_reducer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/rank_threads.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::Duration kLimit = absl::Seconds(60);

template <typename T>
constexpr DType kDType = sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;

// Gradients of a model, all in one type.
template <typename T>
using Gradients = std::vector<std::vector<T>>;

template <typename T>
std::vector<GradientSpec> SpecsFor(const std::vector<int64_t>& elements) {
  std::vector<GradientSpec> specs;
  for (const int64_t count : elements) {
    specs.push_back({absl::StrCat("layer", specs.size()), kDType<T>, count});
  }
  return specs;
}

template <typename T>
std::vector<void*> Pointers(Gradients<T>& gradients) {
  std::vector<void*> pointers;
  for (std::vector<T>& gradient : gradients) {
    pointers.push_back(gradient.data());
  }
  return pointers;
}

// A rank's gradients in a step: small whole numbers, so that sums are exact.
template <typename T>
Gradients<T> GradientsOf(int rank, int step,
                         const std::vector<int64_t>& elements) {
  Gradients<T> gradients;
  for (size_t i = 0; i < elements.size(); ++i) {
    gradients.emplace_back(elements[i]);
    for (int64_t e = 0; e < elements[i]; ++e) {
      gradients[i][e] = static_cast<T>((rank + 1) * (step + 1) * (e % 31) +
                                       static_cast<int>(i));
    }
  }
  return gradients;
}

// Runs steps on `world` ranks that mark in orders of their own, and compares
// every average, on every rank, with the one computed directly.
template <typename T>
void CheckAverages(int world, const std::vector<int64_t>& elements,
                   const GradientReducerOptions& options) {
  SCOPED_TRACE(absl::StrCat(world, " ranks, ", elements.size(), " gradients, ",
                            options.bucket_bytes, " bytes a bucket"));
  RunRanks(world, [&](Communicator& comm) {
    ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<GradientReducer> reducer,
        MakeHostGradientReducer(&comm, SpecsFor<T>(elements), options));
    for (int step = 0; step < 3; ++step) {
      // Rank r has r + 1 samples, and all together 2^k, so that the division is
      // exact too.
      const double samples = comm.rank() + 1 < world
                                 ? comm.rank() + 1
                                 : 64 - world * (world - 1) / 2;
      ASSERT_OK(reducer->StartStep({samples, 1.0 + comm.rank()}));
      Gradients<T> mine = GradientsOf<T>(comm.rank(), step, elements);
      std::vector<int> order(elements.size());
      std::iota(order.begin(), order.end(), 0);
      std::rotate(order.begin(),
                  order.begin() + (comm.rank() + step) % order.size(),
                  order.end());
      if (comm.rank() % 2 == 0) std::reverse(order.begin(), order.end());
      for (const int i : order) {
        ASSERT_OK(reducer->MarkReady(i, mine[i].data()));
        // It has been copied out.
        std::fill(mine[i].begin(), mine[i].end(), T{-1});
      }
      ASSERT_OK_AND_ASSIGN(const std::vector<double> sums,
                           reducer->Finish(Pointers(mine)));
      EXPECT_THAT(sums, ElementsAre(64.0, world * (world + 1) / 2.0));
      Gradients<T> expected = GradientsOf<T>(0, step, elements);
      for (int r = 1; r < world; ++r) {
        const Gradients<T> other = GradientsOf<T>(r, step, elements);
        for (size_t i = 0; i < elements.size(); ++i) {
          for (int64_t e = 0; e < elements[i]; ++e) {
            expected[i][e] += other[i][e];
          }
        }
      }
      for (std::vector<T>& gradient : expected) {
        for (T& value : gradient) value /= 64;
      }
      EXPECT_TRUE(mine == expected) << "step " << step;
      const GradientReducer::Overlap overlap = reducer->last_overlap();
      EXPECT_EQ(overlap.total_bytes,
                (std::accumulate(elements.begin(), elements.end(), int64_t{2}) *
                 static_cast<int64_t>(sizeof(T))));
      EXPECT_LE(overlap.hidden_bytes, overlap.total_bytes);
      EXPECT_GE(overlap.hidden_bytes, 0);
    }
    EXPECT_OK(comm.Close(kLimit));
  });
}

template <typename T>
class HostGradientReducerTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(HostGradientReducerTest, Types);

TYPED_TEST(HostGradientReducerTest, AveragesOverSamplesOfAllRanks) {
  const GradientReducerOptions many = {.bucket_bytes = 400,
                                       .first_bucket_bytes = 40};
  for (const int world : {1, 2, 3, 5}) {
    CheckAverages<TypeParam>(world, {7}, {});
    CheckAverages<TypeParam>(world, {50, 1, 30, 64, 0, 8, 8, 3}, {});
    CheckAverages<TypeParam>(world, {50, 1, 30, 64, 0, 8, 8, 3}, many);
    // One far larger than a bucket, in the middle and at either end.
    CheckAverages<TypeParam>(world, {3, 20000, 5}, many);
    CheckAverages<TypeParam>(world, {20000, 3, 5}, many);
    CheckAverages<TypeParam>(world, {3, 5, 20000}, many);
  }
}

// What one step gives rank 0: gradients {a}, sums of scalars.
struct StepResult {
  std::vector<float> gradient;
  std::vector<double> sums;
};

// One gradient of one element; each rank passes a sample count, a gradient (or
// none: not marked), and gets the result.
std::vector<StepResult> OneStep(const std::vector<double>& samples,
                                const std::vector<std::optional<float>>& sums) {
  std::vector<StepResult> results(samples.size());
  RunRanks(static_cast<int>(samples.size()), [&](Communicator& comm) {
    const int r = comm.rank();
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<GradientReducer> reducer,
                         MakeHostGradientReducer(&comm, SpecsFor<float>({1})));
    ASSERT_OK(reducer->StartStep({samples[r]}));
    if (sums[r].has_value()) {
      ASSERT_OK(reducer->MarkReady(0, &*sums[r]));
    }
    results[r].gradient = {99.0f};
    ASSERT_OK_AND_ASSIGN(results[r].sums,
                         reducer->Finish({results[r].gradient.data()}));
    EXPECT_OK(comm.Close(kLimit));
  });
  return results;
}

// 32 samples of mean gradient 1 and 8 of mean 0 have mean 0.8, not 0.5.
TEST(GradientReducerTest, UnequalSampleCountsAreWeighted) {
  for (const StepResult& result : OneStep({32, 8}, {32.0f, 0.0f})) {
    EXPECT_THAT(result.gradient, ElementsAre(0.8f));
    EXPECT_THAT(result.sums, ElementsAre(40.0));
  }
}

TEST(GradientReducerTest, ARankWithoutSamplesTakesPart) {
  for (const StepResult& result :
       OneStep({4, 0, 0}, {8.0f, std::nullopt, std::nullopt})) {
    EXPECT_THAT(result.gradient, ElementsAre(2.0f));
    EXPECT_THAT(result.sums, ElementsAre(4.0));
  }
}

TEST(GradientReducerTest, NoSamplesAnywhereGiveZeros) {
  for (const StepResult& result : OneStep({0, 0}, {std::nullopt, 5.0f})) {
    EXPECT_THAT(result.gradient, ElementsAre(0.0f));
    EXPECT_THAT(result.sums, ElementsAre(0.0));
  }
}

TEST(GradientReducerTest, NotANumberReachesEveryRank) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const StepResult& result : OneStep({1, 1}, {1.0f, nan})) {
    EXPECT_TRUE(std::isnan(result.gradient[0]));
  }
}

// A layer that only rank 0 uses: its gradient counts as zeros elsewhere, also
// right after a step in which it was there.
TEST(GradientReducerTest, MissingGradientsAreZeros) {
  RunRanks(3, [](Communicator& comm) {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<GradientReducer> reducer,
                         MakeHostGradientReducer(
                             &comm, SpecsFor<double>({2, 2, 2}),
                             {.bucket_bytes = 16, .first_bucket_bytes = 16}));
    for (int step = 0; step < 10; ++step) {
      Gradients<double> mine(3, std::vector<double>(2, comm.rank() + 1.0));
      ASSERT_OK(reducer->StartStep({1.0}));
      ASSERT_OK(reducer->MarkReady(2, mine[2].data()));
      if (comm.rank() == 0 || step % 2 == 1) {
        ASSERT_OK(reducer->MarkReady(1, mine[1].data()));
      }
      ASSERT_OK(reducer->MarkReady(0, mine[0].data()));
      ASSERT_OK(reducer->Finish(Pointers(mine)));
      EXPECT_THAT(mine[0], Each(2.0));
      EXPECT_THAT(mine[1], Each(step % 2 == 1 ? 2.0 : 1.0 / 3.0));
      EXPECT_THAT(mine[2], Each(2.0));
    }
    EXPECT_OK(comm.Close(kLimit));
  });
}

TEST(GradientReducerTest, UnwantedGradientsAreNotWritten) {
  const std::unique_ptr<Communicator> comm = MakeLocalCommunicator();
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<GradientReducer> reducer,
      MakeHostGradientReducer(comm.get(), SpecsFor<float>({1, 1})));
  float a = 6, b = 8;
  ASSERT_OK(reducer->StartStep({2.0}));
  ASSERT_OK(reducer->MarkReady(0, &a));
  ASSERT_OK(reducer->MarkReady(1, &b));
  ASSERT_OK(reducer->Finish({nullptr, &b}));
  EXPECT_EQ(a, 6);
  EXPECT_EQ(b, 4);
}

TEST(GradientReducerTest, AModelWithoutParametersSumsTheScalars) {
  RunRanks(2, [](Communicator& comm) {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<GradientReducer> reducer,
                         MakeHostGradientReducer(&comm, {}));
    ASSERT_OK(reducer->StartStep({1.0, comm.rank() * 4.0}));
    EXPECT_THAT(reducer->Finish({}), IsOkAndHolds(ElementsAre(2.0, 4.0)));
    EXPECT_OK(comm.Close(kLimit));
  });
}

TEST(GradientReducerTest, AStepMayHaveMoreScalarsThanTheLast) {
  const std::unique_ptr<Communicator> comm = MakeLocalCommunicator();
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<GradientReducer> reducer,
      MakeHostGradientReducer(comm.get(), SpecsFor<float>({1})));
  float value = 1;
  for (const int count : {1, 5, 2}) {
    const std::vector<double> scalars(count, 1.0);
    ASSERT_OK(reducer->StartStep(scalars));
    ASSERT_OK(reducer->MarkReady(0, &value));
    EXPECT_THAT(reducer->Finish({&value}), IsOkAndHolds(scalars));
    EXPECT_EQ(value, 1);
  }
}

// All but the last bucket can be through before Finish(): the other ranks have
// marked everything, and this rank waits for that by a barrier.
TEST(GradientReducerTest, OverlapCountsWhatWasSummedBeforeFinish) {
  RunRanks(2, [](Communicator& comm) {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<GradientReducer> reducer,
                         MakeHostGradientReducer(
                             &comm, SpecsFor<float>({4, 4, 4}),
                             {.bucket_bytes = 16, .first_bucket_bytes = 16}));
    EXPECT_EQ(reducer->last_overlap().total_bytes, 0);
    Gradients<float> mine(3, std::vector<float>(4, 1.0f));
    ASSERT_OK(reducer->StartStep({1.0}));
    ASSERT_OK(reducer->MarkReady(2, mine[2].data()));
    ASSERT_OK(reducer->MarkReady(1, mine[1].data()));
    ASSERT_OK(comm.Barrier(kLimit));
    ASSERT_OK(reducer->Finish(Pointers(mine)));
    const GradientReducer::Overlap overlap = reducer->last_overlap();
    EXPECT_EQ(overlap.buckets, 3);
    EXPECT_EQ(overlap.total_bytes, 12 * 4 + 4);
    EXPECT_EQ(overlap.hidden_bytes, 8 * 4 + 4);
    EXPECT_OK(comm.Close(kLimit));
  });
}

TEST(GradientReducerTest, RanksWithOtherParametersAreRefused) {
  RunRanks(3, [](Communicator& comm) {
    std::vector<GradientSpec> specs = SpecsFor<float>({4, 5, 6});
    if (comm.rank() == 1) specs[1].elements = 7;
    const absl::Status status = MakeHostGradientReducer(&comm, specs).status();
    EXPECT_THAT(
        status,
        StatusIs(absl::StatusCode::kFailedPrecondition,
                 HasSubstr("parameter 1: layer1 float32[5] on ranks 0, 2; "
                           "layer1 float32[7] on rank 1")));
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kUsage);
    EXPECT_OK(comm.Close(kLimit));
  });
}

TEST(GradientReducerTest, RanksWithOtherBucketsAreRefused) {
  RunRanks(2, [](Communicator& comm) {
    GradientReducerOptions options;
    options.bucket_bytes += comm.rank();
    EXPECT_THAT(MakeHostGradientReducer(&comm, SpecsFor<float>({4}), options),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("bucket_bytes")));
    EXPECT_OK(comm.Close(kLimit));
  });
}

TEST(GradientReducerTest, ATimeOutNamesBucketsAndRanks) {
  RunRanks(3, [](Communicator& comm) {
    ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<GradientReducer> reducer,
        MakeHostGradientReducer(&comm, SpecsFor<float>({4, 4, 4}),
                                {.bucket_bytes = 16,
                                 .first_bucket_bytes = 16,
                                 .timeout = absl::Milliseconds(50)}));
    Gradients<float> mine(3, std::vector<float>(4, 1.0f));
    ASSERT_OK(reducer->StartStep({1.0}));
    // All come to the first bucket, rank 2 to no other.
    ASSERT_OK(reducer->MarkReady(2, mine[2].data()));
    ASSERT_OK(comm.Barrier(kLimit));
    if (comm.rank() != 2) {
      EXPECT_THAT(reducer->Finish(Pointers(mine)),
                  StatusIs(absl::StatusCode::kDeadlineExceeded,
                           AllOf(HasSubstr("gradient buckets 2-3 of 3"),
                                 HasSubstr("for rank 2"))));
      EXPECT_THAT(reducer->StartStep({1.0}),
                  StatusIs(absl::StatusCode::kDeadlineExceeded));
    }
    EXPECT_EQ(ExitCodeOf(comm.Close(kLimit)), ExitCode::kCommunication);
  });
}

TEST(GradientReducerTest, AFailureOfTheJobEndsTheStep) {
  RunRanks(2, [](Communicator& comm) {
    ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<GradientReducer> reducer,
        MakeHostGradientReducer(&comm, SpecsFor<float>({1000})));
    std::vector<float> mine(1000, 1.0f);
    ASSERT_OK(reducer->StartStep({1.0}));
    ASSERT_OK(comm.Barrier(kLimit));
    if (comm.rank() == 1) {
      comm.ReportFailure(absl::DataLossError("bad sample"));
    } else {
      // Before or after the report; in the end it is there.
      reducer->MarkReady(0, mine.data()).IgnoreError();
      const absl::StatusOr<std::vector<double>> sums =
          reducer->Finish({mine.data()});
      EXPECT_THAT(
          sums, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("bad sample")));
      EXPECT_EQ(ExitCodeOf(sums.status()), ExitCode::kData);
    }
    EXPECT_THAT(comm.Close(kLimit), StatusIs(absl::StatusCode::kDataLoss));
  });
}

// A rank that fails in the middle of backward unwinds before it reports.
TEST(GradientReducerTest, CanBeDestroyedInTheMiddleOfAStep) {
  RunRanks(2, [](Communicator& comm) {
    std::vector<float> mine(1000, 1.0f);
    {
      ASSERT_OK_AND_ASSIGN(
          const std::unique_ptr<GradientReducer> reducer,
          MakeHostGradientReducer(&comm, SpecsFor<float>({1000})));
      ASSERT_OK(reducer->StartStep({1.0}));
      ASSERT_OK(comm.Barrier(kLimit));
      if (comm.rank() == 0) {
        ASSERT_OK(reducer->MarkReady(0, mine.data()));
      }
    }
    if (comm.rank() == 0) comm.ReportFailure(absl::InternalError("unwound"));
    EXPECT_THAT(comm.Close(kLimit), StatusIs(absl::StatusCode::kInternal));
  });
}

TEST(GradientReducerTest, CallsOutOfPlaceAreRefused) {
  const std::unique_ptr<Communicator> comm = MakeLocalCommunicator();
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<GradientReducer> reducer,
      MakeHostGradientReducer(comm.get(), SpecsFor<float>({1, 1})));
  float value = 1;
  const auto precondition = StatusIs(absl::StatusCode::kFailedPrecondition);
  const auto argument = StatusIs(absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(reducer->MarkReady(0, &value), precondition);
  EXPECT_THAT(reducer->Finish({&value, &value}), precondition);
  EXPECT_THAT(reducer->StartStep({}), argument);
  ASSERT_OK(reducer->StartStep({1.0}));
  EXPECT_THAT(reducer->StartStep({1.0}), precondition);
  EXPECT_THAT(reducer->MarkReady(-1, &value), argument);
  EXPECT_THAT(reducer->MarkReady(2, &value), argument);
  EXPECT_THAT(reducer->MarkReady(0, nullptr), argument);
  ASSERT_OK(reducer->MarkReady(0, &value));
  EXPECT_THAT(reducer->MarkReady(0, &value),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("layer0"), HasSubstr("twice"))));
  EXPECT_THAT(reducer->Finish({&value}), argument);
  EXPECT_OK(reducer->Finish({&value, &value}));
}

TEST(GradientReducerTest, BadSpecsAreRefused) {
  const std::unique_ptr<Communicator> comm = MakeLocalCommunicator();
  EXPECT_THAT(
      MakeHostGradientReducer(comm.get(), {{"a", DType::kFloat16, 1}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("float16")));
  EXPECT_THAT(
      MakeHostGradientReducer(comm.get(), {}, {.bucket_bytes = 0}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bucket_bytes")));
}

}  // namespace
}  // namespace millrace::distributed
