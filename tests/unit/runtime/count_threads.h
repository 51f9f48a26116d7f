#pragma once

#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

namespace nnefc::runtime {

// Counts the threads of a process that has one so far, such as a child of fork, without those of the thread
// sanitizer.
class ThreadCounter {
 public:
  // Starts a thread and joins it, because the sanitizer starts one of its own with the first thread of a
  // process, and none or another one after fork. A joined thread may exist for a moment.
  ThreadCounter() {
    pid_t joined = 0;
    std::thread([&] { joined = gettid(); }).join();
    while (std::filesystem::exists("/proc/self/task/" + std::to_string(joined))) std::this_thread::yield();
    sanitizer_threads_ = CountAll() - 1;
  }

  [[nodiscard]] int Count() const { return CountAll() - sanitizer_threads_; }

 private:
  static int CountAll() {
    using Entries = std::filesystem::directory_iterator;
    return static_cast<int>(std::distance(Entries("/proc/self/task"), Entries()));
  }

  int sanitizer_threads_ = 0;
};

}  // namespace nnefc::runtime
