#include "base/cpu.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace millrace {
namespace {

// The two words of a limit, as v2 has them in one file and v1 in two.
struct Bandwidth {
  std::string quota;  // Microseconds in each period; "max" or -1 for none.
  std::string period;
};

std::optional<int> CpusOf(const Bandwidth& bandwidth) {
  int64_t quota = 0, period = 0;
  if (!absl::SimpleAtoi(bandwidth.quota, &quota) || quota <= 0 ||
      !absl::SimpleAtoi(bandwidth.period, &period) || period <= 0) {
    return std::nullopt;
  }
  // Rounded up without a sum that could overflow.
  const int64_t cpus = quota / period + (quota % period == 0 ? 0 : 1);
  return static_cast<int>(
      std::min<int64_t>(cpus, std::numeric_limits<int>::max()));
}

std::optional<int> LimitOfGroup(const std::string& folder, bool v2) {
  Bandwidth bandwidth;
  if (v2) {
    // "max 100000" or "200000 100000".
    std::ifstream(folder + "/cpu.max") >> bandwidth.quota >> bandwidth.period;
  } else {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> bandwidth.quota;
    std::ifstream(folder + "/cpu.cfs_period_us") >> bandwidth.period;
  }
  return CpusOf(bandwidth);
}

std::optional<int> Least(std::optional<int> a, std::optional<int> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return std::min(*a, *b);
}

// The least limit of the group at `path` below `mount` and of those above it. A
// container may see the host's path although its mount starts at its own group:
// folders that are not there have no limit, and the mount's own is always read.
std::optional<int> LimitOfHierarchy(const std::string& mount,
                                    absl::string_view path, bool v2) {
  std::string folder = mount;
  std::optional<int> least = LimitOfGroup(folder, v2);
  for (const absl::string_view part :
       absl::StrSplit(path, '/', absl::SkipEmpty())) {
    // The group lies outside of this mount.
    if (part == "..") break;
    absl::StrAppend(&folder, "/", part);
    least = Least(least, LimitOfGroup(folder, v2));
  }
  return least;
}

}  // namespace

int AffinityCpus() {
  // Machines with more CPUs than cpu_set_t holds need a larger mask.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    const size_t size = CPU_ALLOC_SIZE(cpus);
    const int result = sched_getaffinity(0, size, set);
    const int count = result == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::optional<int> CgroupQuotaCpus(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::optional<int> least;
  std::ifstream groups(root + "/proc/self/cgroup");
  // "0::/user.slice/job" for v2, "4:cpu,cpuacct:/docker/1a2b" for v1.
  for (std::string line; std::getline(groups, line);) {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    if (fields[1].empty()) {
      least = Least(least, LimitOfHierarchy(mount, fields[2], /*v2=*/true));
      continue;
    }
    const std::vector<absl::string_view> controllers =
        absl::StrSplit(fields[1], ',');
    if (std::find(controllers.begin(), controllers.end(), "cpu") !=
        controllers.end()) {
      // Mounted by its list of controllers; distributions link cpu to it.
      for (const absl::string_view name :
           {fields[1], absl::string_view("cpu")}) {
        least = Least(least, LimitOfHierarchy(absl::StrCat(mount, "/", name),
                                              fields[2], /*v2=*/false));
      }
    }
  }
  return least;
}

int AllowedCpus() {
  return Least(AffinityCpus(), CgroupQuotaCpus()).value_or(1);
}

}  // namespace millrace
