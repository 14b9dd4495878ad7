#ifndef MILLRACE_BASE_CPU_H_
#define MILLRACE_BASE_CPU_H_

// How many CPUs this process may use, which in containers and batch jobs is far
// below the machine's count.

#include <optional>
#include <string>

namespace millrace {

// CPUs this process may use, at least 1: the lesser of AffinityCpus() and
// CgroupQuotaCpus(). Thread-safe.
int AllowedCpus();

// CPUs in the calling thread's affinity mask, at least 1: what taskset, a
// cpuset cgroup, or mpirun's --bind-to leaves. Thread-safe.
int AffinityCpus();

// CPUs by the bandwidth limits of this process's control group and of all
// groups above it (v2's cpu.max, v1's cpu.cfs_quota_us), the least of them,
// rounded up; nullopt if none is limited.
//
// `root` is prepended to the paths below /proc and /sys, so that tests can make
// them up. Unreadable files count as no limit. Thread-safe.
std::optional<int> CgroupQuotaCpus(const std::string& root = "");

}  // namespace millrace

#endif  // MILLRACE_BASE_CPU_H_
