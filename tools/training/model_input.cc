#include "tools/training/model_input.h"

#include <cstdint>
#include <vector>

#include "ATen/ATen.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/tensor.h"

namespace millrace::tools::training {
namespace {

absl::Status WrongTensor(absl::string_view name, const TensorView& tensor,
                         absl::string_view want) {
  return absl::InvalidArgumentError(
      absl::StrCat("the batch's ", name, " are ", Name(tensor.dtype), " ",
                   ShapeToString(tensor.shape), ", the model wants ", want));
}

at::Tensor Wrap(const TensorView& view, at::ScalarType type) {
  return at::from_blob(
      view.data, std::vector<int64_t>(view.shape.begin(), view.shape.end()),
      at::TensorOptions(type));
}

}  // namespace

absl::StatusOr<ModelInput> ToModelInput(const loader::Batch& batch,
                                        Precision precision,
                                        c10::Device device) {
  const TensorView& images = batch.images();
  const TensorView* const labels = batch.Find("label");
  if (images.dtype != DType::kFloat32 || images.shape.size() != 4 ||
      images.shape[1] != 3) {
    return WrongTensor("images", images, "float32 [n, 3, height, width]");
  }
  if (labels == nullptr) {
    return absl::InvalidArgumentError("the batch has no labels");
  }
  if (labels->dtype != DType::kInt64 || labels->shape.size() != 1) {
    return WrongTensor("labels", *labels, "int64 [n]");
  }
  ModelInput input;
  input.images = Wrap(images, at::kFloat)
                     .to(device, precision == Precision::kFloat64 ? at::kDouble
                                                                  : at::kFloat);
  input.labels = Wrap(*labels, at::kLong).to(device);
  return input;
}

}  // namespace millrace::tools::training
