#include "compiler/driver/fix.h"

#include "compiler/ir/ops/rules.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/package/data_source.h"
#include "gtest/gtest.h"

namespace nnefc::driver {
namespace {

constexpr Rule kTyped = {"test.typed", Severity::kError, ""};
constexpr Rule kMeant = {"test.meant", Severity::kError, ""};
constexpr Rule kDoubtful = {"test.doubtful", Severity::kWarning, ""};

// What is wrong with a word of the document's comment.
struct Mistake {
  std::string word;
  std::string fix = {};  // the replacement of the word's bytes from `fix_begin`, `fix_size` of them
  size_t fix_begin = 0;
  size_t fix_size = std::string::npos;
  // The messages; the first one has the fix.
  std::vector<std::string> messages = {"a mistake"};
  const Rule* rule = &kTyped;
  Applicability applicability = Applicability::kSafe;
};

class FixTest : public ::testing::Test {
 protected:
  // Returns the comment of the document after the fixes of these mistakes.
  std::string Fix(const std::string& comment, const std::vector<Mistake>& mistakes) {
    const std::string head =
        "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n    y = "
        "relu(x);\n}\n#";
    CompileOptions options;
    options.document = head + comment + "\n";
    report_ = FixModel("net.nnef", options, Applicability::kSafe, [&](Compilation& compilation) {
      Context& context = compilation.context();
      const FileId file = compilation.graph_text();
      for (const Mistake& mistake : mistakes)
        EmitAll(mistake, context.sources.Text(file), file, context.emitter);
      if (judge_) judge_(context.sources.Text(file), file, context.emitter);
    });
    if (report_.changes.empty()) return comment;
    const std::string& after = report_.changes.at("net.nnef").after;
    EXPECT_TRUE(after.starts_with(head)) << after;
    return after.substr(head.size(), after.size() - head.size() - 1);
  }

  // Reports each place of the word.
  static void EmitAll(const Mistake& mistake, std::string_view text, FileId file, Emitter& emitter) {
    for (size_t at = text.find(mistake.word); at != std::string_view::npos;
         at = text.find(mistake.word, at + 1)) {
      const Rule* rule = mistake.rule;
      for (const std::string& message : mistake.messages) {
        DiagnosticBuilder builder =
            emitter.Emit(*rule, package::ByteRange(file, at, mistake.word.size()), "{}", message);
        const size_t size = std::min(mistake.fix_size, mistake.word.size() - mistake.fix_begin);
        if (!mistake.fix.empty() && rule == mistake.rule)
          builder.Fix(package::ByteRange(file, at + mistake.fix_begin, size), mistake.fix,
                      mistake.applicability);
        rule = &kMeant;
      }
    }
  }

  // Reports two errors of a text with `ONE` or `TWO`, but not of one with both.
  static void RequireBoth(std::string_view text, FileId file, Emitter& emitter) {
    const bool has_one = text.find("ONE") != std::string_view::npos;
    if (has_one == (text.find("TWO") != std::string_view::npos)) return;
    emitter.Emit(kMeant, package::ByteRange(file, 0, 1), "one without the other");
    emitter.Emit(kMeant, package::ByteRange(file, 1, 1), "this makes it worse");
  }

  std::function<void(std::string_view, FileId, Emitter&)> judge_;  // reports more
  FixReport report_;
};

// Of fixes that fail together, the first half is tried together again: two that only help together do.
TEST_F(FixTest, HalvesAreTriedTogether) {
  judge_ = RequireBoth;
  const std::vector<Mistake> mistakes = {
      {.word = "one", .fix = "ONE"},
      {.word = "two", .fix = "TWO"},
      {.word = "three", .fix = "worst"},
      {.word = "four", .fix = "worst"},
      {.word = "worst", .messages = {"it is worse now", "in all respects"}},
  };
  EXPECT_EQ(Fix(" one two three four", mistakes), " ONE TWO three four");
  EXPECT_EQ(report_.fixed.size(), 2U);
  EXPECT_EQ(report_.refused.size(), 2U);
}

// After a fix of one mistake, the next two are fixed together, no more: a third one would spoil them.
TEST_F(FixTest, TwoAreTriedAfterOne) {
  judge_ = RequireBoth;
  std::vector<Mistake> mistakes = {
      {.word = "zero", .fix = "ZERO"},
      {.word = "one", .fix = "ONE"},
      {.word = "two", .fix = "TWO"},
      {.word = "three", .fix = "worst"},
      {.word = "worst", .messages = {"it is worse now", "in all respects"}},
  };
  EXPECT_EQ(Fix(" zero one two three", mistakes), " ZERO ONE TWO three");
  EXPECT_EQ(report_.fixed.size(), 3U);
  // A chain of fixes is a success as well.
  mistakes[0].fix = "halfway";
  mistakes.push_back({.word = "halfway", .fix = "ZERO", .messages = {"half of a mistake"}});
  EXPECT_EQ(Fix(" zero\n# one two three", mistakes), " ZERO\n# ONE TWO three");
  EXPECT_EQ(report_.fixed.size(), 4U);
}

// A fix that leads to an error that the model does not have yet is refused, even if it settles two others.
TEST_F(FixTest, ErrorsThatTheTextHadAreNotNew) {
  const std::vector<Mistake> mistakes = {
      {.word = "typo", .fix = "wrong", .messages = {"mistyped", "unknown"}},
      {.word = "wrong", .messages = {"this is wrong"}},
  };
  EXPECT_EQ(Fix(" typo", mistakes), " typo");
  EXPECT_EQ(Fix(" wrong typo", mistakes), " wrong wrong");
}

// New errors count within the text that a fix wrote, and in the token that it changed.
TEST_F(FixTest, PlacesOfNewErrors) {
  const auto with_error = [](std::string word) {
    return Mistake{.word = std::move(word), .messages = {"new"}};
  };
  // A fix of the whole word writes `(q z)`.
  for (const auto& [place, is_fixed] : {std::pair("(q z)", false),
                                        {"(q z", false},
                                        {"q z)", false},
                                        {"q z", false},
                                        {"q", false},
                                        {" (q z)", true},
                                        {"(q z),", true},
                                        {" then", true}}) {
    const std::vector<Mistake> mistakes = {
        {.word = "typo", .fix = "(q z)", .messages = {"mistyped", "unknown"}}, with_error(place)};
    EXPECT_EQ(Fix(" # typo, then", mistakes), is_fixed ? " # (q z), then" : " # typo, then") << place;
  }
  // A fix of one letter changes the token around it.
  for (const auto& [place, is_fixed] :
       {std::pair("zqz", false), {"qz", false}, {"zq", false}, {"zqz,", true}, {"# zqz", true}}) {
    const std::vector<Mistake> mistakes = {
        {.word = "zaz", .fix = "q", .fix_begin = 1, .fix_size = 1, .messages = {"mistyped", "unknown"}},
        with_error(place)};
    EXPECT_EQ(Fix(" # zaz, then", mistakes), is_fixed ? " # zqz, then" : " # zaz, then") << place;
  }
}

// Fixes of warnings that lead to as many other warnings improve nothing, alone or together.
TEST_F(FixTest, OtherWarningsAreNoImprovement) {
  const std::vector<Mistake> mistakes = {
      {.word = "odd", .fix = "rare", .rule = &kDoubtful},
      {.word = "rare", .rule = &kDoubtful},
  };
  for (const char* comment : {" odd", " odd odd", " odd odd odd"}) {
    EXPECT_EQ(Fix(comment, mistakes), comment);
    EXPECT_TRUE(report_.fixed.empty());
  }
}

// A chain of fixes that only help together has at most nine: the first one, and eight that follow it.
TEST_F(FixTest, LengthsOfChains) {
  for (const char last : {'b', 'h', 'i', 'j'}) {
    std::vector<Mistake> mistakes;
    for (char letter = 'a'; letter <= last; ++letter) {
      const auto step = [](char of) { return std::string("step-") + of; };
      mistakes.push_back({.word = step(letter),
                          .fix = letter == last ? "done" : step(static_cast<char>(letter + 1)),
                          .messages = {step(letter)}});
    }
    const bool is_short = last <= 'i';
    EXPECT_EQ(Fix(" step-a", mistakes), is_short ? " done" : " step-a") << last;
    EXPECT_EQ(report_.fixed.size(), is_short ? static_cast<size_t>(last - 'a') + 1 : 0) << last;
  }
}

// A chain of fixes that settles errors but ends with another mistake is refused.
TEST_F(FixTest, ChainsThatMislead) {
  std::vector<Mistake> mistakes = {
      {.word = "first", .fix = "second", .messages = {"first mistake", "first doubt"}},
      {.word = "second", .fix = "third", .messages = {"second mistake", "second doubt"}},
  };
  EXPECT_EQ(Fix(" first", mistakes), " third");
  mistakes.push_back({.word = "third", .messages = {"third mistake"}});
  EXPECT_EQ(Fix(" first", mistakes), " first");
}

// Only fixes that are allowed follow in a chain; another mistake of the same text may have one.
TEST_F(FixTest, ChainsOfSafeFixes) {
  std::vector<Mistake> mistakes = {
      {.word = "first", .fix = "second", .messages = {"first mistake"}},
      {.word = "second",
       .fix = "third",
       .messages = {"second mistake"},
       .applicability = Applicability::kUnsafe},
  };
  EXPECT_EQ(Fix(" first", mistakes), " first");
  EXPECT_EQ(report_.refused.size(), 1U);
  mistakes.back().applicability = Applicability::kSafe;
  EXPECT_EQ(Fix(" first", mistakes), " third");
}

// A chain of fixes ends at a text with more errors than the first one, even if a further fix would remove
// them.
TEST_F(FixTest, ChainsThroughWorseTexts) {
  for (const bool is_worse : {false, true}) {
    const std::vector<Mistake> mistakes = {
        {.word = "first", .fix = "second", .messages = {"first mistake", "first doubt"}},
        {.word = "second", .fix = "third", .messages = {"second mistake", "second doubt"}},
    };
    judge_ = [&](std::string_view text, FileId file, Emitter& emitter) {
      const bool is_reported = is_worse && text.find("second") != std::string_view::npos;
      if (is_reported) emitter.Emit(kMeant, package::ByteRange(file, 0, 1), "another mistake");
    };
    EXPECT_EQ(Fix(" first", mistakes), is_worse ? " first" : " third");
  }
}

// A chain ends at a text that cannot be parsed, too, even if it has fewer errors than the first one.
TEST_F(FixTest, ChainsThroughInvalidTexts) {
  for (const std::string separator : {" ", "\n"}) {
    const std::vector<Mistake> mistakes = {
        {.word = " first", .fix = separator + "second", .messages = {"first mistake"}},
        {.word = separator + "second", .fix = " third", .messages = {"second mistake"}},
    };
    judge_ = [](std::string_view text, FileId file, Emitter& emitter) {
      if (text.find("first") == std::string_view::npos) return;
      for (const size_t place : {0, 1, 2}) emitter.Emit(kMeant, package::ByteRange(file, place, 1), "more");
    };
    EXPECT_EQ(Fix(" first", mistakes), separator == "\n" ? " first" : " third");
  }
}

// A fix whose edits overlap changes nothing: it is not checked, and it ends a chain.
TEST_F(FixTest, EditsThatOverlap) {
  const std::vector<Mistake> mistakes = {
      {.word = "first", .fix = "second", .messages = {"first mistake", "first doubt"}}};
  int checks = 0;
  judge_ = [&](std::string_view text, FileId file, Emitter& emitter) {
    ++checks;
    for (size_t at = text.find("clash"); at != std::string_view::npos; at = text.find("clash", at + 1)) {
      emitter.Emit(kTyped, package::ByteRange(file, at, 5), "a clash")
          .Fix(package::ByteRange(file, at, 3), "x")
          .Fix(package::ByteRange(file, at + 1, 3), "y");
    }
    const size_t second = text.find("second");
    if (second == std::string_view::npos) return;
    emitter.Emit(kMeant, package::ByteRange(file, second, 6), "second mistake")
        .Fix(package::ByteRange(file, second, 3), "x")
        .Fix(package::ByteRange(file, second + 1, 3), "y");
    emitter.Emit(kTyped, package::ByteRange(file, second, 6), "another")
        .Fix(package::ByteRange(file, second, 6), "done");
  };
  EXPECT_EQ(Fix(" clash clash clash", mistakes), " clash clash clash");
  EXPECT_EQ(checks, 1);
  EXPECT_TRUE(report_.refused.empty());
  EXPECT_EQ(Fix(" first", mistakes), " first");
}

// A model is checked at most 100 times, or 8 times if it is large. Diagnostics that remain are counted.
TEST_F(FixTest, NumberOfChecks) {
  // Returns the number of diagnostics whose fix was not tried alone.
  const auto untried = [&](int num_mistakes, size_t padding) {
    std::vector<Mistake> mistakes;
    std::string comment(padding, ' ');
    for (int i = 0; i < num_mistakes; ++i) {
      mistakes.push_back({.word = fmt::format("w{}.", i), .fix = "w.", .messages = {fmt::format("{}", i)}});
      comment += "\n# " + mistakes.back().word;
    }
    mistakes.push_back({.word = "w."});
    EXPECT_EQ(Fix(comment, mistakes), comment);
    return report_.untried;
  };
  // 1 check finds 128 mistakes, 7 try 128, 64, .. and 2 fixes at once, 92 one.
  EXPECT_EQ(untried(128, 0), 128U - 92);
  // 1 check finds 8 mistakes, 3 try 8, 4 and 2 fixes at once, 4 one.
  EXPECT_EQ(untried(8, size_t{4} << 20), 4U);
  EXPECT_EQ(untried(8, 0), 0U);
}

// After 8 checks, others follow while the texts and diagnostics of all checks make less than 16 MiB: bytes of
// text, and 64 for each diagnostic.
TEST_F(FixTest, WorkOfChecks) {
  constexpr size_t kMistakes = 16;
  std::vector<Mistake> mistakes;
  std::string lines;
  for (size_t i = 0; i < kMistakes; ++i) {
    mistakes.push_back(
        {.word = fmt::format("w{}.", i), .fix = fmt::format("x{}.", i), .messages = {fmt::format("{}", i)}});
    mistakes.push_back({.word = fmt::format("x{}.", i)});
    lines += "\n# " + mistakes[2 * i].word;
  }
  size_t size = 0;
  judge_ = [&](std::string_view text, FileId, Emitter&) { size = text.size(); };
  EXPECT_EQ(Fix(lines, mistakes), lines);
  // 1 check finds 16 mistakes, 4 try 16, 8, 4 and 2 fixes at once, 3 or 4 one.
  const size_t padding = (size_t{2} << 20) - 64 * kMistakes - size;
  for (const size_t missing : {1, 0}) {
    const std::string comment = std::string(padding - missing, ' ') + lines;
    EXPECT_EQ(Fix(comment, mistakes), comment);
    EXPECT_EQ(report_.untried, kMistakes - 3 - missing);
    EXPECT_EQ(size, (size_t{2} << 20) - 64 * kMistakes - missing);
  }
}

// New errors within a fix are seen if another fix changed a label.
TEST_F(FixTest, ChangedLabelsHideOnlyMissingData) {
  for (const bool is_wrong : {false, true}) {
    CompileOptions options;
    options.document =
        "version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n"
        "    v = variable(shape = [2, 3], label = 'a:b');\n    y = add(x, v);\n}\n# typo\n";
    std::vector<Mistake> mistakes = {{.word = "typo", .fix = "wrong", .messages = {"mistyped", "unknown"}}};
    if (is_wrong) mistakes.push_back({.word = "wrong", .messages = {"this is wrong"}});
    report_ = FixModel("net.nnef", options, Applicability::kSafe, [&](Compilation& compilation) {
      Context& context = compilation.context();
      const FileId file = compilation.graph_text();
      for (const Mistake& mistake : mistakes)
        EmitAll(mistake, context.sources.Text(file), file, context.emitter);
    });
    ASSERT_EQ(report_.changes.size(), 1U);
    const std::string& after = report_.changes.begin()->second.after;
    EXPECT_TRUE(after.ends_with(is_wrong ? "# typo\n" : "# wrong\n")) << after;
    EXPECT_NE(after.find("label = 'a_b'"), std::string::npos) << after;
    EXPECT_EQ(report_.stored_labels.size(), 1U);
  }
}

// A new error in another file is none of a fix, even at the same bytes.
TEST_F(FixTest, ErrorsOfOtherFiles) {
  for (const bool is_same : {false, true}) {
    CompileOptions options;
    options.document =
        "version 1.0;\n# typo\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n"
        "    y = relu(x);\n}\n";
    options.quantization = {.name = "net.quant", .text = "# nothing is quantized here\n"};
    const Mistake mistake{.word = "typo", .fix = "wrong", .messages = {"mistyped", "unknown"}};
    report_ = FixModel("net.nnef", options, Applicability::kSafe, [&](Compilation& compilation) {
      Context& context = compilation.context();
      const FileId file = compilation.graph_text();
      EmitAll(mistake, context.sources.Text(file), file, context.emitter);
      const size_t at = context.sources.Text(file).find("wrong");
      if (at == std::string_view::npos) return;
      const FileId other = is_same ? file : compilation.quantization_text().value();
      context.emitter.Emit(kMeant, package::ByteRange(other, at, 5), "new");
    });
    EXPECT_EQ(report_.changes.size(), is_same ? 0U : 1U);
  }
}

// A mistake of a label has no label to rename if the document has no graph yet.
TEST_F(FixTest, LabelsOfNoGraph) {
  CompileOptions options;
  options.document = "version 1.0;\ngraph net( x ) -> ( y )\n{\n# typo\n";
  const Mistake mistake{.word = "typo", .fix = "'a_b'", .rule = &ir::ops::kVariableLabel};
  report_ = FixModel("net.nnef", options, Applicability::kSafe, [&](Compilation& compilation) {
    const FileId file = compilation.graph_text();
    EmitAll(mistake, compilation.context().sources.Text(file), file, compilation.context().emitter);
  });
  EXPECT_EQ(report_.changes.size(), 1U);
  EXPECT_TRUE(report_.stored_labels.empty());
}

// A fix is that of a label only if its rule says so: the same text elsewhere renames no tensor file.
TEST_F(FixTest, TextsThatLookLikeLabels) {
  CompileOptions options;
  options.document =
      "version 1.0;\nextension KHR_enable_operator_expressions;\ngraph net( x ) -> ( y )\n{\n"
      "    x = external(shape = [2, 3]);\n    v = variable(shape = [2, 3], label = 'a' + ':b');\n"
      "    y = add(x, v);\n}\n# typo\n";
  const Mistake mistake{.word = "typo", .fix = ir::ops::LabelLiteral("a_b")};
  report_ = FixModel("net.nnef", options, Applicability::kSafe, [&](Compilation& compilation) {
    Context& context = compilation.context();
    const FileId file = compilation.graph_text();
    EmitAll(mistake, context.sources.Text(file), file, context.emitter);
  });
  ASSERT_EQ(report_.changes.size(), 1U);
  EXPECT_NE(report_.changes.begin()->second.after.find("# " + mistake.fix), std::string::npos);
  EXPECT_TRUE(report_.stored_labels.empty());
}

}  // namespace
}  // namespace nnefc::driver
