#include "distributed/disagreement.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "distributed/rank_list.h"

namespace millrace::distributed {

std::string DescribeDifference(absl::string_view name,
                               const std::vector<RankValue>& values) {
  struct Group {
    absl::string_view value;
    std::vector<int> ranks;
  };
  std::vector<Group> groups;
  std::map<absl::string_view, size_t> place;
  for (const auto& [rank, value] : values) {
    const auto [it, is_new] = place.emplace(value, groups.size());
    if (is_new) groups.push_back({value, {}});
    groups[it->second].ranks.push_back(rank);
  }
  if (groups.size() < 2) return "";
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) {
                     return a.ranks.size() > b.ranks.size();
                   });
  return absl::StrCat(
      name, ": ",
      absl::StrJoin(groups, "; ", [](std::string* out, const Group& group) {
        absl::StrAppend(out, EscapeForMessage(group.value), " on ",
                        RanksToString(group.ranks));
      }));
}

absl::Status DisagreementError(absl::string_view what,
                               absl::string_view difference) {
  return WithExitCode(absl::FailedPreconditionError(absl::StrCat(
                          what, ": ranks disagree on ", difference)),
                      ExitCode::kUsage);
}

}  // namespace millrace::distributed
