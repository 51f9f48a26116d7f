#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "compiler/support/file.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::openvino {

// `net.xml` -> `net.bin`.
std::string WeightsPath(const std::string& xml_path);

// Appends constants to a .bin file, equal bytes once.
class WeightsWriter {
 public:
  explicit WeightsWriter(OutputFile* file) : file_(file) {}

  // Returns the offset of the bytes, which must stay alive until Finish.
  uint64_t Add(std::span<const std::byte> bytes);
  // Tells the first failure of the file.
  ErrorOr<Success> Finish() const;

 private:
  struct Blob {
    uint64_t offset;
    std::span<const std::byte> bytes;
  };

  OutputFile* file_;
  uint64_t size_ = 0;
  std::unordered_multimap<size_t, Blob> blobs_;  // by hash
  std::optional<SystemError> error_;
};

}  // namespace nnefc::openvino
