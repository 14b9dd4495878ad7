#include "loader/raw_transform.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/generator.h"
#include "base/status_macros.h"
#include "loader/raw_field.h"

namespace millrace::loader {
namespace {

class RawTransform : public SampleTransform {
 public:
  explicit RawTransform(std::vector<OutputField> outputs)
      : outputs_(std::move(outputs)) {}

  absl::Span<const OutputField> outputs() const override { return outputs_; }

  std::unique_ptr<Context> MakeContext() const override {
    return std::make_unique<Context>();
  }

  absl::Status Run(const storage::Sample& sample, Generator* /*generator*/,
                   Context* /*context*/,
                   absl::Span<void* const> outputs) const override {
    if (sample.fields().size() != outputs_.size()) {
      return absl::DataLossError(absl::StrCat(
          "want ", outputs_.size(), " fields, got ", sample.fields().size()));
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      MILLRACE_RETURN_IF_ERROR(
          CopyRawField(sample.fields()[i], outputs_[i], outputs[i]));
    }
    return absl::OkStatus();
  }

  int64_t ScratchBytes(const storage::Sample& /*sample*/) const override {
    return 0;
  }

  std::string Describe() const override {
    return absl::StrCat(
        "raw(",
        absl::StrJoin(outputs_, ", ",
                      [](std::string* out, const OutputField& output) {
                        absl::StrAppend(out, DescribeField(output));
                      }),
        ")");
  }

 private:
  const std::vector<OutputField> outputs_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const SampleTransform>> MakeRawTransform(
    const storage::Dataset& dataset) {
  std::vector<OutputField> outputs;
  for (const storage::FieldSpec& spec : dataset.fields()) {
    MILLRACE_ASSIGN_OR_RETURN(OutputField output, RawOutputField(spec));
    outputs.push_back(std::move(output));
  }
  return std::make_shared<const RawTransform>(std::move(outputs));
}

}  // namespace millrace::loader
