#include "tools/bench/epoch_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace millrace::tools {

absl::Status EpochCheck::Add(absl::Span<const int64_t> indices) {
  for (const int64_t index : indices) {
    if (index < 0 || index >= static_cast<int64_t>(seen_.size())) {
      return absl::InternalError(absl::StrCat(
          "sample ", index, " was delivered from a set of ", seen_.size()));
    }
    if (seen_[index]) {
      return absl::InternalError(
          absl::StrCat("sample ", index, " was delivered twice in an epoch"));
    }
    seen_[index] = true;
    ++count_;
  }
  return absl::OkStatus();
}

absl::Status EpochCheck::Finish() {
  if (!complete()) {
    return absl::InternalError(absl::StrCat("an epoch delivered ", count_,
                                            " of ", seen_.size(), " samples"));
  }
  std::fill(seen_.begin(), seen_.end(), false);
  count_ = 0;
  return absl::OkStatus();
}

}  // namespace millrace::tools
