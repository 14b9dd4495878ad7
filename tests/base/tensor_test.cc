#include "base/tensor.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace millrace {
namespace {

TEST(TensorTest, TypesHaveTheirSizesAndNames) {
  EXPECT_EQ(ByteSize(DType::kUInt8), 1u);
  EXPECT_EQ(ByteSize(DType::kInt32), 4u);
  EXPECT_EQ(ByteSize(DType::kInt64), 8u);
  EXPECT_EQ(ByteSize(DType::kFloat16), 2u);
  EXPECT_EQ(ByteSize(DType::kBFloat16), 2u);
  EXPECT_EQ(ByteSize(DType::kFloat32), 4u);
  EXPECT_EQ(ByteSize(DType::kFloat64), 8u);
  EXPECT_EQ(Name(DType::kUInt8), "uint8");
  EXPECT_EQ(Name(DType::kInt32), "int32");
  EXPECT_EQ(Name(DType::kInt64), "int64");
  EXPECT_EQ(Name(DType::kFloat16), "float16");
  EXPECT_EQ(Name(DType::kBFloat16), "bfloat16");
  EXPECT_EQ(Name(DType::kFloat32), "float32");
  EXPECT_EQ(Name(DType::kFloat64), "float64");
  EXPECT_EQ(Name(Layout::kHWC), "HWC");
  EXPECT_EQ(Name(Layout::kCHW), "CHW");
}

TEST(TensorTest, CountsElements) {
  EXPECT_EQ(ElementCount({}), 1);
  EXPECT_EQ(ElementCount({64, 3, 224, 224}), 64 * 3 * 224 * 224);
  EXPECT_EQ(ElementCount({5, 0, 7}), 0);
}

TEST(TensorTest, CountsUpToTheLimitAndRefusesMore) {
  constexpr int64_t kLimit = int64_t{1} << 59;
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ElementCount({kLimit}), kLimit);
  EXPECT_EQ(ElementCount({kLimit / 2, 2}), kLimit);
  EXPECT_EQ(ElementCount({kLimit + 1}), -1);
  EXPECT_EQ(ElementCount({kLimit / 2, 3}), -1);
  EXPECT_EQ(ElementCount({kHuge, kHuge, kHuge}), -1);
  EXPECT_EQ(ElementCount({2, -1}), -1);
}

TEST(TensorTest, NoElementsWhereADimensionIsZeroWhateverTheOthers) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ElementCount({kHuge, kHuge, 0}), 0);
  EXPECT_EQ(ElementCount({0, kHuge, kHuge}), 0);
  EXPECT_EQ(ElementCount({0, -1}), -1);
}

TEST(TensorTest, WritesShapes) {
  EXPECT_EQ(ShapeToString({64, 3, 224, 224}), "[64, 3, 224, 224]");
  EXPECT_EQ(ShapeToString({}), "[]");
}

TEST(TensorViewTest, CountsBytes) {
  TensorView view;
  view.dtype = DType::kFloat32;
  view.shape = {2, 3};
  EXPECT_EQ(view.ByteCount(), 24);
  view.dtype = DType::kFloat64;
  view.shape = {int64_t{1} << 59};
  EXPECT_EQ(view.ByteCount(), int64_t{1} << 62);
  view.shape = {int64_t{1} << 60};
  EXPECT_EQ(view.ByteCount(), -1);
}

}  // namespace
}  // namespace millrace
