#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace nnefc::package {

// A stream of the decompressed blocks of a file.
class UnpackedStream {
 public:
  virtual ~UnpackedStream() = default;
  // Returns the next bytes, valid until the next call; empty at the end; nothing if the file is corrupt (see
  // error()).
  virtual std::optional<std::span<const std::byte>> Next() = 0;
  std::string_view error() const { return error_; }

 protected:
  std::string_view error_;
};

}  // namespace nnefc::package
