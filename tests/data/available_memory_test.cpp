// The memory that a process can still get, from system files as they are on several kinds of machines.

#include "support/available_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>

namespace distal::core {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMiB = 1 << 20;

// A folder that stands for the root of the file system.
class AvailableMemory : public testing::Test {
 protected:
  AvailableMemory() : root_(fs::temp_directory_path() / ("distal-memory-" + std::to_string(getpid()))) {}
  ~AvailableMemory() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  void machine_has_mib(int64_t mib) const {
    write("proc/meminfo",
          "MemTotal:  99999999 kB\nMemFree:  7 kB\nMemAvailable:  " + std::to_string(1024 * mib) + " kB\n");
  }
  void group(const std::string& folder, const std::string& limit, int64_t used, int64_t file_pages) const {
    write(folder + "/memory.max", limit + "\n");
    write(folder + "/memory.current", std::to_string(used) + "\n");
    write(folder + "/memory.stat", "anon 5\ninactive_file " + std::to_string(file_pages / 4) + "\nactive_file " +
                                       std::to_string(file_pages - file_pages / 4) + "\n");
  }
  int64_t left() const { return available_memory(root_); }

 private:
  fs::path root_;
};

TEST_F(AvailableMemory, IsThatOfTheMachine) {
  EXPECT_EQ(left(), std::numeric_limits<int64_t>::max());  // no file says anything
  machine_has_mib(700);
  EXPECT_EQ(left(), 700 * kMiB);
}

TEST_F(AvailableMemory, IsNoMoreThanAJobMayHave) {
  machine_has_mib(700);
  write("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  group("sys/fs/cgroup/slurm/job_7/step_0", "max", 50 * kMiB, 0);
  EXPECT_EQ(left(), 700 * kMiB);
  group("sys/fs/cgroup/slurm/job_7/step_0", std::to_string(300 * kMiB), 100 * kMiB, 0);
  EXPECT_EQ(left(), 200 * kMiB);
  // Cached pages of files can be evicted, so they count as available.
  group("sys/fs/cgroup/slurm/job_7/step_0", std::to_string(300 * kMiB), 100 * kMiB, 40 * kMiB);
  EXPECT_EQ(left(), 240 * kMiB);
  // A parent group has a limit too.
  group("sys/fs/cgroup/slurm", std::to_string(150 * kMiB), 140 * kMiB, 0);
  EXPECT_EQ(left(), 10 * kMiB);
  group("sys/fs/cgroup/slurm", std::to_string(150 * kMiB), 160 * kMiB, 0);
  EXPECT_EQ(left(), 0);
}

// A container sees its own control group as the root.
TEST_F(AvailableMemory, IsNoMoreThanAContainerMayHave) {
  machine_has_mib(700);
  write("proc/self/cgroup", "0::/\n");
  group("sys/fs/cgroup", std::to_string(64 * kMiB), 4 * kMiB, 0);
  EXPECT_EQ(left(), 60 * kMiB);
}

TEST_F(AvailableMemory, KnowsTheFirstVersionOfControlGroups) {
  machine_has_mib(700);
  write("proc/self/cgroup", "9:cpuset:/other\n4:memory:/docker/abc\n0::/\n");
  std::string folder = "sys/fs/cgroup/memory/docker/abc/";
  write(folder + "memory.limit_in_bytes", "9223372036854771712\n");
  write(folder + "memory.usage_in_bytes", std::to_string(10 * kMiB));
  EXPECT_EQ(left(), 700 * kMiB);
  write(folder + "memory.limit_in_bytes", std::to_string(100 * kMiB));
  write(folder + "memory.stat", "inactive_file 1\ntotal_inactive_file " + std::to_string(4 * kMiB) + "\n");
  EXPECT_EQ(left(), 94 * kMiB);
}

}  // namespace
}  // namespace distal::core
