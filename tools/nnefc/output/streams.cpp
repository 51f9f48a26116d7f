// Standard streams with error checks.

#include "tools/nnefc/output/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>

#include "compiler/support/files/file.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {
namespace {

// The output of a command if `--output` names a file.
std::optional<std::string> product;
bool stdout_failed = false;
bool stderr_failed = false;

constexpr size_t kMaxInput = size_t{4} << 30;

}  // namespace

const std::string& StandardInput() {
  static const std::string text = [] {
    std::string read;
    char buffer[1 << 16];
    while (const size_t count = std::fread(buffer, 1, sizeof buffer, stdin)) {
      read.append(buffer, count);
      if (read.size() >= kMaxInput) throw MisuseError("standard input is larger than 4 GiB");
    }
    return read;
  }();
  return text;
}

void OpenClosedStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // open() returns the lowest free descriptor, `stream`.
    const int opened = ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (opened > STDERR_FILENO) ::close(opened);
  }
}

void WriteStdout(std::string_view text) {
  if (product) {
    product->append(text);
    return;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) stdout_failed = true;
}

void WriteStderr(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stderr) != text.size()) stderr_failed = true;
}

bool StdoutFailed() {
  return std::fflush(stdout) != 0 || stdout_failed || std::ferror(stdout) != 0;
}

bool StderrFailed() {
  return std::fflush(stderr) != 0 || stderr_failed;
}

int WithOutput(const std::string& path, const std::function<int()>& command) {
  if (path.empty() || path == "-") return command();
  product.emplace();
  int exit_code = kMisuse;
  try {
    exit_code = command();
  } catch (...) {
    product.reset();
    throw;
  }
  const std::string content = std::move(*product);
  product.reset();
  Require(WriteFile(path, content));
  return exit_code;
}

}  // namespace nnefc::cli
