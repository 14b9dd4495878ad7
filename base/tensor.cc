#include "base/tensor.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace millrace {

size_t ByteSize(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return 1;
    case DType::kFloat16:
    case DType::kBFloat16:
      return 2;
    case DType::kInt32:
    case DType::kFloat32:
      return 4;
    case DType::kInt64:
    case DType::kFloat64:
      return 8;
  }
  return 0;
}

absl::string_view Name(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return "uint8";
    case DType::kInt32:
      return "int32";
    case DType::kInt64:
      return "int64";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kFloat32:
      return "float32";
    case DType::kFloat64:
      return "float64";
  }
  return "unknown";
}

absl::string_view Name(Layout layout) {
  return layout == Layout::kHWC ? "HWC" : "CHW";
}

int64_t ElementCount(const Shape& shape) {
  constexpr int64_t kLimit = int64_t{1} << 59;
  int64_t count = 1;
  bool too_large = false;
  bool empty = false;
  for (const int64_t dimension : shape) {
    if (dimension < 0) return -1;
    if (dimension == 0) {
      empty = true;
    } else if (count > kLimit / dimension) {
      too_large = true;
    } else {
      count *= dimension;
    }
  }
  if (empty) return 0;
  return too_large ? -1 : count;
}

int64_t TensorView::ByteCount() const {
  const int64_t count = ElementCount(shape);
  return count < 0 ? -1 : count * static_cast<int64_t>(ByteSize(dtype));
}

std::string ShapeToString(const Shape& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

}  // namespace millrace
