#include "tools/parse_workers.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace millrace::tools {

absl::StatusOr<std::optional<int>> ParseWorkers(absl::string_view text) {
  if (text.empty() || text == "auto") return std::nullopt;
  int workers = 0;
  if (!absl::SimpleAtoi(text, &workers) || workers < 0 || workers > 1024) {
    return absl::InvalidArgumentError(
        absl::StrCat("flag --workers=", text,
                     ": want \"auto\" or a number of threads in [0, 1024]"));
  }
  return workers;
}

}  // namespace millrace::tools
