#include "compiler/openvino/weights.h"

#include <cstring>
#include <filesystem>
#include <string_view>

namespace nnefc::openvino {

std::string WeightsPath(const std::string& xml_path) {
  return std::filesystem::path(xml_path).replace_extension(".bin").string();
}

uint64_t WeightsWriter::Add(const TensorValue& value) {
  const std::span<const std::byte> bytes(value.bytes(), value.byte_size());
  if (bytes.empty()) return size_;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t hash = std::hash<std::string_view>()(text);
  const auto [first, last] = blobs_.equal_range(hash);
  for (auto blob = first; blob != last; ++blob) {
    const std::span<const std::byte> other = blob->second.bytes;
    if (other.size() == bytes.size() && std::memcmp(other.data(), bytes.data(), bytes.size()) == 0) {
      return blob->second.offset;
    }
  }
  const uint64_t offset = size_;
  if (file_ == nullptr) {
    placed_.push_back({offset, value});
  } else if (!error_) {
    if (auto written = file_->Write(bytes); !written) error_ = written.error();
  }
  size_ += bytes.size();
  blobs_.emplace(hash, Blob{offset, bytes});
  return offset;
}

ErrorOr<Success> WeightsWriter::Finish() const {
  if (error_) return *error_;
  return Success{};
}

}  // namespace nnefc::openvino
