#pragma once

#include <mutex>
#include <string>

namespace nnefc {

// A thread-safe register of temporary files, so that an interrupted program can remove them.

// Registers a file or folder that will be removed, or renamed, before the program ends. Does not return after
// RemoveTemporaryFiles was called.
void AddTemporaryFile(const std::string& path);
// Removes a file from the register, after it was deleted or renamed.
void ForgetTemporaryFile(const std::string& path);
// Locks the register and so delays RemoveTemporaryFiles: for creating and registering a file as one step, and
// for related changes of several files.
[[nodiscard]] std::unique_lock<std::recursive_mutex> HoldTemporaryFiles();
// Removes all registered files. The program must end afterwards.
void RemoveTemporaryFiles();

}  // namespace nnefc
