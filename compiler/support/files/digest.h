#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace nnefc {

// A 128-bit content hash. Different contents collide with a probability of about 2^-64. It is not
// cryptographic: collisions can be constructed on purpose.
struct Digest {
  uint64_t low = 0;
  uint64_t high = 0;

  friend auto operator<=>(const Digest&, const Digest&) = default;
};

// Returns 32 hexadecimal digits.
std::string ToHex(const Digest& digest);

// Hashes `bytes` at about memory bandwidth.
Digest DigestOf(std::span<const std::byte> bytes);

// A digest of several fields, sensitive to the bytes and the order of each.
class FieldDigest {
 public:
  // Add a number (its bytes in memory), a text (its length, then its bytes), or a digest. Return *this.
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
  // Returns the digest of the fields so far.
  Digest Finish() const { return DigestOf(std::as_bytes(std::span(bytes_))); }

 private:
  FieldDigest& AddBytes(std::span<const std::byte> bytes) {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return *this;
  }

  std::string bytes_;
};

}  // namespace nnefc
