#pragma once

#include <filesystem>
#include <iterator>

namespace nnefc::runtime {

// The number of threads that the thread sanitizer starts in each process.
#if defined(__SANITIZE_THREAD__)
inline constexpr int kSanitizerThreads = 1;
#else
inline constexpr int kSanitizerThreads = 0;
#endif

// Returns the number of threads of this process, without the sanitizer's.
inline int CountThreads() {
  using Entries = std::filesystem::directory_iterator;
  return static_cast<int>(std::distance(Entries("/proc/self/task"), Entries())) - kSanitizerThreads;
}

}  // namespace nnefc::runtime
