// Block-wise decompression of gzip files with verified checksums.

#include "compiler/package/containers/gzip_stream.h"

#include "compiler/support/check.h"

namespace nnefc::package {
namespace {

constexpr size_t kGzipBlockBytes = size_t{1} << 18;

}  // namespace

GzipStream::GzipStream(PackedBytes packed) : packed_(std::move(packed)), block_(kGzipBlockBytes) {
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
      const std::span<const std::byte> packed = packed_.Next();
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
      stream_.avail_in = static_cast<uInt>(packed.size());
    }
    int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      // Another member may follow; any other bytes after the last one are padding. Blocks are parts of one
      // buffer, so the rest of this block and the next blocks are contiguous.
      std::span<const std::byte> next(reinterpret_cast<const std::byte*>(stream_.next_in),
                                      stream_.avail_in + packed_.rest().size());
      at_end_ = !IsGzip(next);
      if (!at_end_) NNEFC_CHECK(inflateReset(&stream_) == Z_OK);
      continue;
    }
    if (status == Z_OK) continue;
    bool truncated = status == Z_BUF_ERROR && stream_.avail_in == 0 && packed_.rest().empty();
    error_ = truncated                ? "the gzip stream is truncated"
             : stream_.msg != nullptr ? stream_.msg
                                      : "bad gzip stream";
    return std::nullopt;
  }
  return std::span<const std::byte>(block_).first(block_.size() - stream_.avail_out);
}

}  // namespace nnefc::package
