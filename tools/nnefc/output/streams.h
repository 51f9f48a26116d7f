#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "fmt/core.h"

namespace nnefc::cli {

// Opens standard streams that the caller has closed, so that no file opened later reuses their descriptors.
// Output to a closed standard error is discarded; writing to a closed standard output fails.
void OpenClosedStreams();

// Returns the content of standard input, read once. Throws MisuseError if it is too large.
const std::string& StandardInput();

// Writes the output of a command to standard output, or to the file of WithOutput. StdoutFailed reports
// failures.
void WriteStdout(std::string_view text);
// Prints diagnostics. A failure must not end the program.
void WriteStderr(std::string_view text);
// Return true if a write to the stream has failed so far.
bool StdoutFailed();
bool StderrFailed();

// Format a text and write it to standard output or standard error.
template <typename... Args>
void Print(fmt::format_string<Args...> format, Args&&... args) {
  WriteStdout(fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void PrintStderr(fmt::format_string<Args...> format, Args&&... args) {
  WriteStderr(fmt::format(format, std::forward<Args>(args)...));
}

// Runs a command whose output goes to the file `path`, created only when complete; to standard output if it
// is empty or "-". Returns the result of `command`. Throws MisuseError if the file cannot be written.
int WithOutput(const std::string& path, const std::function<int()>& command);

}  // namespace nnefc::cli
