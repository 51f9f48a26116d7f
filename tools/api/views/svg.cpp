// Pictures of graphs by Graphviz.

#include "tools/api/views/svg.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "compiler/support/files/file.h"
#include "fmt/format.h"

namespace nnefc::api {
namespace {

constexpr std::string_view kOtherForms =
    "`-o net.html` writes a page that needs no Graphviz, `-o net.dot` the graph in DOT";
// The largest part of a message of `dot` that is shown, in bytes.
constexpr size_t kMaxMessage = 300;

// A file in memory, a standard stream of a child process.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("nnefc", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  // Writes the content from the beginning, and sets the offset to it.
  bool Fill(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = ::write(descriptor_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      text.remove_prefix(static_cast<size_t>(count));
    }
    return ::lseek(descriptor_, 0, SEEK_SET) == 0;
  }
  std::string Content() const {
    const off_t size = std::max<off_t>(0, ::lseek(descriptor_, 0, SEEK_END));
    std::string text(static_cast<size_t>(size), '\0');
    size_t filled = 0;
    while (filled < text.size()) {
      const ssize_t count =
          ::pread(descriptor_, text.data() + filled, text.size() - filled, static_cast<off_t>(filled));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      filled += static_cast<size_t>(count);
    }
    text.resize(filled);
    return text;
  }

 private:
  int descriptor_;
};

// Starts `dot -Tsvg` with these standard streams. Returns 0 or an errno value.
int StartDot(const MemoryFile& input, const MemoryFile& output, const MemoryFile& errors, pid_t& process) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
  // Signals that this program handles in a thread would be blocked in the child.
  sigset_t signals;
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::string words[] = {"dot", "-Tsvg"};
  char* const arguments[] = {words[0].data(), words[1].data(), nullptr};
  const int error = ::posix_spawnp(&process, "dot", &actions, &attributes, arguments, environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Waits for a child process and stores its status. Returns false, after ending it, if it takes too long.
bool WaitFor(pid_t process, std::chrono::milliseconds max_time, int& status) {
  const auto deadline = std::chrono::steady_clock::now() + max_time;
  auto pause = std::chrono::milliseconds(1);
  while (true) {
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process) return true;
    if (ended < 0 && errno != EINTR) {
      // Somebody else waited for it: the output decides.
      status = 0;
      return true;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      ::kill(process, SIGKILL);
      ::waitpid(process, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(20));
  }
}

std::string DescribeEnd(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return fmt::format("failed with exit code {}", WEXITSTATUS(status));
  return "wrote no picture";
}

}  // namespace

ErrorOr<std::string> SvgText(const std::string& dot, std::chrono::milliseconds max_time) {
  const MemoryFile input;
  const MemoryFile output;
  const MemoryFile errors;
  if (input.descriptor() < 0 || output.descriptor() < 0 || errors.descriptor() < 0 || !input.Fill(dot))
    return SystemError{fmt::format("cannot pass the graph to `dot`: {}", SystemErrorText(errno))};
  pid_t process = 0;
  if (const int error = StartDot(input, output, errors, process); error != 0) {
    const std::string reason =
        error == ENOENT ? "it is not installed or not on PATH: install the Debian package `graphviz`"
                        : SystemErrorText(error);
    return SystemError{fmt::format("cannot run Graphviz' `dot`: {}; {}", reason, kOtherForms)};
  }
  // Ends the process even if this program is killed. The processor time of a process with one thread is at
  // most the elapsed time.
  const auto seconds = static_cast<rlim_t>(std::chrono::ceil<std::chrono::seconds>(max_time).count()) + 1;
  const struct rlimit limit = {seconds, seconds};
  ::prlimit(process, RLIMIT_CPU, &limit, nullptr);
  int status = 0;
  if (!WaitFor(process, max_time, status))
    return SystemError{fmt::format("Graphviz' `dot` made no picture within {} seconds; {}",
                                   std::chrono::duration<double>(max_time).count(), kOtherForms)};
  std::string picture = output.Content();
  if (status == 0 && picture.find("</svg>") != std::string::npos) return picture;
  std::string message = errors.Content().substr(0, kMaxMessage);
  while (!message.empty() && message.back() == '\n') message.pop_back();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return SystemError{fmt::format("Graphviz' `dot` {}{}{}; {}", DescribeEnd(status),
                                 message.empty() ? "" : ": ", message, kOtherForms)};
}

}  // namespace nnefc::api
