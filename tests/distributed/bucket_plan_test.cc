#include "distributed/bucket_plan.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<GradientSpec> Specs(const std::vector<int64_t>& elements,
                                DType dtype = DType::kFloat32) {
  std::vector<GradientSpec> specs;
  for (const int64_t count : elements) {
    specs.push_back({absl::StrCat("p", specs.size()), dtype, count});
  }
  return specs;
}

// Parameters by bucket.
std::vector<std::vector<int>> Buckets(const BucketPlan& plan) {
  std::vector<std::vector<int>> buckets;
  for (const BucketPlan::Bucket& bucket : plan.buckets) {
    buckets.push_back(bucket.parameters);
  }
  return buckets;
}

// 10 floats a bucket, 4 in the first.
const GradientReducerOptions kSmall = {.bucket_bytes = 40,
                                       .first_bucket_bytes = 16};

TEST(BucketPlanTest, FillsBucketsFromTheLastParameter) {
  const BucketPlan plan = PlanBuckets(Specs({3, 4, 6, 5, 2, 2}), kSmall);
  EXPECT_THAT(Buckets(plan), ElementsAre(ElementsAre(5, 4), ElementsAre(3),
                                         ElementsAre(2, 1), ElementsAre(0)));
  EXPECT_EQ(plan.buckets[2].elements, 10);
}

TEST(BucketPlanTest, PlacesCoverEachBucketWithoutGaps) {
  const std::vector<GradientSpec> specs = Specs({3, 0, 6, 5, 11, 2, 1, 1});
  const BucketPlan plan = PlanBuckets(specs, kSmall);
  for (size_t k = 0; k < plan.buckets.size(); ++k) {
    int64_t end = 0;
    for (const int i : plan.buckets[k].parameters) {
      EXPECT_EQ(plan.places[i].bucket, static_cast<int>(k));
      EXPECT_EQ(plan.places[i].offset, end);
      end += specs[i].elements;
    }
    EXPECT_EQ(plan.buckets[k].elements, end);
  }
}

TEST(BucketPlanTest, AGradientAboveTheSizeHasABucketOfItsOwn) {
  EXPECT_THAT(Buckets(PlanBuckets(Specs({1, 100, 1}), kSmall)),
              ElementsAre(ElementsAre(2), ElementsAre(1), ElementsAre(0)));
  // Also in the first.
  EXPECT_THAT(Buckets(PlanBuckets(Specs({1, 1, 100}), kSmall)),
              ElementsAre(ElementsAre(2), ElementsAre(1, 0)));
}

TEST(BucketPlanTest, CountsBytesNotElements) {
  EXPECT_THAT(Buckets(PlanBuckets(Specs({5, 5, 2}, DType::kFloat64), kSmall)),
              ElementsAre(ElementsAre(2), ElementsAre(1), ElementsAre(0)));
}

TEST(BucketPlanTest, DefaultsAreOneAndTwentyFiveMebibytes) {
  const int64_t mib = 1 << 20;
  EXPECT_THAT(
      Buckets(PlanBuckets(
          Specs({mib / 4, 20 * mib / 4, 5 * mib / 4, mib / 8, mib / 8}),
          GradientReducerOptions())),
      ElementsAre(ElementsAre(4, 3), ElementsAre(2, 1), ElementsAre(0)));
}

TEST(BucketPlanTest, AModelWithoutParametersHasABucketForTheScalars) {
  EXPECT_THAT(Buckets(PlanBuckets({}, kSmall)), ElementsAre(IsEmpty()));
}

TEST(BucketPlanTest, SpecsOfOneFloatTypeAreValid) {
  EXPECT_OK(ValidateSpecs({}));
  EXPECT_OK(ValidateSpecs(Specs({1, 0, 5})));
  EXPECT_OK(ValidateSpecs(Specs({1, 2}, DType::kFloat64)));
  EXPECT_THAT(ValidateSpecs(Specs({1, -1})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("p1"), HasSubstr("-1"))));
  EXPECT_THAT(ValidateSpecs(Specs({1}, DType::kInt64)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("p0"), HasSubstr("int64"))));
  std::vector<GradientSpec> mixed = Specs({1, 2});
  mixed[1].dtype = DType::kFloat64;
  EXPECT_THAT(ValidateSpecs(mixed),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("p1"), HasSubstr("float64"),
                             HasSubstr("float32"))));
}

TEST(BucketPlanTest, TermsHoldWhatThePlanIsMadeFrom) {
  EXPECT_THAT(
      PlanTerms(Specs({3, 4}), kSmall),
      ElementsAre(Pair("bucket_bytes", "40"), Pair("first_bucket_bytes", "16"),
                  Pair("parameter 0", "p0 float32[3]"),
                  Pair("parameter 1", "p1 float32[4]")));
}

TEST(BucketPlanTest, MissingBucketsAreCountedFromOne) {
  EXPECT_EQ(DescribeMissingBuckets({true, false, true}),
            "gradient bucket 2 of 3");
  EXPECT_EQ(DescribeMissingBuckets({false, false, true, false}),
            "gradient buckets 1-2, 4 of 4");
}

TEST(GradientReducerOptionsTest, ValidateNamesFieldAndValue) {
  EXPECT_OK(GradientReducerOptions().Validate());
  const auto invalid = [](const GradientReducerOptions& options,
                          const std::string& field, const std::string& value) {
    EXPECT_THAT(options.Validate(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(field), HasSubstr(value))));
  };
  invalid({.bucket_bytes = 0}, "bucket_bytes", "0");
  invalid({.first_bucket_bytes = -3}, "first_bucket_bytes", "-3");
  invalid({.timeout = absl::ZeroDuration()}, "timeout", "0");
}

}  // namespace
}  // namespace millrace::distributed
