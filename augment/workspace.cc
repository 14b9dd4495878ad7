#include "augment/workspace.h"

#include <utility>

#include "augment/workspace_impl.h"

namespace millrace::augment {

Workspace::Workspace() : impl_(std::make_unique<Impl>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

Workspace::Times Workspace::TakeTimes() {
  return std::exchange(impl_->times, Times());
}

int64_t Workspace::ByteCount() const {
  return impl_->jpeg.ScratchBytes() + impl_->pnm.ScratchBytes() +
         impl_->opencv.ScratchBytes() + impl_->stage.ByteCount();
}

}  // namespace millrace::augment
