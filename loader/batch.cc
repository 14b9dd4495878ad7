#include "loader/batch.h"

#include <utility>

namespace millrace::loader {

Batch::Batch(Contents contents)
    : c_(std::make_shared<const Contents>(std::move(contents))) {}

const TensorView* Batch::Find(absl::string_view name) const {
  for (const NamedTensor& named : c_->tensors) {
    if (named.name == name) return &named.tensor;
  }
  return nullptr;
}

}  // namespace millrace::loader
