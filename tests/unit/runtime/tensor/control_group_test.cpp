#include "runtime/tensor/control_group.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

namespace nnefc::runtime::tensor {
namespace {

// Returns the number of processors that a process detects in a system with these files.
int ProcessorsIn(const std::map<std::string, std::string>& files) {
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "control_group";
  std::filesystem::remove_all(root);
  for (const auto& [name, text] : files) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text << "\n";
  }
  return ProcessorsOfControlGroup(root);
}

TEST(ControlGroupTest, ABoundIsRoundedUp) {
  const std::string file = "sys/fs/cgroup/cpu.max";
  EXPECT_EQ(ProcessorsIn({{file, "100000 100000"}}), 1);
  EXPECT_EQ(ProcessorsIn({{file, "150000 100000"}}), 2);
  EXPECT_EQ(ProcessorsIn({{file, "20000 100000"}}), 1);
  EXPECT_EQ(ProcessorsIn({{file, "400000 50000"}}), 8);
}

TEST(ControlGroupTest, ThereMayBeNone) {
  EXPECT_EQ(ProcessorsIn({}), 0);
  EXPECT_EQ(ProcessorsIn({{"sys/fs/cgroup/cpu.max", "max 100000"}}), 0);
  EXPECT_EQ(ProcessorsIn({{"sys/fs/cgroup/cpu.max", ""}}), 0);
  EXPECT_EQ(ProcessorsIn({{"proc/self/cgroup", "0::/"}}), 0);
  for (const char* wrong :
       {"0 100000", "-200000 100000", "200000 0", "200000 -100000", "-200000 -100000", "200000"})
    EXPECT_EQ(ProcessorsIn({{"sys/fs/cgroup/cpu.max", wrong}}), 0) << wrong;
}

TEST(ControlGroupTest, TheGroupsAroundCountToo) {
  const std::string group = "12:cpu:/old\n0::/a.slice/b.service";
  EXPECT_EQ(ProcessorsIn({{"proc/self/cgroup", group},
                          {"sys/fs/cgroup/a.slice/cpu.max", "max 100000"},
                          {"sys/fs/cgroup/a.slice/b.service/cpu.max", "300000 100000"}}),
            3);
  EXPECT_EQ(ProcessorsIn({{"proc/self/cgroup", group},
                          {"sys/fs/cgroup/a.slice/cpu.max", "200000 100000"},
                          {"sys/fs/cgroup/a.slice/b.service/cpu.max", "300000 100000"}}),
            2);
  EXPECT_EQ(ProcessorsIn({{"proc/self/cgroup", group}, {"sys/fs/cgroup/old/cpu.max", "200000 100000"}}), 0);
}

// Numbers that are not positive bound nothing.
TEST(ControlGroupTest, InvalidBoundsAreIgnored) {
  for (const char* bound : {"0 100000", "-1 100000", "100000 0", "100000 -1", "-1 -1", "0 0"}) {
    EXPECT_EQ(ProcessorsIn({{"sys/fs/cgroup/cpu.max", bound}}), 0) << bound;
    EXPECT_EQ(ProcessorsIn({{"proc/self/cgroup", "0::/a.slice"},
                            {"sys/fs/cgroup/cpu.max", bound},
                            {"sys/fs/cgroup/a.slice/cpu.max", "200000 100000"}}),
              2)
        << bound;
  }
}

}  // namespace
}  // namespace nnefc::runtime::tensor
