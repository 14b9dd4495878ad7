#include "tools/inspect/classes.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace millrace::tools {

absl::Status PrintClasses(const storage::Dataset& dataset, std::ostream& out) {
  const std::vector<std::string>& names = dataset.class_names();
  if (names.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(dataset.Describe(), ": labels are not class numbers"));
  }
  std::vector<int64_t> counts(names.size());
  storage::Sample sample;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    MILLRACE_RETURN_IF_ERROR(dataset.ReadLabels(i, &sample));
    const storage::LabelView labels = sample.labels();
    if (labels.dtype != DType::kInt64 || labels.count != 1 ||
        labels.AsInt64()[0] < 0 ||
        labels.AsInt64()[0] >= static_cast<int64_t>(names.size())) {
      return absl::DataLossError(absl::StrCat(
          "sample ", i, " (", dataset.Location(i),
          "): its label is not one of ", names.size(), " class numbers"));
    }
    ++counts[labels.AsInt64()[0]];
  }
  for (size_t label = 0; label < names.size(); ++label) {
    out << label << "\t" << EscapeForMessage(names[label]) << "\t"
        << counts[label] << "\n";
  }
  return absl::OkStatus();
}

}  // namespace millrace::tools
