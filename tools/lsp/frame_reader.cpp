// Messages of the Language Server Protocol in a stream of bytes.

#include "tools/lsp/frame_reader.h"

#include <algorithm>
#include <charconv>

#include "fmt/format.h"

namespace nnefc::lsp {
namespace {

constexpr std::string_view kLengthName = "content-length";
// A longer message ends the stream's synchronization anyway.
constexpr uint64_t kMaxSkipped = uint64_t{1} << 40;

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace

void FrameReader::Feed(std::string_view bytes) {
  const size_t dropped = static_cast<size_t>(std::min<uint64_t>(skipped_, bytes.size()));
  skipped_ -= dropped;
  bytes.remove_prefix(dropped);
  if (used_ == buffer_.size()) {
    // A long message must not occupy memory for the rest of the session.
    if (buffer_.capacity() > (size_t{1} << 20)) buffer_ = std::string();
    buffer_.clear();
    used_ = 0;
  } else if (used_ > buffer_.size() / 2) {
    buffer_.erase(0, used_);
    used_ = 0;
  }
  buffer_.append(bytes);
}

std::optional<FrameReader::Frame> FrameReader::Next() {
  if (!length_) {
    if (std::optional<Frame> error = ReadHeader()) return error;
    if (!length_) return std::nullopt;
  }
  if (buffer_.size() - used_ < *length_) return std::nullopt;
  Frame frame{buffer_.substr(used_, static_cast<size_t>(*length_)), {}};
  used_ += static_cast<size_t>(*length_);
  length_.reset();
  return frame;
}

std::optional<FrameReader::Frame> FrameReader::ReadHeader() {
  const std::string_view text = std::string_view(buffer_).substr(used_);
  size_t end = text.find("\r\n\r\n");
  size_t separator = 4;
  // Line feeds alone are accepted, too.
  if (const size_t plain = text.find("\n\n"); plain < end) {
    end = plain;
    separator = 2;
  }
  if (std::min(end, text.size()) > kMaxHeader) {
    used_ += std::min(end, text.size());
    return Frame{{}, fmt::format("a header has more than {} bytes", kMaxHeader)};
  }
  if (end == std::string_view::npos) return std::nullopt;
  std::string error = ParseHeader(text.substr(0, end));
  used_ += end + separator;
  if (!error.empty()) return Frame{{}, std::move(error)};
  if (*length_ <= max_content_) return std::nullopt;
  // Skip the content: a part of it may be in the buffer.
  const uint64_t length = *length_;
  const uint64_t available = std::min<uint64_t>(length, buffer_.size() - used_);
  used_ += static_cast<size_t>(available);
  skipped_ = std::min(length - available, kMaxSkipped);
  length_.reset();
  return Frame{{}, fmt::format("a message has {} bytes; at most {} are accepted", length, max_content_)};
}

std::string FrameReader::ParseHeader(std::string_view header) {
  std::optional<uint64_t> length;
  while (!header.empty()) {
    const size_t end = std::min(header.find('\n'), header.size());
    const std::string_view line = Trimmed(header.substr(0, end));
    header.remove_prefix(std::min(end + 1, header.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !EqualsIgnoringCase(Trimmed(line.substr(0, colon)), kLengthName))
      continue;
    const std::string_view value = Trimmed(line.substr(colon + 1));
    uint64_t number = 0;
    const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (value.empty() || error != std::errc() || rest != value.data() + value.size())
      return fmt::format("`Content-Length` is `{}`; expected a number of bytes", value);
    if (length && *length != number) return "a header has two values of `Content-Length`";
    length = number;
  }
  if (!length) return "a header has no `Content-Length`";
  length_ = length;
  return {};
}

}  // namespace nnefc::lsp
