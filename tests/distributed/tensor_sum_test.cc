#include "distributed/tensor_sum.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::distributed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TensorSumTest, EachTensorBecomesTheSum) {
  std::vector<double> a = {1, 2}, b = {10, 20}, c = {100, 200};
  SumInPlace({{DType::kFloat64, {2}, a.data()},
              {DType::kFloat64, {2}, b.data()},
              {DType::kFloat64, {2}, c.data()}});
  EXPECT_THAT(a, ElementsAre(111, 222));
  EXPECT_THAT(b, ElementsAre(111, 222));
  EXPECT_THAT(c, ElementsAre(111, 222));
}

TEST(TensorSumTest, AddsInTheGivenOrder) {
  float a = 1e8f, b = 1.0f, c = -1e8f;
  SumInPlace({{DType::kFloat32, {}, &a},
              {DType::kFloat32, {}, &b},
              {DType::kFloat32, {}, &c}});
  EXPECT_EQ(a, 0.0f);
}

TEST(TensorSumTest, IntegersWrapAround) {
  int64_t a = std::numeric_limits<int64_t>::max(), b = 1;
  SumInPlace({{DType::kInt64, {1}, &a}, {DType::kInt64, {1}, &b}});
  EXPECT_EQ(a, std::numeric_limits<int64_t>::min());
  int64_t c = -7, d = 2;
  SumInPlace({{DType::kInt64, {1}, &c}, {DType::kInt64, {1}, &d}});
  EXPECT_EQ(d, -5);
}

TEST(TensorSumTest, ChecksTypeShapeAndMemory) {
  double value = 0;
  EXPECT_OK(CheckSummable({DType::kFloat64, {}, &value}));
  EXPECT_OK(CheckSummable({DType::kFloat32, {0}, nullptr}));
  EXPECT_OK(CheckSummable({DType::kInt64, {1}, &value}));
  for (const DType dtype :
       {DType::kUInt8, DType::kInt32, DType::kFloat16, DType::kBFloat16}) {
    EXPECT_THAT(CheckSummable({dtype, {1}, &value}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::string(Name(dtype)))));
  }
  EXPECT_THAT(
      CheckSummable({DType::kFloat32, {2, -1}, &value}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("[2, -1]")));
}

}  // namespace
}  // namespace millrace::distributed
