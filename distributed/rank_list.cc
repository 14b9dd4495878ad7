#include "distributed/rank_list.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace millrace::distributed {

std::string RanksToString(absl::Span<const int> ranks) {
  if (ranks.empty()) return "no rank";
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t first = 0; first < ranks.size();) {
    size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    absl::StrAppend(&text, first == 0 ? "" : ", ", ranks[first]);
    if (last > first) absl::StrAppend(&text, "-", ranks[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace millrace::distributed
