#include "distributed/bucket_plan.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/tensor.h"
#include "distributed/rank_list.h"

namespace millrace::distributed {

BucketPlan PlanBuckets(absl::Span<const GradientSpec> specs,
                       const GradientReducerOptions& options) {
  BucketPlan plan;
  plan.buckets.emplace_back();
  plan.places.resize(specs.size());
  for (int i = static_cast<int>(specs.size()) - 1; i >= 0; --i) {
    const int64_t limit = plan.buckets.size() == 1 ? options.first_bucket_bytes
                                                   : options.bucket_bytes;
    const int64_t filled = plan.buckets.back().elements + specs[i].elements;
    if (!plan.buckets.back().parameters.empty() &&
        filled * static_cast<int64_t>(ByteSize(specs[i].dtype)) > limit) {
      plan.buckets.emplace_back();
    }
    BucketPlan::Bucket& bucket = plan.buckets.back();
    plan.places[i] = {static_cast<int>(plan.buckets.size()) - 1,
                      bucket.elements};
    bucket.parameters.push_back(i);
    bucket.elements += specs[i].elements;
  }
  return plan;
}

absl::Status ValidateSpecs(absl::Span<const GradientSpec> specs) {
  for (size_t i = 0; i < specs.size(); ++i) {
    const GradientSpec& spec = specs[i];
    const std::string which =
        absl::StrCat("gradient ", i, " (", EscapeForMessage(spec.name), ")");
    if (spec.dtype != DType::kFloat32 && spec.dtype != DType::kFloat64) {
      return absl::InvalidArgumentError(absl::StrCat(
          which, " is ", Name(spec.dtype), ", not float32 or float64"));
    }
    if (spec.dtype != specs[0].dtype) {
      return absl::InvalidArgumentError(
          absl::StrCat(which, " is ", Name(spec.dtype), ", the first is ",
                       Name(specs[0].dtype)));
    }
    if (spec.elements < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(which, " has ", spec.elements, " elements"));
    }
  }
  return absl::OkStatus();
}

Terms PlanTerms(absl::Span<const GradientSpec> specs,
                const GradientReducerOptions& options) {
  Terms terms = {
      {"bucket_bytes", absl::StrCat(options.bucket_bytes)},
      {"first_bucket_bytes", absl::StrCat(options.first_bucket_bytes)},
  };
  for (size_t i = 0; i < specs.size(); ++i) {
    terms.emplace_back(absl::StrCat("parameter ", i),
                       absl::StrCat(specs[i].name, " ", Name(specs[i].dtype),
                                    "[", specs[i].elements, "]"));
  }
  return terms;
}

std::string DescribeMissingBuckets(const std::vector<bool>& through) {
  std::vector<int> missing;
  for (size_t k = 0; k < through.size(); ++k) {
    if (!through[k]) missing.push_back(static_cast<int>(k) + 1);
  }
  return absl::StrCat("gradient bucket", missing.size() == 1 ? " " : "s ",
                      JoinRuns(missing), " of ", through.size());
}

}  // namespace millrace::distributed
