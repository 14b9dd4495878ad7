#ifndef MILLRACE_LOADER_BATCH_DIGEST_H_
#define MILLRACE_LOADER_BATCH_DIGEST_H_

// A short proof of what a global batch held, the same however it was split.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/hash.h"
#include "distributed/communicator.h"
#include "loader/batch.h"

namespace millrace::loader {

// Sums, modulo 2^64 in each half, of a 128-bit hash of each sample: of
// (position, index) in `indices`, and of (position, bytes of every tensor) in
// `pixels`. A sum does not depend on the order, so ranks' digests add up to the
// batch's.
struct BatchDigest {
  Hash128 indices;
  Hash128 pixels;

  BatchDigest& operator+=(const BatchDigest& other);
  friend bool operator==(const BatchDigest& a, const BatchDigest& b) {
    return a.indices == b.indices && a.pixels == b.pixels;
  }

  // "indices=HEX pixels=HEX"
  std::string ToString() const;
};

// Of this rank's share of a batch. Tensors with a dimension of samples in front
// only. Cost: one pass of XXH3 over the tensors.
BatchDigest DigestOf(const Batch& batch);

// The sum over ranks, on all of them. A collective.
absl::StatusOr<BatchDigest> SumOverRanks(
    const BatchDigest& digest, distributed::Communicator& communicator,
    absl::Duration timeout);

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_BATCH_DIGEST_H_
