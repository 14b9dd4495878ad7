#ifndef MILLRACE_TOOLS_INSPECT_CLASSES_H_
#define MILLRACE_TOOLS_INSPECT_CLASSES_H_

// `inspect classes`: which label means which class, and how many samples each
// has.

#include <ostream>

#include "absl/status/status.h"
#include "storage/dataset.h"

namespace millrace::tools {

// Prints "LABEL NAME COUNT", separated by tabs, for each class by rising label.
// Odd bytes of names are escaped as in messages. FailedPrecondition where
// labels are not class numbers; else fails as Dataset::ReadLabels().
absl::Status PrintClasses(const storage::Dataset& dataset, std::ostream& out);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_INSPECT_CLASSES_H_
