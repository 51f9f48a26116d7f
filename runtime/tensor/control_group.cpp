// The CPU limit of the process's control group.

#include "runtime/tensor/control_group.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace nnefc::runtime::tensor {

namespace {

// Finds "0::/a/b" (cgroup v2) in /proc/self/cgroup. Containers see their own group as "/".
std::filesystem::path GroupOf(const std::filesystem::path& file) {
  constexpr std::string_view kVersion2 = "0::/";
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kVersion2)) return line.substr(kVersion2.size());
  return {};
}

// Parses "150000 100000" (quota and period in microseconds) or "max 100000".
std::optional<double> Bound(const std::filesystem::path& file) {
  std::ifstream text(file);
  double quota = 0;
  double period = 0;
  if (!(text >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

}  // namespace

int ProcessorsOfControlGroup(const std::filesystem::path& root) {
  const std::filesystem::path top = root / "sys/fs/cgroup";
  double least = std::numeric_limits<int>::max();
  std::filesystem::path folder = top;
  const auto heed = [&] { least = std::min(least, Bound(folder / "cpu.max").value_or(least)); };
  heed();
  for (const std::filesystem::path& part : GroupOf(root / "proc/self/cgroup")) {
    folder /= part;
    heed();
  }
  return least < std::numeric_limits<int>::max() ? static_cast<int>(std::ceil(least)) : 0;
}

}  // namespace nnefc::runtime::tensor
