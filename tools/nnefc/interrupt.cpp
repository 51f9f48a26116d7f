// Removal of unfinished files when a signal ends the program.

#include "tools/nnefc/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <thread>

#include "compiler/support/files/temporary_files.h"

namespace nnefc::cli {
namespace {

constexpr int kInterruptions[] = {SIGINT, SIGTERM, SIGHUP};

// Returns whether the caller ignores the signal (as with nohup); it then stays ignored.
bool IsIgnored(int signal) {
  struct sigaction action = {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void WaitForInterruption(sigset_t signals) {
  int signal = 0;
  if (::sigwait(&signals, &signal) != 0) return;
  RemoveTemporaryFiles();
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(signal);
}

}  // namespace

void RemoveFilesWhenInterrupted() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int signal : kInterruptions) {
    if (!IsIgnored(signal)) ::sigaddset(&signals, signal);
  }
  // Threads inherit the blocked signal mask; one thread waits for the signals.
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(WaitForInterruption, signals).detach();
}

}  // namespace nnefc::cli
