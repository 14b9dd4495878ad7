#include "loader/collate.h"

#include <new>

#include "absl/strings/str_cat.h"

namespace millrace::loader {

absl::StatusOr<TensorView> BatchBuilder::Add(absl::string_view name,
                                             DType dtype, const Shape& shape) {
  for (const NamedTensor& named : tensors_) {
    if (named.name == name) {
      return absl::InvalidArgumentError(
          absl::StrCat("the batch has a tensor \"", name, "\" already"));
    }
  }
  if (ElementCount(shape) < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor \"", name, "\" can't have the shape ", ShapeToString(shape)));
  }
  TensorView tensor{dtype, shape, nullptr};
  const size_t bytes = static_cast<size_t>(tensor.ByteCount());
  // new aligns to the largest fundamental type, which covers every DType.
  std::unique_ptr<uint8_t[]> memory(new (std::nothrow) uint8_t[bytes]());
  if (memory == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("tensor \"", name, "\": no memory for ", bytes, " bytes"));
  }
  tensor.data = memory.get();
  memory_.push_back(std::move(memory));
  tensors_.push_back({std::string(name), tensor});
  return tensor;
}

}  // namespace millrace::loader
