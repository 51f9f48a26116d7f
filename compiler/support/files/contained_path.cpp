// Validation of relative paths from documents and archives.

#include "compiler/support/files/contained_path.h"

#include <algorithm>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc {
namespace {

using Parts = llvm::SmallVector<llvm::StringRef, 8>;

// Returns the parts of a path without `.`; nothing if `..` leaves the root.
std::optional<Parts> Resolve(llvm::StringRef path) {
  Parts all, resolved;
  path.split(all, '/', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : all) {
    if (part == ".") continue;
    if (part != "..") {
      resolved.push_back(part);
    } else if (resolved.empty()) {
      return std::nullopt;
    } else {
      resolved.pop_back();
    }
  }
  return resolved;
}

std::string Joined(const Parts& parts) {
  std::string path;
  for (llvm::StringRef part : parts) {
    if (!path.empty()) path += '/';
    path += part;
  }
  return path;
}

}  // namespace

std::optional<std::string> ContainedPath(std::string_view path) {
  if (path.starts_with('/') || path.find('\0') != std::string_view::npos) return std::nullopt;
  Parts parts, resolved;
  llvm::StringRef(path.data(), path.size()).split(parts, '/', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    if (part == "..") return std::nullopt;
    if (part != ".") resolved.push_back(part);
  }
  return Joined(resolved);
}

std::optional<std::string> LabelPath(std::string_view label) {
  if (label.find('\0') != std::string_view::npos) return std::nullopt;
  const std::optional<Parts> parts = Resolve(llvm::StringRef(label.data(), label.size()));
  if (!parts || parts->empty()) return std::nullopt;
  std::string elsewhere(label);
  std::replace(elsewhere.begin(), elsewhere.end(), '\\', '/');
  if (!Resolve(elsewhere)) return std::nullopt;
  return Joined(*parts);
}

}  // namespace nnefc
