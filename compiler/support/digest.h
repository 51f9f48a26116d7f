#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace nnefc {

// Tells contents apart: of different ones it is the same once in 2^64 times. It is no
// protection from who makes contents for that.
struct Digest {
  uint64_t low = 0;
  uint64_t high = 0;

  friend auto operator<=>(const Digest&, const Digest&) = default;
};

// 32 hexadecimal digits.
std::string ToHex(const Digest& digest);

// As fast as memory is read.
Digest DigestOf(std::span<const std::byte> bytes);

// The digest of several fields, each of which counts by its bytes and its place.
class FieldDigest {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  FieldDigest& Add(T value) {
    return AddBytes(std::as_bytes(std::span(&value, 1)));
  }
  FieldDigest& Add(std::string_view text) {
    Add(text.size());
    return AddBytes(std::as_bytes(std::span(text.data(), text.size())));
  }
  FieldDigest& Add(const Digest& digest) { return Add(digest.low).Add(digest.high); }
  Digest Finish() const { return DigestOf(std::as_bytes(std::span(bytes_))); }

 private:
  FieldDigest& AddBytes(std::span<const std::byte> bytes) {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return *this;
  }

  std::string bytes_;
};

}  // namespace nnefc
