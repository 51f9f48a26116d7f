#include "compiler/support/diagnostics/apply_fixes.h"

#include "gtest/gtest.h"

namespace nnefc {
namespace {

constexpr Rule kRule{"test.rule", Severity::kError, ""};
const FileId kFile(0);

FixIt Edit(uint32_t begin, uint32_t end, std::string text, FileId file = kFile) {
  return {{file, begin, end}, std::move(text)};
}

Diagnostic Of(std::vector<FixIt> fixes) {
  Diagnostic diagnostic;
  diagnostic.rule = &kRule;
  diagnostic.fixes = std::move(fixes);
  return diagnostic;
}

void Expect(std::vector<Diagnostic> diagnostics, std::string_view text, std::vector<size_t> applied) {
  const AppliedFixes result = ApplyFixes("0123456789", kFile, diagnostics);
  EXPECT_EQ(result.text, text);
  EXPECT_EQ(result.applied, applied);
}

TEST(ApplyFixes, InsertsReplacesAndRemoves) {
  Expect({Of({Edit(5, 5, "a")}), Of({Edit(0, 2, "bcd")}), Of({Edit(8, 10, "")})}, "bcd234a567", {0, 1, 2});
  Expect({Of({Edit(10, 10, ";")})}, "0123456789;", {0});
  Expect({}, "0123456789", {});
  // The same edit of two diagnostics is made once, and both count as applied.
  Expect({Of({Edit(5, 5, "a")}), Of({Edit(5, 5, "a")})}, "01234a56789", {0, 1});
  Expect({Of({Edit(4, 6, "a")}), Of({Edit(4, 6, "a")})}, "0123a6789", {0, 1});
}

TEST(ApplyFixes, KeepsThoseOfADiagnosticTogether) {
  Expect({Of({Edit(3, 5, "x")}), Of({Edit(4, 6, "y"), Edit(8, 8, "z")})}, "012x56789", {0});
  Expect({Of({Edit(1, 3, "x"), Edit(2, 4, "y")}), Of({Edit(2, 4, "z")})}, "01z456789", {1});
}

// Edits of one diagnostic are equal if range and text are.
TEST(ApplyFixes, MakesEqualEditsOfADiagnosticOnce) {
  Expect({Of({Edit(4, 6, "a"), Edit(4, 6, "a")})}, "0123a6789", {0});
  Expect({Of({Edit(5, 5, "a"), Edit(5, 5, "a")})}, "01234a56789", {0});
  Expect({Of({Edit(5, 5, "a"), Edit(5, 5, "b")})}, "01234ab56789", {0});
  Expect({Of({Edit(4, 6, "a"), Edit(6, 6, "a")})}, "0123aa6789", {0});
  Expect({Of({Edit(4, 6, "a"), Edit(4, 4, "a")})}, "0123aa6789", {0});
}

TEST(ApplyFixes, LeavesOverlapsOut) {
  Expect({Of({Edit(2, 6, "x")}), Of({Edit(3, 4, "y")}), Of({Edit(4, 4, "z")})}, "01x6789", {0});
  Expect({Of({Edit(3, 4, "y")}), Of({Edit(2, 6, "x")})}, "012y456789", {0});
  Expect({Of({Edit(4, 4, "y")}), Of({Edit(2, 6, "x")})}, "0123y456789", {0});
  Expect({Of({Edit(2, 4, "y")}), Of({Edit(2, 4, "x")})}, "01y456789", {0});
}

TEST(ApplyFixes, TakesWhatTouches) {
  Expect({Of({Edit(2, 4, "x")}), Of({Edit(4, 6, "y")}), Of({Edit(4, 4, "z")}), Of({Edit(2, 2, "w")})},
         "01wxzy6789", {0, 1, 2, 3});
}

TEST(ApplyFixes, InsertsInOrderAndEqualTextsOnce) {
  Expect({Of({Edit(5, 5, "a")}), Of({Edit(5, 5, "b")}), Of({Edit(5, 5, "a")})}, "01234ab56789", {0, 1, 2});
  Expect({Of({Edit(5, 6, "a")}), Of({Edit(5, 6, "a")})}, "01234a6789", {0, 1});
}

TEST(ApplyFixes, LeavesOtherFilesAndPlacesOut) {
  Expect({Of({Edit(0, 1, "x", FileId(1))}), Of({Edit(9, 11, "y")}), Of({Edit(6, 5, "z")}), Of({})},
         "0123456789", {});
}

}  // namespace
}  // namespace nnefc
