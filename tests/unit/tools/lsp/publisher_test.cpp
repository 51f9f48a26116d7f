// The time of diagnostics after changes, and the findings that a cursor hides.
#include "tools/lsp/publisher.h"

#include "gtest/gtest.h"

namespace nnefc::lsp {
namespace {

using std::chrono::milliseconds;

language::Finding FindingAt(uint32_t begin, uint32_t end) {
  language::Finding finding{};
  finding.range = {begin, end, {}, {}};
  return finding;
}

// Returns whether a finding with a range is shown while the cursor is at an offset of a text.
bool IsShown(uint32_t begin, uint32_t end, std::string_view text, uint32_t cursor) {
  return WithoutUnfinished({FindingAt(begin, end)}, text, cursor, /*has_semicolons=*/true).size() == 1;
}

TEST(Unfinished, FindingsAtTheStatementAreHidden) {
  const std::string_view text = "x = 1;y = rel  # note\n z;";
  const uint32_t cursor = 13;  // after `rel`
  EXPECT_FALSE(IsShown(10, 13, text, cursor));
  EXPECT_FALSE(IsShown(6, 7, text, cursor));    // the statement's first token
  EXPECT_FALSE(IsShown(4, 6, text, cursor));    // ends where it begins
  EXPECT_TRUE(IsShown(4, 5, text, cursor));     // before it
  EXPECT_FALSE(IsShown(13, 14, text, cursor));  // after the word
  EXPECT_FALSE(IsShown(23, 24, text, cursor));  // the next token
  EXPECT_TRUE(IsShown(24, 25, text, cursor));   // the token after that
  // In the middle of the word its rest belongs to it.
  EXPECT_FALSE(IsShown(12, 13, text, 11));
  EXPECT_FALSE(IsShown(23, 24, text, 11));
  // After the semicolon the statement is finished.
  EXPECT_TRUE(IsShown(0, 5, text, 6));
}

TEST(Unfinished, ACursorPastTheTextIsItsEnd) {
  EXPECT_FALSE(IsShown(3, 3, "abc", 99));
  EXPECT_FALSE(IsShown(0, 0, "", 0));
}

constexpr char kUri[] = "file:///net.nnef";
constexpr char kText[] =
    "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    y = relu(x);\n}\n";

class PublisherTest : public testing::Test {
 protected:
  PublisherTest() {
    EXPECT_TRUE(workspace_.Open(kUri, 1, kText));
    publisher_.delays() = {.change = milliseconds(100), .word = milliseconds(1000)};
  }
  // Returns the numbers of diagnostics that are sent at a time.
  std::vector<size_t> SentAt(int time) {
    std::vector<size_t> sent;
    publisher_.Run(workspace_, start_ + milliseconds(time),
                   [&](const Json& message) { sent.push_back(message["params"]["diagnostics"].size()); });
    return sent;
  }
  void Replace(std::string_view old_text, std::string_view new_text) {
    std::string text(workspace_.service().Text(kUri));
    text.replace(text.find(old_text), old_text.size(), new_text);
    EXPECT_TRUE(workspace_.Change(kUri, ++version_, {{{}, text}}));
  }

  Workspace workspace_{{}};
  Publisher publisher_;
  Clock::time_point start_ = Clock::time_point(std::chrono::hours(1));
  int64_t version_ = 1;
};

TEST_F(PublisherTest, DiagnosticsFollowAPause) {
  EXPECT_FALSE(publisher_.deadline());
  publisher_.Changed(kUri, 0, start_);
  EXPECT_EQ(publisher_.deadline(), start_ + milliseconds(100));
  EXPECT_TRUE(SentAt(99).empty());
  // Another keystroke starts the pause again.
  publisher_.Changed(kUri, 0, start_ + milliseconds(99));
  EXPECT_TRUE(SentAt(198).empty());
  EXPECT_EQ(SentAt(199), std::vector<size_t>{0});
  EXPECT_FALSE(publisher_.deadline());
}

TEST_F(PublisherTest, AnUnfinishedWordIsReportedLater) {
  Replace("relu(x)", "rel(x)");
  const auto cursor = static_cast<uint32_t>(workspace_.service().Text(kUri).find("rel(") + 3);
  publisher_.Changed(kUri, cursor, start_);
  EXPECT_EQ(SentAt(100), std::vector<size_t>{0});
  EXPECT_TRUE(SentAt(1099).empty());
  EXPECT_EQ(SentAt(1100), std::vector<size_t>{1});
  EXPECT_FALSE(publisher_.deadline());
  // With the cursor elsewhere it is reported at once, and when the text is saved.
  publisher_.Changed(kUri, 0, start_);
  EXPECT_EQ(SentAt(100), std::vector<size_t>{1});
  publisher_.Changed(kUri, cursor, start_);
  publisher_.Opened(kUri, start_);
  EXPECT_EQ(SentAt(0), std::vector<size_t>{1});
}

TEST_F(PublisherTest, ClosedTextsHaveNoDiagnostics) {
  publisher_.Changed(kUri, 0, start_);
  size_t sent = 0;
  publisher_.Closed(kUri, [&](const Json& message) {
    ++sent;
    EXPECT_TRUE(message["params"]["diagnostics"].empty());
  });
  EXPECT_EQ(sent, 1u);
  EXPECT_FALSE(publisher_.deadline());
}

TEST(Uris, PathsAreEncoded) {
  EXPECT_EQ(UriOf("/a b/\xC3\xA9%.nnef"), "file:///a%20b/%C3%A9%25.nnef");
  EXPECT_EQ(PathOf("file:///a%20b/%C3%A9%25.nnef"), "/a b/\xC3\xA9%.nnef");
  EXPECT_EQ(PathOf("file://localhost/a"), "/a");
  EXPECT_EQ(PathOf("file:///a%2"), "/a%2");
  EXPECT_EQ(PathOf("file:///a%zz"), "/a%zz");
  EXPECT_FALSE(PathOf("file://host/a"));
  EXPECT_FALSE(PathOf("file:///a%00b"));
  EXPECT_FALSE(PathOf("untitled:1"));
}

}  // namespace
}  // namespace nnefc::lsp
