#include "distributed/rank_list.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace millrace::distributed {

std::string JoinRuns(absl::Span<const int> numbers) {
  std::string text;
  for (size_t first = 0; first < numbers.size();) {
    size_t last = first;
    while (last + 1 < numbers.size() &&
           numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    absl::StrAppend(&text, first == 0 ? "" : ", ", numbers[first]);
    if (last > first) absl::StrAppend(&text, "-", numbers[last]);
    first = last + 1;
  }
  return text;
}

std::string RanksToString(absl::Span<const int> ranks) {
  if (ranks.empty()) return "no rank";
  return absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ", JoinRuns(ranks));
}

}  // namespace millrace::distributed
