#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/support/files/file.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::openvino {

// Returns the path of the .bin file: `net.xml` -> `net.bin`.
std::string WeightsPath(const std::string& xml_path);

// A constant with its offset in a .bin file that is not written.
struct PlacedConstant {
  uint64_t offset = 0;
  TensorValue value;
};

// A writer of constants to a .bin file that writes equal bytes once. If `file` is null, it records the
// constants with their offsets instead.
class WeightsWriter {
 public:
  explicit WeightsWriter(OutputFile* file) : file_(file) {}

  // Returns the offset of the value's bytes. They must stay alive until Finish.
  uint64_t Add(const TensorValue& value);
  // Returns the first write error, if any.
  ErrorOr<Success> Finish() const;
  // The recorded constants, and the size of the file.
  std::vector<PlacedConstant> TakePlaced() { return std::move(placed_); }
  uint64_t size() const { return size_; }

 private:
  struct Blob {
    uint64_t offset;
    std::span<const std::byte> bytes;
    std::optional<size_t> hash;  // hash of all bytes, once another blob has the same key
  };

  OutputFile* file_;
  uint64_t size_ = 0;
  std::unordered_multimap<size_t, Blob> blobs_;  // key: hash of the size and both ends
  std::vector<PlacedConstant> placed_;
  std::optional<SystemError> error_;
};

}  // namespace nnefc::openvino
