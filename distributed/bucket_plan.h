#ifndef MILLRACE_DISTRIBUTED_BUCKET_PLAN_H_
#define MILLRACE_DISTRIBUTED_BUCKET_PLAN_H_

// Which gradients are reduced together: see the drawing in gradient_reducer.h.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distributed/coordinator.h"
#include "distributed/gradient_reducer.h"

namespace millrace::distributed {

struct BucketPlan {
  struct Bucket {
    // Indices of parameters, falling.
    std::vector<int> parameters;
    // Of all of them together.
    int64_t elements = 0;
  };
  struct Place {
    int bucket = 0;
    // In elements, from the start of the bucket.
    int64_t offset = 0;
  };
  // In the order of reduction; at least one, for the scalars that follow the
  // gradients of the first.
  std::vector<Bucket> buckets;
  // By parameter.
  std::vector<Place> places;
};

// Fills buckets from the last parameter to the first. A bucket ends where
// another gradient would exceed its size; a gradient that is larger by itself
// gets a bucket of its own.
BucketPlan PlanBuckets(absl::Span<const GradientSpec> specs,
                       const GradientReducerOptions& options);

// InvalidArgument, naming the parameter, unless all types are kFloat32 or all
// are kFloat64, and no number of elements is negative.
absl::Status ValidateSpecs(absl::Span<const GradientSpec> specs);

// What ranks must have in common before they reduce by such a plan.
Terms PlanTerms(absl::Span<const GradientSpec> specs,
                const GradientReducerOptions& options);

// "gradient bucket 2 of 5", "gradient buckets 1-2, 4 of 5": those, counted from
// 1, whose flag in `through` is not set.
std::string DescribeMissingBuckets(const std::vector<bool>& through);

}  // namespace millrace::distributed

#endif  // MILLRACE_DISTRIBUTED_BUCKET_PLAN_H_
