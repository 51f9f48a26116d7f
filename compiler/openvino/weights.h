#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/support/file.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::openvino {

// `net.xml` -> `net.bin`.
std::string WeightsPath(const std::string& xml_path);

// A constant at its place in what would be the .bin file.
struct PlacedConstant {
  uint64_t offset = 0;
  TensorValue value;
};

// Appends constants to a .bin file, equal bytes once; where that is null, keeps
// where they would be.
class WeightsWriter {
 public:
  explicit WeightsWriter(OutputFile* file) : file_(file) {}

  // Returns the offset of the value's bytes, which must stay alive until Finish.
  uint64_t Add(const TensorValue& value);
  // Tells the first failure of the file.
  ErrorOr<Success> Finish() const;
  // The constants that are not written, and the size of the file that they would fill.
  std::vector<PlacedConstant> TakePlaced() { return std::move(placed_); }
  uint64_t size() const { return size_; }

 private:
  struct Blob {
    uint64_t offset;
    std::span<const std::byte> bytes;
    std::optional<size_t> hash;  // of all bytes, once another blob looks like it
  };

  OutputFile* file_;
  uint64_t size_ = 0;
  std::unordered_multimap<size_t, Blob> blobs_;  // by size and ends
  std::vector<PlacedConstant> placed_;
  std::optional<SystemError> error_;
};

}  // namespace nnefc::openvino
