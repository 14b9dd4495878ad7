#ifndef MILLRACE_BASE_TENSOR_H_
#define MILLRACE_BASE_TENSOR_H_

// Element types and shapes, as every layer names them.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

namespace millrace {

// Numbered for disk and wire: values never change.
enum class DType : uint8_t {
  kUInt8 = 0,
  kInt32 = 1,
  kInt64 = 2,
  kFloat16 = 3,
  kBFloat16 = 4,
  kFloat32 = 5,
  kFloat64 = 6,
};

// Bytes of one element.
size_t ByteSize(DType dtype);

// "uint8", "int32", ... as NumPy and PyTorch write them.
absl::string_view Name(DType dtype);

// Order of an image's dimensions, channels last or first. Numbered as DType.
enum class Layout : uint8_t {
  kHWC = 0,
  kCHW = 1,
};

absl::string_view Name(Layout layout);

// Dimensions, outermost first; empty for a scalar.
using Shape = absl::InlinedVector<int64_t, 4>;

// Product of the dimensions; 1 for a scalar. -1 if it exceeds 2^59 (so that a
// count of bytes always fits) or a dimension is negative.
int64_t ElementCount(const Shape& shape);

// "[64, 3, 224, 224]"
std::string ShapeToString(const Shape& shape);

// A dense row-major array that somebody else owns.
struct TensorView {
  DType dtype = DType::kUInt8;
  Shape shape;
  void* data = nullptr;

  // -1 where ElementCount(shape) is.
  int64_t ByteCount() const;
  // REQUIRES: dtype matches T.
  template <typename T>
  T* As() const {
    return static_cast<T*>(data);
  }
};

}  // namespace millrace

#endif  // MILLRACE_BASE_TENSOR_H_
