#pragma once

#include <filesystem>
#include <iterator>

namespace nnefc::runtime {

// How many threads this process has.
inline int CountThreads() {
  using Entries = std::filesystem::directory_iterator;
  return static_cast<int>(std::distance(Entries("/proc/self/task"), Entries()));
}

}  // namespace nnefc::runtime
