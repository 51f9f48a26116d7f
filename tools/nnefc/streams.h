#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "fmt/format.h"

namespace nnefc::cli {

// Opens what the caller closed of the three standard streams, so that no file
// that is opened later takes their place. What is printed to a closed standard
// error is lost on purpose; writing to a closed standard output fails.
void OpenClosedStreams();

// Prints the product of a command: to standard output, or to the file of an
// OutputFileScope. That a write failed is told by StdoutFailed.
void WriteStdout(std::string_view text);
// Prints diagnostics. That they cannot be printed must not end the program.
void WriteStderr(std::string_view text);
bool StdoutFailed();
bool StderrFailed();

template <typename... Args>
void Print(fmt::format_string<Args...> format, Args&&... args) {
  WriteStdout(fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void PrintStderr(fmt::format_string<Args...> format, Args&&... args) {
  WriteStderr(fmt::format(format, std::forward<Args>(args)...));
}

// Runs a command whose product goes to the file `path`, which appears only
// when it is complete; to standard output if that is empty or "-". Returns
// what `command` does; throws MisuseError if the file cannot be written.
int WithOutput(const std::string& path, const std::function<int()>& command);

}  // namespace nnefc::cli
