// Messages in a stream of bytes, whole and in pieces, and broken headers.
#include "tools/lsp/frame_reader.h"

#include "fmt/format.h"
#include "gtest/gtest.h"

namespace nnefc::lsp {
namespace {

// Returns "content" or "error: .." for each frame of a stream that is fed in pieces of `step` bytes.
std::vector<std::string> Frames(std::string_view stream, size_t step, size_t max_content = 1000) {
  FrameReader reader(max_content);
  std::vector<std::string> frames;
  for (size_t at = 0; at < stream.size(); at += step) {
    reader.Feed(stream.substr(at, step));
    while (auto frame = reader.Next())
      frames.push_back(frame->error.empty() ? frame->content : "error: " + frame->error);
  }
  return frames;
}

class FrameReaderTest : public testing::TestWithParam<size_t> {};

TEST_P(FrameReaderTest, MessagesFollowEachOther) {
  const std::string_view stream =
      "Content-Length: 3\r\n\r\nabcContent-Length: 0\r\n\r\nContent-Type: x\r\ncontent-length:2\r\n\r\n{}"
      "CONTENT-LENGTH : 1\n\nzContent-Length: 9\r\n\r\nunfinish";
  EXPECT_EQ(Frames(stream, GetParam()), (std::vector<std::string>{"abc", "", "{}", "z"}));
}

TEST_P(FrameReaderTest, BrokenHeadersAreSkipped) {
  const std::string_view stream =
      "nothing\r\n\r\nContent-Length: -1\r\n\r\nContent-Length: 1 2\r\n\r\nContent-Length: "
      "1\r\nContent-Length: "
      "2\r\n\r\nContent-Length: 18446744073709551616\r\n\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok";
  EXPECT_EQ(Frames(stream, GetParam()),
            (std::vector<std::string>{
                "error: a header has no `Content-Length`",
                "error: `Content-Length` is `-1`; expected a number of bytes",
                "error: `Content-Length` is `1 2`; expected a number of bytes",
                "error: a header has two values of `Content-Length`",
                "error: `Content-Length` is `18446744073709551616`; expected a number of bytes", "ok"}));
}

TEST_P(FrameReaderTest, LongMessagesAreSkipped) {
  const std::string stream = "Content-Length: 1001\r\n\r\n" + std::string(1001, 'x') +
                             "Content-Length: 1000\r\n\r\n" + std::string(1000, 'y');
  EXPECT_EQ(Frames(stream, GetParam()),
            (std::vector<std::string>{"error: a message has 1001 bytes; at most 1000 are accepted",
                                      std::string(1000, 'y')}));
}

INSTANTIATE_TEST_SUITE_P(Pieces, FrameReaderTest, testing::Values(1, 2, 7, 4096));

TEST(FrameReaderLimits, HeadersHaveAMaximum) {
  const std::string filling(FrameReader::kMaxHeader - 17, 'x');
  const std::string end = "Content-Length: 0\r\n\r\n";
  EXPECT_EQ(Frames(filling.substr(1) + "\n" + end, 4096), std::vector<std::string>{""});
  const std::vector<std::string> frames = Frames(filling + "\n" + end, 4096);
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.front(), "error: a header has more than 16384 bytes");
}

}  // namespace
}  // namespace nnefc::lsp
