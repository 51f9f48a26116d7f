// Folders that appear only when complete.

#include "tools/nnefc/output/output_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "compiler/package/model_folder.h"
#include "compiler/support/files/file.h"
#include "compiler/support/files/temporary_files.h"
#include "fmt/core.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {
namespace {

namespace fs = std::filesystem;

fs::perms CreationMask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return fs::perms(mask);
}

bool IsModelFile(const fs::path& path) {
  return path.filename() == "graph.nnef" || path.filename() == "graph.quant" || path.extension() == ".dat";
}

}  // namespace

OutputFolder::OutputFolder(std::string path, Existing existing) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  std::error_code error;
  // A link is resolved, so that its target folder is replaced. The current folder is renamed by its real
  // name.
  const fs::path last = fs::path(path_).filename();
  const bool is_indirect = fs::is_symlink(path_, error) || last == "." || last == "..";
  if (is_indirect && fs::is_directory(path_, error)) path_ = fs::canonical(path_).string();
  const bool is_free =
      !fs::exists(path_, error) || (fs::is_directory(path_, error) && fs::is_empty(path_, error));
  const bool is_model = fs::is_regular_file(fs::path(path_) / "graph.nnef", error);
  replaces_ = !is_free && is_model && existing == Existing::kReplaceModel;
  if (!is_free && !replaces_) {
    const std::string_view advice =
        is_model && existing == Existing::kRefuseModel ? ", or replace the model in it with `--force`"
        : existing == Existing::kReplaceModel ? "; `--force` replaces only folders with a `graph.nnef`"
                                              : "";
    throw MisuseError(fmt::format("`{}` exists; name a folder that is new or empty{}", path_, advice));
  }
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
  if (auto written = package::ModelFolder(temporary_).WriteText(name, text); !written)
    throw MisuseError(written.error().message);
}

void OutputFolder::CarryOver() const {
  const auto require = [&](const std::error_code& error) {
    if (error) throw MisuseError(fmt::format("cannot write `{}`: {}", path_, error.message()));
  };
  std::error_code error;
  fs::recursive_directory_iterator it(path_, error);
  for (require(error); it != fs::recursive_directory_iterator(); it.increment(error), require(error)) {
    const fs::path target = fs::path(temporary_) / fs::relative(it->path(), path_);
    const bool is_folder = it->is_directory() && !it->is_symlink();
    if (is_folder || IsModelFile(it->path()) || fs::exists(fs::symlink_status(target, error))) continue;
    fs::create_directories(target.parent_path(), error);
    require(error);
    fs::copy(it->path(), target, fs::copy_options::copy_symlinks, error);
    require(error);
  }
}

void OutputFolder::Commit() {
  if (replaces_) CarryOver();
  std::error_code error;
  const auto hold = HoldTemporaryFiles();
  if (replaces_) {
    // Exchanges the two folders atomically.
    if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0)
      throw MisuseError(fmt::format("cannot replace `{}`: {}", path_, SystemErrorText(errno)));
    fs::remove_all(temporary_, error);
    if (error) throw MisuseError(fmt::format("cannot remove `{}`: {}", temporary_, error.message()));
  } else {
    fs::rename(temporary_, path_, error);
    if (error) throw MisuseError(fmt::format("cannot write `{}`: {}", path_, error.message()));
  }
  ForgetTemporaryFile(temporary_);
  temporary_.clear();
}

}  // namespace nnefc::cli
