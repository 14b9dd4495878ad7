#ifndef MILLRACE_LOADER_RAW_FIELD_H_
#define MILLRACE_LOADER_RAW_FIELD_H_

// Fields that go from the data set into the batch as they are stored.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "loader/sample_transform.h"
#include "storage/dataset.h"

namespace millrace::loader {

// The tensor that a copy of the field makes. InvalidArgument, naming the field,
// where it is encoded or has no fixed shape, or one that no tensor can have.
absl::StatusOr<OutputField> RawOutputField(const storage::FieldSpec& spec);

// Copies `field` to `out`, which has room for output's type and shape.
// DataLoss, naming the field, if it isn't of that type, shape and size.
absl::Status CopyRawField(const storage::FieldView& field,
                          const OutputField& output, void* out);

// "mask: uint8[4, 4]"
std::string DescribeField(const OutputField& output);

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_RAW_FIELD_H_
