#include "tools/nnefc/output_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "compiler/support/temporary_files.h"
#include "fmt/format.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {
namespace {

namespace fs = std::filesystem;

fs::perms CreationMask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return fs::perms(mask);
}

}  // namespace

void RequireFolderName(const std::string& path, std::string_view what) {
  const std::string extension = fs::path(path).extension().string();
  for (std::string_view other : {".nnef", ".tar", ".tgz", ".gz", ".zip", ".npz", ".xml"}) {
    if (extension == other) throw MisuseError(fmt::format("cannot write `{}`: {}", path, what));
  }
}

OutputFolder::OutputFolder(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  std::error_code error;
  const bool is_free =
      !fs::exists(path_, error) || (fs::is_directory(path_, error) && fs::is_empty(path_, error));
  if (!is_free) throw MisuseError(fmt::format("`{}` exists; name a folder that is new or empty", path_));
  temporary_ = path_ + ".XXXXXX";
  const auto hold = HoldTemporaryFiles();
  if (::mkdtemp(temporary_.data()) == nullptr)
    throw MisuseError(fmt::format("cannot make `{}`: {}", path_, SystemErrorText(errno)));
  AddTemporaryFile(temporary_);
  fs::permissions(temporary_, fs::perms(0777) & ~CreationMask(), error);
}

OutputFolder::~OutputFolder() {
  std::error_code error;
  if (temporary_.empty()) return;
  fs::remove_all(temporary_, error);
  ForgetTemporaryFile(temporary_);
}

void OutputFolder::Write(std::string_view name, std::string_view text) const {
  if (auto written = WriteFile(fmt::format("{}/{}", temporary_, name), text); !written)
    throw MisuseError(written.error().message);
}

void OutputFolder::Commit() {
  std::error_code error;
  const auto hold = HoldTemporaryFiles();
  fs::rename(temporary_, path_, error);
  if (error) throw MisuseError(fmt::format("cannot write `{}`: {}", path_, error.message()));
  ForgetTemporaryFile(temporary_);
  temporary_.clear();
}

}  // namespace nnefc::cli
