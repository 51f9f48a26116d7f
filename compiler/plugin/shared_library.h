#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "compiler/support/error_or.h"

namespace nnefc::plugin {

// Why a file is no shared library that can be loaded.
struct [[nodiscard]] LoadError {
  std::string message;
};

// The text that a plug-in was built for, read from the bytes of its file without running
// any of it; an error if they are no plug-in for this machine.
ErrorOr<std::string, LoadError> ReadInterface(std::span<const std::byte> file);

// A shared library; unloaded when the object is gone.
class SharedLibrary {
 public:
  // Runs the initializers of the library.
  static ErrorOr<std::shared_ptr<const SharedLibrary>, LoadError> Load(const std::string& path);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  // Null if there is none of that name.
  void* Find(const char* symbol) const;

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}

  void* handle_;
};

}  // namespace nnefc::plugin
