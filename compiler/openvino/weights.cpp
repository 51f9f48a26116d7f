// The writer of the .bin file of a model. Equal constants are stored once.

#include "compiler/openvino/weights.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <string_view>

namespace nnefc::openvino {
namespace {

size_t HashOf(std::span<const std::byte> bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// Returns a hash of the size and both ends, so that mapped data are not read without need.
size_t LookOf(std::span<const std::byte> bytes) {
  constexpr size_t kEnd = 2048;
  if (bytes.size() <= 2 * kEnd) return HashOf(bytes);
  return HashOf(bytes.first(kEnd)) ^ std::rotl(HashOf(bytes.last(kEnd)), 1) ^ bytes.size();
}

}  // namespace

std::string WeightsPath(const std::string& xml_path) {
  return std::filesystem::path(xml_path).replace_extension(".bin").string();
}

uint64_t WeightsWriter::Add(const TensorValue& value) {
  const std::span<const std::byte> bytes(value.bytes(), value.byte_size());
  if (bytes.empty()) return size_;
  const size_t look = LookOf(bytes);
  const auto [first, last] = blobs_.equal_range(look);
  std::optional<size_t> hash;
  if (first != last) hash = HashOf(bytes);
  for (auto blob = first; blob != last; ++blob) {
    Blob& other = blob->second;
    if (!other.hash) other.hash = HashOf(other.bytes);
    if (other.hash == hash && std::ranges::equal(other.bytes, bytes)) return other.offset;
  }
  const uint64_t offset = size_;
  if (file_ == nullptr) {
    placed_.push_back({offset, value});
  } else if (!error_) {
    if (auto written = file_->Write(bytes); !written) error_ = written.error();
  }
  size_ += bytes.size();
  blobs_.emplace(look, Blob{offset, bytes, hash});
  return offset;
}

ErrorOr<Success> WeightsWriter::Finish() const {
  if (error_) return *error_;
  return Success{};
}

}  // namespace nnefc::openvino
