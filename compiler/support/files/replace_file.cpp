// Replacement of an existing file without a partially written state. Links and permissions are preserved.

#include "compiler/support/files/replace_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "compiler/support/files/file.h"
#include "fmt/core.h"

namespace nnefc {
namespace {

ErrorOr<Success> WriteOver(const std::string& path, std::string_view content) {
  const auto failed = [&] {
    return SystemError{fmt::format("cannot write `{}`: {}", path, SystemErrorText(errno))};
  };
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  if (file == nullptr) return failed();
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size() &&
                       std::fflush(file) == 0 &&
                       ::ftruncate(::fileno(file), static_cast<off_t>(content.size())) == 0;
  const SystemError error = written ? SystemError{} : failed();
  if (std::fclose(file) != 0 && written) return failed();
  if (!written) return error;
  return Success{};
}

}  // namespace

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
  // Renaming would bypass the write protection.
  if ((status.st_mode & 0222) == 0 || ::access(target.c_str(), W_OK) != 0)
    return SystemError{fmt::format("cannot write `{}`: it is read-only", path)};
  // After a rename the other hard links would still refer to the old content.
  if (status.st_nlink > 1) return WriteOver(target, content);
  auto file = OutputFile::Create(target);
  if (!file) return file.error();
  if (auto written = file->Write(content); !written) return written;
  if (::chmod(file->temporary_path().c_str(), status.st_mode & 07777) != 0) return failed();
  return file->Commit();
}

}  // namespace nnefc
