#include "compiler/support/replace_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "compiler/support/file.h"
#include "fmt/format.h"

namespace nnefc {

ErrorOr<Success> ReplaceFile(const std::string& path, std::string_view content) {
  auto failed = [&] {
    return SystemError{fmt::format("cannot write `{}`: {}", path, SystemErrorText(errno))};
  };
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return failed();
  const std::string target = resolved;
  std::free(resolved);
  struct stat status = {};
  if (::stat(target.c_str(), &status) != 0) return failed();
  // Renaming would get past it.
  if ((status.st_mode & 0222) == 0 || ::access(target.c_str(), W_OK) != 0)
    return SystemError{fmt::format("cannot write `{}`: it is read-only", path)};
  auto file = OutputFile::Create(target);
  if (!file) return file.error();
  if (auto written = file->Write(content); !written) return written;
  if (::chmod(file->temporary_path().c_str(), status.st_mode & 07777) != 0) return failed();
  return file->Commit();
}

}  // namespace nnefc
