#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "compiler/support/error_or.h"

namespace nnefc::plugin {

// The reason why a file is not a loadable shared library.
struct [[nodiscard]] LoadError {
  std::string message;
};

// Reads the interface that a plug-in was built for from the bytes of its file, without running code. Returns
// an error for files that are not a plug-in for this machine.
ErrorOr<std::string, LoadError> ReadInterface(std::span<const std::byte> file);

// A shared library, unloaded by the destructor.
class SharedLibrary {
 public:
  // Loads the library and runs its initializers.
  static ErrorOr<std::shared_ptr<const SharedLibrary>, LoadError> Load(const std::string& path);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  // Returns the address of a symbol, or null.
  void* Find(const char* symbol) const;

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}

  void* handle_;
};

}  // namespace nnefc::plugin
