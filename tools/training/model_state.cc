#include "tools/training/model_state.h"

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "ATen/ATen.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tools/training/torch_status.h"

namespace millrace::tools::training {
namespace {

struct NamedTorchTensor {
  std::string name;
  at::Tensor tensor;
};

std::vector<NamedTorchTensor> Parameters(const Model& model) {
  std::vector<NamedTorchTensor> tensors;
  for (const auto& item : model.named_parameters()) {
    tensors.push_back({item.key(), item.value().detach()});
  }
  return tensors;
}

std::vector<NamedTorchTensor> Buffers(const Model& model) {
  std::vector<NamedTorchTensor> tensors;
  for (const auto& item : model.named_buffers()) {
    tensors.push_back({item.key(), item.value()});
  }
  return tensors;
}

// All that a checkpoint holds. The tensors share the model's memory.
std::vector<NamedTorchTensor> AllTensors(const Model& model, const Sgd& sgd) {
  std::vector<NamedTorchTensor> tensors;
  const std::vector<NamedTorchTensor> parameters = Parameters(model);
  for (const NamedTorchTensor& item : parameters) {
    tensors.push_back({absl::StrCat("parameter ", item.name), item.tensor});
  }
  for (const NamedTorchTensor& item : Buffers(model)) {
    tensors.push_back({absl::StrCat("buffer ", item.name), item.tensor});
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    tensors.push_back(
        {absl::StrCat("velocity ", parameters[i].name), sgd.velocities()[i]});
  }
  return tensors;
}

DType TypeOf(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kDouble:
      return DType::kFloat64;
    case at::kLong:
      return DType::kInt64;
    default:
      // The models have no others.
      return DType::kFloat32;
  }
}

Shape ShapeOf(const at::Tensor& tensor) {
  return Shape(tensor.sizes().begin(), tensor.sizes().end());
}

// The elements, row-major.
std::string BytesOf(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.to(at::kCPU).contiguous();
  return std::string(static_cast<const char*>(dense.data_ptr()),
                     dense.nbytes());
}

// REQUIRES: as many bytes as the tensor has.
void SetBytes(at::Tensor tensor, absl::string_view bytes) {
  const at::Tensor dense =
      at::empty(tensor.sizes(), at::TensorOptions(tensor.scalar_type()));
  std::memcpy(dense.data_ptr(), bytes.data(), bytes.size());
  tensor.copy_(dense);
}

absl::Status SumOverRanks(std::vector<double>* values,
                          distributed::Communicator* communicator,
                          absl::Duration timeout) {
  MILLRACE_ASSIGN_OR_RETURN(
      const std::unique_ptr<distributed::PendingCollective> reduction,
      communicator->StartAllReduceSum(
          TensorView{DType::kFloat64,
                     {static_cast<int64_t>(values->size())},
                     values->data()}));
  return reduction->Wait(timeout);
}

}  // namespace

absl::Status BroadcastModel(Model* model,
                            distributed::Communicator* communicator,
                            absl::Duration timeout) {
  return CatchTorch("broadcasting the model", [&]() -> absl::Status {
    std::vector<NamedTorchTensor> tensors = Parameters(*model);
    for (NamedTorchTensor& item : Buffers(*model)) {
      tensors.push_back(std::move(item));
    }
    std::string bytes;
    for (const NamedTorchTensor& item : tensors) bytes += BytesOf(item.tensor);
    const size_t size = bytes.size();
    MILLRACE_ASSIGN_OR_RETURN(
        bytes, communicator->Broadcast(bytes, /*root=*/0, timeout));
    if (bytes.size() != size) {
      return absl::InternalError(absl::StrCat(
          "rank 0's model has ", bytes.size(), " bytes, this rank's ", size));
    }
    absl::string_view rest = bytes;
    for (const NamedTorchTensor& item : tensors) {
      SetBytes(item.tensor, rest.substr(0, item.tensor.nbytes()));
      rest.remove_prefix(item.tensor.nbytes());
    }
    return absl::OkStatus();
  });
}

absl::Status AverageBuffers(Model* model, int64_t samples,
                            distributed::Communicator* communicator,
                            absl::Duration timeout) {
  // On one rank a product and a quotient would only round.
  if (communicator->size() == 1) return absl::OkStatus();
  return CatchTorch("averaging buffers", [&]() -> absl::Status {
    const std::vector<NamedTorchTensor> buffers = Buffers(*model);
    const double weight = static_cast<double>(samples);
    std::vector<double> values = {weight};
    for (const NamedTorchTensor& item : buffers) {
      const at::Tensor dense =
          item.tensor.to(at::kCPU, at::kDouble).contiguous();
      const double* const data = dense.data_ptr<double>();
      for (int64_t i = 0; i < dense.numel(); ++i) {
        values.push_back(weight * data[i]);
      }
    }
    MILLRACE_RETURN_IF_ERROR(SumOverRanks(&values, communicator, timeout));
    if (values[0] == 0) return absl::OkStatus();
    size_t next = 1;
    for (const NamedTorchTensor& item : buffers) {
      at::Tensor mean = at::empty(item.tensor.sizes(), at::kDouble);
      double* const data = mean.data_ptr<double>();
      for (int64_t i = 0; i < mean.numel(); ++i) {
        data[i] = values[next++] / values[0];
      }
      if (!item.tensor.is_floating_point()) mean.round_();
      at::Tensor(item.tensor).copy_(mean);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<CheckpointTensor>> SaveTensors(const Model& model,
                                                          const Sgd& sgd) {
  std::vector<CheckpointTensor> saved;
  MILLRACE_RETURN_IF_ERROR(CatchTorch("saving the model", [&] {
    for (const NamedTorchTensor& item : AllTensors(model, sgd)) {
      saved.push_back({item.name, TypeOf(item.tensor), ShapeOf(item.tensor),
                       BytesOf(item.tensor)});
    }
    return absl::OkStatus();
  }));
  return saved;
}

absl::Status RestoreTensors(absl::Span<const CheckpointTensor> tensors,
                            Model* model, Sgd* sgd) {
  std::map<absl::string_view, const CheckpointTensor*> by_name;
  for (const CheckpointTensor& tensor : tensors) {
    by_name[tensor.name] = &tensor;
  }
  return CatchTorch("restoring the model", [&]() -> absl::Status {
    for (const NamedTorchTensor& item : AllTensors(*model, *sgd)) {
      const auto found = by_name.find(item.name);
      if (found == by_name.end()) {
        return absl::FailedPreconditionError(
            absl::StrCat("the checkpoint has no tensor ", item.name));
      }
      const CheckpointTensor& saved = *found->second;
      if (saved.dtype != TypeOf(item.tensor) ||
          saved.shape != ShapeOf(item.tensor)) {
        return absl::FailedPreconditionError(
            absl::StrCat("the checkpoint's tensor ", item.name, " is ",
                         Name(saved.dtype), " ", ShapeToString(saved.shape),
                         ", the model's is ", Name(TypeOf(item.tensor)), " ",
                         ShapeToString(ShapeOf(item.tensor))));
      }
      SetBytes(item.tensor, saved.bytes);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Hash128> HashParameters(const Model& model) {
  Hasher hasher;
  MILLRACE_RETURN_IF_ERROR(CatchTorch("hashing the model", [&] {
    for (const NamedTorchTensor& item : Parameters(model)) {
      hasher.AddString(item.name).AddString(BytesOf(item.tensor));
    }
    return absl::OkStatus();
  }));
  return hasher.Finish();
}

}  // namespace millrace::tools::training
