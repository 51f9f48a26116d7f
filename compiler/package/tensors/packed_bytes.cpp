// Block-wise reading of compressed files with bounded memory.

#include "compiler/package/tensors/packed_bytes.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "compiler/support/files/file.h"

namespace nnefc::package {
namespace {

using namespace std::string_view_literals;

constexpr size_t kPackedBlock = size_t{1} << 20;

constexpr std::string_view kGzip = "\x1f\x8b"sv;
constexpr std::string_view kOtherCompressions[] = {
    "\x1f\x9d"sv,  // compress
    "BZh"sv,       // bzip2
    "\xfd"
    "7zXZ"sv,              // xz
    "\x28\xb5\x2f\xfd"sv,  // zstd
    "\x04\x22\x4d\x18"sv,  // lz4
    "\x5d\x00\x00"sv,      // lzma
};

bool StartsWith(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

}  // namespace

bool IsGzip(std::span<const std::byte> bytes) {
  return StartsWith(bytes, kGzip);
}

bool IsCompressed(std::span<const std::byte> bytes) {
  return IsGzip(bytes) || std::any_of(std::begin(kOtherCompressions), std::end(kOtherCompressions),
                                      [&](std::string_view magic) { return StartsWith(bytes, magic); });
}

std::span<const std::byte> PackedBytes::Next() {
  // Only pages backed by a file can be read again.
  if (bytes_->mapped()) MappedFile::Release({bytes_->data() + kept_, at_ - kept_});
  kept_ = at_;
  const auto block = rest().first(std::min(rest().size(), kPackedBlock));
  at_ += block.size();
  return block;
}

}  // namespace nnefc::package
