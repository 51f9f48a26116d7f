// Deviations of a document: each rule is reported once, at its first location.

#include "compiler/semantics/deviations.h"

#include <algorithm>
#include <vector>

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

// Ranges with a common start or end are different places; the shortest of those with the first start counts.
TEST(Deviations, OrderOfRanges) {
  const SourceRange ranges[] = {
      {FileId(0), 5, 9}, {FileId(0), 5, 7}, {FileId(0), 7, 9}, {FileId(0), 5, 8}, {FileId(0), 8, 9}};
  std::vector<size_t> order = {0, 1, 2, 3, 4};
  do {
    Deviations deviations;
    for (const size_t i : order) {
      deviations.Note(kFirst, ranges[i], fmt::format("{}", i));
      deviations.Note(kFirst, ranges[order[0]], "again");
    }
    Emitter emitter;
    deviations.Report(emitter);
    ASSERT_EQ(emitter.diagnostics().size(), 1u);
    EXPECT_EQ(emitter.diagnostics()[0].message, "1 (the first of 5 places)");
    EXPECT_EQ(emitter.diagnostics()[0].range, ranges[1]);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Deviations, OfNoneNothingIsTold) {
  Emitter emitter;
  Deviations().Report(emitter);
  EXPECT_TRUE(emitter.diagnostics().empty());
}

}  // namespace
}  // namespace nnefc::semantics
