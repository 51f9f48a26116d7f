// Workflow commands of GitHub Actions, for each kind of file.
#include "compiler/support/diagnostics/render_github.h"

#include "compiler/support/context.h"
#include "gtest/gtest.h"

namespace nnefc {
namespace {

constexpr Rule kGithubError{"test.rule", Severity::kError, "R 1"};
constexpr Rule kGithubWarning{"test.warning", Severity::kWarning, "R 1"};

std::string Github(const Context& context) {
  return RenderGithub(context.emitter.diagnostics(), context.sources);
}

TEST(RenderGithub, PropertiesOfEachKindOfFile) {
  Context context;
  const FileId text = context.sources.AddText("a.nnef", "one\ntwo three\n");
  const FileId binary = context.sources.AddOpaque("a.dat", FileKind::kBinary);
  const FileId named = context.sources.AddOpaque("a.tgz", FileKind::kNamed);
  context.emitter.Emit(kGithubError, {text, 4, 7}, "within a line");
  context.emitter.Emit(kGithubWarning, {text, 2, 6}, "lines");
  context.emitter.Emit(kGithubError, {binary, 48, 52}, "wrong magic");
  context.emitter.Emit(kGithubError, {named, 0, 0}, "no graph");
  context.emitter.Emit(kGithubError, SourceRange(), "nowhere");
  EXPECT_EQ(Github(context),
            "::error file=a.nnef,line=2,endLine=2,col=1,endColumn=4,title=test.rule::within a line\n"
            "::warning file=a.nnef,line=1,endLine=2,title=test.warning::lines\n"
            "::error file=a.dat,title=test.rule::at byte 48: wrong magic\n"
            "::error file=a.tgz,title=test.rule::no graph\n"
            "::error title=test.rule::nowhere\n");
}

// Places of notes and edits are in parentheses, those in a file that is not text without a line.
TEST(RenderGithub, NotesAndEdits) {
  Context context;
  const FileId text = context.sources.AddText("a.nnef", "one\ntwo three\n");
  const FileId binary = context.sources.AddOpaque("a.dat", FileKind::kBinary);
  context.emitter.Emit(kGithubError, {text, 4, 7}, "wrong")
      .Fix({text, 4, 7}, "2")
      .Fix({text, 7, 13}, "")
      .Note({text, 8, 13}, "in text")
      .Note({binary, 3, 5}, "in bytes")
      .Note({}, "nowhere");
  EXPECT_EQ(Github(context),
            "::error file=a.nnef,line=2,endLine=2,col=1,endColumn=4,title=test.rule::wrong"
            "%0Afix: `2` (a.nnef:2:1)%0Afix: remove this (a.nnef:2:4)"
            "%0Anote: in text (a.nnef:2:5)%0Anote: in bytes (a.dat)%0Anote: nowhere\n");
}

// `%` and line ends are escaped everywhere, `:` and `,` in properties only.
TEST(RenderGithub, EscapedCharacters) {
  Context context;
  const FileId file = context.sources.AddText("100%,a:b\r\n.nnef", "one\n");
  context.emitter.Emit(kGithubError, {file, 0, 3}, "5% of: a, b\rc\nd");
  EXPECT_EQ(Github(context),
            "::error file=100%25%2Ca%3Ab%0D%0A.nnef,line=1,endLine=1,col=1,endColumn=4,title=test.rule::"
            "5%25 of: a, b%0Dc%0Ad\n");
}

}  // namespace
}  // namespace nnefc
