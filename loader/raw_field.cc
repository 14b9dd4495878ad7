#include "loader/raw_field.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/tensor.h"

namespace millrace::loader {
namespace {

TensorView ViewOf(const OutputField& output, void* data) {
  return {.dtype = output.dtype, .shape = output.shape, .data = data};
}

}  // namespace

absl::StatusOr<OutputField> RawOutputField(const storage::FieldSpec& spec) {
  const storage::Descriptor& descriptor = spec.descriptor;
  if (descriptor.encoded) {
    return absl::InvalidArgumentError(absl::StrCat(
        "field ", spec.name,
        " holds encoded images: only raw fields are copied as they are"));
  }
  if (descriptor.shape.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("field ", spec.name,
                     " has no fixed shape: batches of it need a transform and "
                     "a collate function"));
  }
  if (ElementCount(descriptor.shape) < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("field ", spec.name, " has the impossible shape ",
                     ShapeToString(descriptor.shape)));
  }
  return OutputField{
      .name = spec.name, .dtype = descriptor.dtype, .shape = descriptor.shape};
}

absl::Status CopyRawField(const storage::FieldView& field,
                          const OutputField& output, void* out) {
  const storage::Descriptor& descriptor = field.descriptor;
  if (descriptor.encoded || descriptor.dtype != output.dtype ||
      descriptor.shape != output.shape) {
    return absl::DataLossError(absl::StrCat(
        "field ", DescribeField(output), ": the sample has ",
        descriptor.encoded ? "an encoded image" : Name(descriptor.dtype),
        descriptor.encoded ? "" : ShapeToString(descriptor.shape)));
  }
  const int64_t want = ViewOf(output, out).ByteCount();
  if (static_cast<int64_t>(field.bytes.size()) != want) {
    return absl::DataLossError(absl::StrCat("field ", DescribeField(output),
                                            ": want ", want, " bytes, got ",
                                            field.bytes.size()));
  }
  if (want > 0) std::memcpy(out, field.bytes.data(), field.bytes.size());
  return absl::OkStatus();
}

std::string DescribeField(const OutputField& output) {
  return absl::StrCat(output.name, ": ", Name(output.dtype),
                      ShapeToString(output.shape));
}

}  // namespace millrace::loader
