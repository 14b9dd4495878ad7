#ifndef MILLRACE_LOADER_LOADER_STATE_H_
#define MILLRACE_LOADER_LOADER_STATE_H_

// All that a loader needs to go on where another one stopped, on any number of
// ranks and workers. There is no generator state and no list of indices: what
// comes next is a function of these few values.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/hash.h"

namespace millrace::loader {

struct LoaderState {
  // The data set, and what decides order and pixels.
  Hash128 fingerprint;
  int64_t dataset_size = 0;
  uint64_t seed = 0;
  int64_t batch_size = 0;
  std::string sampler;
  std::string tail;
  // Hash of the transform's description, which may be long.
  Hash128 transform;

  // The next batch to be consumed: `step`, in [0, steps], of `epoch`, in
  // [0, 2^31). Batches that were prefetched and not consumed don't count.
  int64_t epoch = 0;
  int64_t step = 0;

  // JSON on one line, below 1 kB for samplers' descriptions up to 500 bytes.
  std::string Serialize() const;
  // DataLoss, naming the field, if `text` is not such a line.
  static absl::StatusOr<LoaderState> Parse(absl::string_view text);

  // For a saved state: FailedPrecondition (exit code 2) naming the first field
  // in which the run that `other` describes would give other batches, with both
  // values. The position is not compared.
  absl::Status CheckSameRun(const LoaderState& other) const;
};

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_LOADER_STATE_H_
