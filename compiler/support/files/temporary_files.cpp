// The register of temporary files, removed if the program is interrupted.

#include "compiler/support/files/temporary_files.h"

#include <filesystem>
#include <mutex>
#include <set>

namespace nnefc {
namespace {

struct TemporaryFiles {
  std::recursive_mutex mutex;
  std::set<std::string> paths;
};

// Never destroyed: the thread that ends the program may outlive main.
TemporaryFiles& Noted() {
  static TemporaryFiles& files = *new TemporaryFiles;
  return files;
}

}  // namespace

void AddTemporaryFile(const std::string& path) {
  const std::lock_guard lock(Noted().mutex);
  Noted().paths.insert(path);
}

void ForgetTemporaryFile(const std::string& path) {
  const std::lock_guard lock(Noted().mutex);
  Noted().paths.erase(path);
}

std::unique_lock<std::recursive_mutex> HoldTemporaryFiles() {
  return std::unique_lock(Noted().mutex);
}

void RemoveTemporaryFiles() {
  Noted().mutex.lock();  // never unlocked: no more files may be created
  std::error_code error;
  for (const std::string& path : Noted().paths) std::filesystem::remove_all(path, error);
}

}  // namespace nnefc
