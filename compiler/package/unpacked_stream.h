#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace nnefc {

// The bytes of a compressed file, block by block as they are unpacked.
class UnpackedStream {
 public:
  virtual ~UnpackedStream() = default;
  // The next bytes, valid until the next call; empty at the end; nothing if
  // the file is damaged, which error() describes.
  virtual std::optional<std::span<const std::byte>> Next() = 0;
  std::string_view error() const { return error_; }

 protected:
  std::string_view error_;
};

}  // namespace nnefc
