#include "base/cpu.h"

#include <sched.h>

#include <limits>
#include <optional>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"

namespace millrace {
namespace {

// What a cgroup file system may look like, below a made-up root.
class CgroupQuotaTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& contents) {
    root_.Write(path, contents);
  }
  std::optional<int> Quota() const { return CgroupQuotaCpus(root_.path()); }

 private:
  TempDir root_;
};

TEST_F(CgroupQuotaTest, NoFilesMeanNoLimit) {
  EXPECT_EQ(Quota(), std::nullopt);
}

TEST_F(CgroupQuotaTest, ReadsTheLimitOfAContainer) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(Quota(), 2);
}

TEST_F(CgroupQuotaTest, RoundsUp) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(Quota(), 2);
  Write("sys/fs/cgroup/cpu.max", "1000 100000\n");
  EXPECT_EQ(Quota(), 1);
  Write("sys/fs/cgroup/cpu.max", "200001 100000\n");
  EXPECT_EQ(Quota(), 3);
}

TEST_F(CgroupQuotaTest, MaxMeansNoLimit) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(Quota(), std::nullopt);
}

TEST_F(CgroupQuotaTest, TakesTheLeastOfAllGroupsAbove) {
  Write("proc/self/cgroup", "0::/jobs/job7/step0\n");
  Write("sys/fs/cgroup/jobs/job7/step0/cpu.max", "max 100000\n");
  Write("sys/fs/cgroup/jobs/job7/cpu.max", "400000 100000\n");
  Write("sys/fs/cgroup/jobs/cpu.max", "1600000 100000\n");
  EXPECT_EQ(Quota(), 4);
  Write("sys/fs/cgroup/jobs/cpu.max", "300000 100000\n");
  EXPECT_EQ(Quota(), 3);
  Write("sys/fs/cgroup/jobs/job7/step0/cpu.max", "50000 25000\n");
  EXPECT_EQ(Quota(), 2);
}

// Without a cgroup namespace a container sees the host's path, but its mount
// starts at its own group.
TEST_F(CgroupQuotaTest, ReadsTheMountsOwnLimitWhereThePathIsTheHosts) {
  Write("proc/self/cgroup", "0::/docker/1a2b3c\n");
  Write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(Quota(), 2);
}

TEST_F(CgroupQuotaTest, StaysBelowTheMount) {
  Write("proc/self/cgroup", "0::/../../other\n");
  Write("sys/fs/cgroup/cpu.max", "500000 100000\n");
  Write("sys/other/cpu.max", "100000 100000\n");
  EXPECT_EQ(Quota(), 5);
}

TEST_F(CgroupQuotaTest, ReadsVersion1) {
  Write("proc/self/cgroup",
        "5:memory:/docker/1a2b\n4:cpu,cpuacct:/docker/1a2b\n1:name=x:/\n");
  Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), std::nullopt);
  Write("sys/fs/cgroup/cpu,cpuacct/docker/1a2b/cpu.cfs_quota_us", "600000\n");
  Write("sys/fs/cgroup/cpu,cpuacct/docker/1a2b/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), 6);
}

TEST_F(CgroupQuotaTest, ReadsVersion1MountedAsCpu) {
  Write("proc/self/cgroup", "4:cpu,cpuacct:/\n0::/\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), 3);
}

TEST_F(CgroupQuotaTest, IgnoresWhatItCannotUnderstand) {
  Write("proc/self/cgroup", "\nrubbish\n0::/\n3:cpuset:/a\n");
  Write("sys/fs/cgroup/cpu.max", "lots 100000\n");
  Write("sys/fs/cgroup/cpuset/a/cpu.cfs_quota_us", "100000\n");
  Write("sys/fs/cgroup/cpuset/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), std::nullopt);
  Write("sys/fs/cgroup/cpu.max", "100000 0\n");
  EXPECT_EQ(Quota(), std::nullopt);
  Write("sys/fs/cgroup/cpu.max", "100000\n");
  EXPECT_EQ(Quota(), std::nullopt);
  Write("sys/fs/cgroup/cpu.max", "9223372036854775807 1\n");
  EXPECT_EQ(Quota(), std::numeric_limits<int>::max());
}

TEST(AffinityCpusTest, CountsTheThreadsMask) {
  std::thread([] {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    int first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    EXPECT_EQ(AffinityCpus(), CPU_COUNT(&allowed));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(AffinityCpus(), 1);
    EXPECT_EQ(AllowedCpus(), 1);
  }).join();
}

TEST(AllowedCpusTest, IsWithinAffinityAndQuota) {
  EXPECT_GE(AllowedCpus(), 1);
  EXPECT_LE(AllowedCpus(), AffinityCpus());
  EXPECT_LE(AllowedCpus(), CgroupQuotaCpus().value_or(AllowedCpus()));
}

}  // namespace
}  // namespace millrace
