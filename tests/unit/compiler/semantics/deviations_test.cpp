// Deviations of a document: each rule is reported once, at its first location.

#include "compiler/semantics/deviations.h"

#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

constexpr Rule kFirst{"lenient.first", Severity::kWarning, ""};
constexpr Rule kSecond{"lenient.second", Severity::kWarning, ""};

SourceRange At(uint32_t begin) {
  return {FileId(0), begin, begin + 1};
}

TEST(Deviations, AreToldOnceForEachRule) {
  Deviations deviations;
  deviations.Note(kFirst, At(30), "third");
  deviations.Note(kFirst, At(10), "first");
  deviations.Note(kSecond, At(20), "other");
  deviations.Note(kFirst, At(20), "second");
  Emitter emitter;
  deviations.Report(emitter);
  ASSERT_EQ(emitter.diagnostics().size(), 2u);
  EXPECT_EQ(emitter.diagnostics()[0].message, "first (the first of 3 places)");
  EXPECT_EQ(emitter.diagnostics()[0].range, At(10));
  EXPECT_EQ(emitter.diagnostics()[1].message, "other");
  EXPECT_FALSE(emitter.has_errors());
}

TEST(Deviations, CountAPlaceOnce) {
  Deviations deviations;
  for (int i = 0; i < 3; ++i) deviations.Note(kFirst, At(5), "same");
  Emitter emitter;
  deviations.Report(emitter);
  ASSERT_EQ(emitter.diagnostics().size(), 1u);
  EXPECT_EQ(emitter.diagnostics()[0].message, "same");
}

TEST(Deviations, OfNoneNothingIsTold) {
  Emitter emitter;
  Deviations().Report(emitter);
  EXPECT_TRUE(emitter.diagnostics().empty());
}

}  // namespace
}  // namespace nnefc::semantics
