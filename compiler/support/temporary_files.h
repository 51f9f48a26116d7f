#pragma once

#include <mutex>
#include <string>

namespace nnefc {

// What stands on disk for a while only, so that an interrupted program can
// remove it. Thread-safe.

// Notes a file or folder that is to be removed, or renamed, before the program
// ends. Never returns once RemoveTemporaryFiles was called.
void AddTemporaryFile(const std::string& path);
void ForgetTemporaryFile(const std::string& path);
// While it is held, RemoveTemporaryFiles waits: for making a file and noting
// it, and for changes of several files that belong together.
[[nodiscard]] std::unique_lock<std::recursive_mutex> HoldTemporaryFiles();
// Removes what is noted; to be followed by the end of the program.
void RemoveTemporaryFiles();

}  // namespace nnefc
