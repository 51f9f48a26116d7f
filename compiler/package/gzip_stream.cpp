#include "compiler/package/gzip_stream.h"

#include <algorithm>

#include "compiler/support/check.h"

namespace nnefc {
namespace {

constexpr size_t kBlock = size_t{1} << 18;
constexpr size_t kMaxInput = size_t{1} << 30;  // zlib counts in 32 bits

}  // namespace

bool IsGzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

GzipStream::GzipStream(std::span<const std::byte> packed) : rest_(packed), block_(kBlock) {
  constexpr int kGzipOnly = 16;
  NNEFC_CHECK(inflateInit2(&stream_, kGzipOnly + MAX_WBITS) == Z_OK);
}

GzipStream::~GzipStream() {
  inflateEnd(&stream_);
}

std::optional<std::span<const std::byte>> GzipStream::Next() {
  stream_.next_out = reinterpret_cast<Bytef*>(block_.data());
  stream_.avail_out = static_cast<uInt>(block_.size());
  while (!at_end_ && stream_.avail_out > 0) {
    if (stream_.avail_in == 0) {
      size_t size = std::min(rest_.size(), kMaxInput);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest_.data()));
      stream_.avail_in = static_cast<uInt>(size);
      rest_ = rest_.subspan(size);
    }
    int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      // Another member may follow; anything else behind the last is padding.
      std::span<const std::byte> next(reinterpret_cast<const std::byte*>(stream_.next_in),
                                      stream_.avail_in + rest_.size());
      at_end_ = !IsGzip(next);
      if (!at_end_) NNEFC_CHECK(inflateReset(&stream_) == Z_OK);
      continue;
    }
    if (status == Z_OK) continue;
    bool truncated = status == Z_BUF_ERROR && stream_.avail_in == 0 && rest_.empty();
    error_ = truncated                ? "the gzip stream is truncated"
             : stream_.msg != nullptr ? stream_.msg
                                      : "bad gzip stream";
    return std::nullopt;
  }
  return std::span<const std::byte>(block_).first(block_.size() - stream_.avail_out);
}

}  // namespace nnefc
