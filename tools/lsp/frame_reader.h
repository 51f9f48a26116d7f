#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nnefc::lsp {

// The base protocol: messages with the header `Content-Length`, found in a stream of bytes. Any bytes are
// accepted. Memory is bounded by the received bytes and by `max_content`, whatever a header announces.
class FrameReader {
 public:
  static constexpr size_t kMaxHeader = 16384;

  explicit FrameReader(size_t max_content = size_t{512} << 20) : max_content_(max_content) {}

  // Adds received bytes. Their order is that of the stream.
  void Feed(std::string_view bytes);

  // A message, or the reason why its bytes were skipped.
  struct Frame {
    std::string content;
    std::string error;  // empty for a message
  };
  // Returns the next complete message or error; nothing if more bytes are needed.
  std::optional<Frame> Next();

 private:
  std::optional<Frame> ReadHeader();
  // Parses a header; returns the reason if it has no valid length.
  std::string ParseHeader(std::string_view header);

  size_t max_content_;
  std::string buffer_;
  size_t used_ = 0;                 // bytes of the buffer that are consumed
  std::optional<uint64_t> length_;  // of the message whose header was read
  uint64_t skipped_ = 0;            // bytes that remain to be skipped of a message that is too long
};

}  // namespace nnefc::lsp
