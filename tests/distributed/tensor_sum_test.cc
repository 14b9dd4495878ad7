#include "distributed/tensor_sum.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/types/span.h"
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

TEST(TensorSumTest, DescribesASum) {
  EXPECT_EQ(DescribeSum({DType::kFloat32, {20, 50}, nullptr}),
            "sum of 1000 float32");
}

TEST(TensorCopyTest, LeavesTheOriginalAloneUntilWrittenBack) {
  std::vector<float> values = {1, 2, 3};
  const TensorCopy copy({DType::kFloat32, {3}, values.data()});
  EXPECT_EQ(copy.view().dtype, DType::kFloat32);
  EXPECT_THAT(copy.view().shape, ElementsAre(3));
  EXPECT_THAT(absl::MakeSpan(copy.view().As<float>(), 3), ElementsAre(1, 2, 3));
  copy.view().As<float>()[1] = 20;
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
  copy.WriteBack();
  EXPECT_THAT(values, ElementsAre(1, 20, 3));
}

TEST(TensorCopyTest, OwnerOutlivesIt) {
  double value = 7;
  std::shared_ptr<const void> owner;
  const double* copied = nullptr;
  {
    const TensorCopy copy({DType::kFloat64, {}, &value});
    owner = copy.owner();
    copied = copy.view().As<double>();
  }
  EXPECT_EQ(*copied, 7);
}

TEST(TensorCopyTest, EmptyTensorsHaveNoMemory) {
  const TensorCopy copy({DType::kInt64, {0}, nullptr});
  copy.WriteBack();
  EXPECT_EQ(copy.view().ByteCount(), 0);
}

}  // namespace
}  // namespace millrace::distributed
