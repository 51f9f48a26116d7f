// The writer of a model's files into a folder.

#include "compiler/package/model_folder.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "compiler/package/data_source.h"
#include "compiler/package/members.h"
#include "compiler/package/tensors/dat.h"
#include "compiler/support/files/contained_path.h"
#include "compiler/support/files/file.h"
#include "fmt/core.h"

namespace nnefc::package {
namespace {

namespace fs = std::filesystem;

template <typename... Args>
SystemError Failed(const std::string& path, fmt::format_string<Args...> format, Args&&... args) {
  return SystemError{
      fmt::format("cannot write `{}`: {}", path, fmt::format(format, std::forward<Args>(args)...))};
}

}  // namespace

ErrorOr<std::string> ModelFolder::MakePath(std::string_view inside) const {
  const std::string whole = fmt::format("{}/{}", path_, inside);
  for (size_t slash = inside.find('/');; slash = inside.find('/', slash + 1)) {
    const bool is_file = slash == std::string_view::npos;
    const std::string path = fmt::format("{}/{}", path_, inside.substr(0, slash));
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (status.type() == fs::file_type::not_found) {
      if (is_file) return whole;
      if (fs::create_directory(path, error); error)
        return Failed(whole, "cannot make `{}`: {}", path, SystemErrorText(error.value()));
      continue;
    }
    if (error) return Failed(whole, "{}", SystemErrorText(error.value()));
    if (fs::is_symlink(status))
      return Failed(whole, "`{}` is a symbolic link, which may lead out of the folder; remove it", path);
    if (is_file && fs::is_regular_file(status)) return whole;
    if (is_file || !fs::is_directory(status))
      return Failed(whole, "`{}` is not a {}", path, is_file ? "regular file" : "folder");
  }
}

ErrorOr<Success> ModelFolder::WriteVariable(std::string_view label, const TensorValue& value) const {
  const std::optional<std::string> inside = LabelPath(label);
  if (!inside)
    return Failed(path_, "the label `{}` of a variable names no file in the model's folder",
                  ShownText(label));
  const ErrorOr<std::string> path = MakePath(*inside + std::string(kTensorSuffix));
  return path ? WriteDat(*path, value) : path.error();
}

ErrorOr<bool> ModelFolder::RenameVariable(std::string_view label, std::string_view new_label) const {
  const std::optional<std::string> before = LabelPath(label), after = LabelPath(new_label);
  if (!before || !after) return false;
  const fs::path stem = fs::path(path_) / *before;
  const std::string file = stem.filename().string() + std::string(kTensorSuffix);
  std::vector<std::string> suffixes;  // `.dat`, `.dat.int8`
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(stem.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (name == file || name.starts_with(file + "."))
      suffixes.push_back(name.substr(file.size() - kTensorSuffix.size()));
  }
  std::sort(suffixes.begin(), suffixes.end());
  for (const std::string& suffix : suffixes) {
    const ErrorOr<std::string> source = MakePath(*before + suffix), target = MakePath(*after + suffix);
    if (!source) return source.error();
    if (!target) return target.error();
    if (fs::exists(fs::symlink_status(*target, error)))
      return Failed(*target, "it exists, and `{}` would be renamed to it", *source);
    if (fs::rename(*source, *target, error); error)
      return Failed(*target, "cannot rename `{}`: {}", *source, SystemErrorText(error.value()));
  }
  return !suffixes.empty();
}

ErrorOr<Success> ModelFolder::WriteText(std::string_view name, std::string_view text) const {
  const ErrorOr<std::string> path = MakePath(name);
  return path ? WriteFile(*path, text) : path.error();
}

}  // namespace nnefc::package
