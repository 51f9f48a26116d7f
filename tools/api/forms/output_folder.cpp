// Folders that appear only when complete.

#include "tools/api/forms/output_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "compiler/package/containers/tar_writer.h"
#include "compiler/support/files/file.h"
#include "compiler/support/files/temporary_files.h"
#include "fmt/core.h"

namespace nnefc::api {
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

// A folder that is written under a temporary name. The destructor deletes it unless Commit renamed it.
class OutputFolder {
 public:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}
  ~OutputFolder() {
    std::error_code error;
    if (temporary_.empty()) return;
    fs::remove_all(temporary_, error);
    ForgetTemporaryFile(temporary_);
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::string& temporary() const { return temporary_; }

  // Creates the temporary folder. Returns an error if the path exists and must not be replaced.
  ErrorOr<Success> Make(Existing existing);
  // Creates the temporary folder next to the path.
  ErrorOr<Success> MakeTemporary();
  // Moves the folder to its path.
  ErrorOr<Success> Commit();

 private:
  // Copies the other files of the folder that is replaced.
  ErrorOr<Success> CarryOver() const;
  SystemError CannotWrite(const std::error_code& error) const {
    return {fmt::format("cannot write `{}`: {}", path_, error.message())};
  }

  std::string path_;
  std::string temporary_;
  bool replaces_ = false;
};

ErrorOr<Success> OutputFolder::Make(Existing existing) {
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
    return SystemError{fmt::format("`{}` exists; name a folder that is new or empty{}", path_, advice)};
  }
  return MakeTemporary();
}

ErrorOr<Success> OutputFolder::MakeTemporary() {
  std::error_code error;
  std::string name = path_ + ".XXXXXX";
  const auto hold = HoldTemporaryFiles();
  if (::mkdtemp(name.data()) == nullptr)
    return SystemError{fmt::format("cannot make `{}`: {}", path_, SystemErrorText(errno))};
  temporary_ = std::move(name);
  AddTemporaryFile(temporary_);
  fs::permissions(temporary_, fs::perms(0777) & ~CreationMask(), error);
  return Success{};
}

ErrorOr<Success> OutputFolder::CarryOver() const {
  std::error_code error;
  fs::recursive_directory_iterator it(path_, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    const fs::path target = fs::path(temporary_) / fs::relative(it->path(), path_);
    const bool is_folder = it->is_directory() && !it->is_symlink();
    if (is_folder || IsModelFile(it->path()) || fs::exists(fs::symlink_status(target, error))) continue;
    fs::create_directories(target.parent_path(), error);
    if (error) return CannotWrite(error);
    fs::copy(it->path(), target, fs::copy_options::copy_symlinks, error);
    if (error) return CannotWrite(error);
  }
  if (error) return CannotWrite(error);
  return Success{};
}

ErrorOr<Success> OutputFolder::Commit() {
  if (replaces_) {
    if (auto copied = CarryOver(); !copied) return copied;
  }
  std::error_code error;
  const auto hold = HoldTemporaryFiles();
  if (replaces_) {
    // Exchanges the two folders atomically.
    if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0)
      return SystemError{fmt::format("cannot replace `{}`: {}", path_, SystemErrorText(errno))};
    fs::remove_all(temporary_, error);
    if (error) return SystemError{fmt::format("cannot remove `{}`: {}", temporary_, error.message())};
  } else {
    fs::rename(temporary_, path_, error);
    if (error) return CannotWrite(error);
  }
  ForgetTemporaryFile(temporary_);
  temporary_.clear();
  return Success{};
}

}  // namespace

ErrorOr<bool> WriteFolder(const std::string& path, Existing existing,
                          const std::function<ErrorOr<bool>(const std::string& folder)>& write) {
  OutputFolder folder(path);
  if (auto made = folder.Make(existing); !made) return made.error();
  ErrorOr<bool> written = write(folder.temporary());
  if (!written || !*written) return written;
  if (auto committed = folder.Commit(); !committed) return committed.error();
  return true;
}

ErrorOr<bool> WriteFolderOrArchive(const std::string& path, Existing existing,
                                   const std::function<ErrorOr<bool>(const std::string& folder)>& write) {
  if (!package::IsArchiveName(path)) return WriteFolder(path, existing, write);
  // The files of an archive are in a temporary folder that remains temporary.
  OutputFolder folder(path);
  if (auto made = folder.MakeTemporary(); !made) return made.error();
  const ErrorOr<bool> written = write(folder.temporary());
  if (!written || !*written) return written;
  if (auto packed = package::WriteArchive(folder.temporary(), path); !packed) return packed.error();
  return true;
}

}  // namespace nnefc::api
