// The functions of libarchive, loaded on first use.

#include "compiler/package/containers/libarchive.h"

#include <dlfcn.h>

#include "fmt/core.h"

namespace nnefc::package {
namespace {

constexpr const char* kLibrary = "libnnefc_archive.so";

ErrorOr<const ArchiveFunctions*> Load() {
  // Never unloaded.
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  void* functions = library == nullptr ? nullptr : ::dlsym(library, "nnefc_archive_functions");
  if (functions != nullptr) return static_cast<const ArchiveFunctions*>(functions);
  const char* reason = ::dlerror();
  return SystemError{fmt::format("`{}`, which comes with nnefc and needs libarchive, cannot be loaded: {}",
                                 kLibrary, reason == nullptr ? "the system does not say why" : reason)};
}

}  // namespace

ErrorOr<const ArchiveFunctions*> LoadArchiveFunctions() {
  static const ErrorOr<const ArchiveFunctions*> functions = Load();
  return functions;
}

}  // namespace nnefc::package
