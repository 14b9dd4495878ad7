#include "tools/bench/process_usage.h"

#include <time.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace millrace::tools {
namespace {

constexpr char kRollup[] = "/proc/self/smaps_rollup";

}  // namespace

absl::Duration ProcessCpuTime() {
  timespec time;
  // Can't fail: the clock exists on every Linux, the pointer is good.
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) {
    return absl::ZeroDuration();
  }
  return absl::DurationFromTimespec(time);
}

absl::StatusOr<int64_t> ProportionalSetBytes() {
  std::ifstream file(kRollup);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file.is_open() || file.bad()) {
    return absl::NotFoundError(std::string("can't read ") + kRollup);
  }
  return ParseProportionalSetBytes(text.str());
}

absl::StatusOr<int64_t> ParseProportionalSetBytes(absl::string_view rollup) {
  for (const absl::string_view line : absl::StrSplit(rollup, '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t kilobytes = 0;
    if (words.size() == 3 && words[0] == "Pss:" && words[2] == "kB" &&
        absl::SimpleAtoi(words[1], &kilobytes) && kilobytes >= 0) {
      return kilobytes * 1024;
    }
  }
  return absl::DataLossError("no line \"Pss: N kB\" in smaps_rollup");
}

}  // namespace millrace::tools
