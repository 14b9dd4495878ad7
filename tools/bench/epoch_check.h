#ifndef MILLRACE_TOOLS_BENCH_EPOCH_CHECK_H_
#define MILLRACE_TOOLS_BENCH_EPOCH_CHECK_H_

// Makes sure that a measured epoch delivered what it should have.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace millrace::tools {

// Counts the samples of an epoch: each index of [0, size) must come once.
//
// Confined to one thread. Memory: a bit a sample.
class EpochCheck {
 public:
  // REQUIRES: size >= 0.
  explicit EpochCheck(int64_t size) : seen_(static_cast<size_t>(size)) {}

  // Internal, naming the index, where one is outside or came before.
  absl::Status Add(absl::Span<const int64_t> indices);

  // All samples have come.
  bool complete() const { return count_ == static_cast<int64_t>(seen_.size()); }

  // Ends the epoch: Internal, naming both numbers, if a sample is missing.
  absl::Status Finish();

 private:
  std::vector<bool> seen_;
  int64_t count_ = 0;
};

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_BENCH_EPOCH_CHECK_H_
