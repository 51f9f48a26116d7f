// Locations, edits and notes of SARIF logs.
#include "compiler/support/diagnostics/render_sarif.h"

#include "compiler/support/context.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace nnefc {
namespace {

constexpr Rule kSarifRule{"test.rule", Severity::kError, "R 1"};

TEST(RenderSarif, LocationsOfEachKindOfFile) {
  Context context;
  const FileId text = context.sources.AddText("a.nnef", "one\ntwo three\n");
  const FileId binary = context.sources.AddOpaque("a.dat", FileKind::kBinary);
  const FileId named = context.sources.AddOpaque("a.tgz", FileKind::kNamed);
  context.emitter.Emit(kSarifRule, {text, 4, 7}, "1").Note({text, 8, 13}, "in text").Note({}, "nowhere");
  context.emitter.Emit(kSarifRule, {binary, 48, 52}, "2").Note({binary, 3, 5}, "in bytes");
  context.emitter.Emit(kSarifRule, {binary, 7, 7}, "3");
  context.emitter.Emit(kSarifRule, {named, 0, 0}, "4");
  context.emitter.Emit(kSarifRule, SourceRange(), "5");
  const auto log = nlohmann::json::parse(RenderSarif(context.emitter.diagnostics(), context.sources));
  const auto& results = log["runs"][0]["results"];
  const auto region = [](const nlohmann::json& location) {
    return location["physicalLocation"].value("region", nlohmann::json()).dump();
  };
  EXPECT_EQ(region(results[0]["locations"][0]),
            R"({"endColumn":4,"endLine":2,"startColumn":1,"startLine":2})");
  EXPECT_EQ(region(results[1]["locations"][0]), R"({"byteLength":4,"byteOffset":48})");
  EXPECT_EQ(region(results[2]["locations"][0]), R"({"byteLength":0,"byteOffset":7})");
  EXPECT_EQ(region(results[3]["locations"][0]), "null");
  EXPECT_EQ(results[3]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a.tgz");
  EXPECT_FALSE(results[4].contains("locations"));
  const auto& notes = results[0]["relatedLocations"];
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0]["message"]["text"], "in text");
  EXPECT_EQ(region(notes[0]), R"({"endColumn":10,"endLine":2,"startColumn":5,"startLine":2})");
  EXPECT_EQ(notes[0]["id"], 0);
  EXPECT_EQ(notes[1]["message"]["text"], "nowhere");
  EXPECT_FALSE(notes[1].contains("physicalLocation"));
  EXPECT_EQ(notes[1]["id"], 1);
  EXPECT_EQ(region(results[1]["relatedLocations"][0]), R"({"byteLength":2,"byteOffset":3})");
}

// The short description of a rule is the first sentence of the full one.
TEST(RenderSarif, DescriptionsOfRules) {
  for (const auto& [full, first] : {std::pair("One. Two. Three.", "One."),
                                    {"One sentence of 3.5 words.", "One sentence of 3.5 words."},
                                    {"No full stop", "No full stop"},
                                    {"O. K.", "O."}}) {
    Context context;
    context.emitter.Emit(kSarifRule, SourceRange(), "1");
    const auto log = nlohmann::json::parse(
        RenderSarif(context.emitter.diagnostics(), context.sources, [=](const Rule&) { return full; }));
    const auto& rule = log["runs"][0]["tool"]["driver"]["rules"][0];
    EXPECT_EQ(rule["shortDescription"]["text"], first);
    EXPECT_EQ(rule["fullDescription"]["text"], full);
  }
}

// The help of a rule states its section, if it is one of a specification.
TEST(RenderSarif, SectionsOfSpecifications) {
  for (const auto& [section, begin] : {std::pair("R 1", "NNEF specification, R 1; `nnefc explain"),
                                       {"P 2.3", "NNEF specification, P 2.3; `nnefc explain"},
                                       {"internal", "`nnefc explain"},
                                       {"", "`nnefc explain"}}) {
    Context context;
    const Rule rule{"test.section", Severity::kError, section};
    context.emitter.Emit(rule, SourceRange(), "1");
    const auto log = nlohmann::json::parse(RenderSarif(context.emitter.diagnostics(), context.sources));
    const std::string help = log["runs"][0]["tool"]["driver"]["rules"][0]["help"]["text"];
    EXPECT_TRUE(help.starts_with(begin)) << help;
  }
}

// Edits are sorted by file, then by their first byte; those at one byte keep their order.
TEST(RenderSarif, OrderOfEdits) {
  Context context;
  const FileId first = context.sources.AddText("a.nnef", "0123456789\n"),
               second = context.sources.AddText("b.nnef", "0123456789\n");
  context.emitter.Emit(kSarifRule, {first, 0, 1}, "1")
      .Fix({second, 0, 1}, "b0")
      .Fix({first, 5, 7}, "a5")
      .Fix({first, 5, 5}, "a5 again")
      .Fix({first, 2, 6}, "a2")
      .Fix({second, 0, 0}, "b0 again");
  const auto log = nlohmann::json::parse(RenderSarif(context.emitter.diagnostics(), context.sources));
  std::string order;
  for (const auto& change : log["runs"][0]["results"][0]["fixes"][0]["artifactChanges"]) {
    order += change["artifactLocation"]["uri"].get<std::string>() + ":";
    for (const auto& replacement : change["replacements"])
      order += " " + replacement["insertedContent"]["text"].get<std::string>();
    order += ";";
  }
  EXPECT_EQ(order, "a.nnef: a2 a5 a5 again;b.nnef: b0 b0 again;");
}

}  // namespace
}  // namespace nnefc
