#include "distributed/tensor_sum.h"

#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace millrace::distributed {
namespace {

template <typename T>
void SumInPlaceAs(absl::Span<const TensorView> tensors) {
  const int64_t count = ElementCount(tensors[0].shape);
  for (int64_t i = 0; i < count; ++i) {
    T sum = tensors[0].As<T>()[i];
    for (size_t r = 1; r < tensors.size(); ++r) sum += tensors[r].As<T>()[i];
    for (const TensorView& tensor : tensors) tensor.As<T>()[i] = sum;
  }
}

}  // namespace

absl::Status CheckSummable(const TensorView& tensor) {
  if (tensor.dtype != DType::kFloat32 && tensor.dtype != DType::kFloat64 &&
      tensor.dtype != DType::kInt64) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ranks sum float32, float64 or int64, not ", Name(tensor.dtype)));
  }
  const int64_t count = ElementCount(tensor.shape);
  if (count < 0 || (count > 0 && tensor.data == nullptr)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a tensor of shape ", ShapeToString(tensor.shape), " has no memory"));
  }
  return absl::OkStatus();
}

void SumInPlace(absl::Span<const TensorView> tensors) {
  switch (tensors[0].dtype) {
    case DType::kFloat32:
      return SumInPlaceAs<float>(tensors);
    case DType::kFloat64:
      return SumInPlaceAs<double>(tensors);
    default:
      // Unsigned: a signed sum must not overflow.
      return SumInPlaceAs<uint64_t>(tensors);
  }
}

std::string DescribeSum(const TensorView& tensor) {
  return absl::StrCat("sum of ", ElementCount(tensor.shape), " ",
                      Name(tensor.dtype));
}

TensorCopy::TensorCopy(const TensorView& original)
    : original_(original),
      bytes_(new double[original.ByteCount() / sizeof(double) + 1]),
      view_{original.dtype, original.shape, bytes_.get()} {
  // An empty tensor may have no memory.
  if (original.ByteCount() > 0) {
    std::memcpy(view_.data, original.data, original.ByteCount());
  }
}

void TensorCopy::WriteBack() const {
  if (original_.ByteCount() > 0) {
    std::memcpy(original_.data, view_.data, original_.ByteCount());
  }
}

}  // namespace millrace::distributed
