// Pages of rules, compared with the lines of their files.
#include "compiler/explain/rule_file.h"

#include <filesystem>
#include <fstream>
#include <regex>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"

namespace nnefc::explain {
namespace {

constexpr const char* kRules = "compiler/explain/rules";

struct Section {
  std::string head;
  std::string text;
};

// The sections of a page; the first one, without a head, is the statement of the rule.
std::vector<Section> ReadSections(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Section> sections(1);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      sections.push_back({line.substr(3), ""});
    } else {
      sections.back().text += line + "\n";
    }
  }
  return sections;
}

// The document of an example: an indented text is the body of a graph, whose externals are the inputs.
std::string Document(const std::string& text, const std::string& dialect) {
  static const std::regex kExternal("(^|\n)    (\\w+) = external");
  if (!text.starts_with("    ")) return text;
  std::vector<std::string> inputs;
  for (std::sregex_iterator at(text.begin(), text.end(), kExternal), end; at != end; ++at)
    inputs.push_back((*at)[2]);
  return fmt::format("version 1.0{}\ngraph net( {} ) -> ( y )\n{{\n{}}}\n",
                     dialect == "provisional" ? "" : ";", fmt::join(inputs, ", "), text);
}

std::string Shown(const RuleFile& page) {
  std::string shown = fmt::format("{}\n", page.statement);
  for (const RuleExample& example : page.examples) {
    shown +=
        fmt::format("{} `{}`: {}\n", example.breaks ? "breaks" : "keeps", example.dialect, example.command);
    for (const ExampleFile& file : example.files)
      shown += fmt::format("file {} `{}`\n{}", file.name, file.form, file.text);
    shown += fmt::format("stderr\n{}", example.diagnostics);
  }
  return shown;
}

std::string Expected(const std::vector<Section>& sections) {
  static const std::regex kExample("(breaks|keeps) ?(ratified|provisional|)(: (.*))?");
  static const std::regex kFile("file: (\\S+)( \\((\\w+)\\))?");
  std::string shown = sections[0].text;
  std::string dialect, diagnostics;
  bool in_example = false;
  const auto close = [&] {
    if (in_example) shown += "stderr\n" + diagnostics;
    diagnostics.clear();
  };
  for (const Section& section : sections) {
    std::smatch head;
    if (std::regex_match(section.head, head, kExample)) {
      close();
      in_example = true;
      dialect = head[2];
      const std::string command = head[4];
      shown += fmt::format("{} `{}`: {}\n", head[1].str(), dialect,
                           command.empty() ? "nnefc check net.nnef" : command);
      if (!section.text.empty()) shown += "file net.nnef ``\n" + Document(section.text, dialect);
    } else if (std::regex_match(section.head, head, kFile)) {
      const std::string name = head[1], form = head[3];
      const bool is_document = name.ends_with(".nnef") && form.empty();
      shown += fmt::format("file {} `{}`\n{}", name, form,
                           is_document ? Document(section.text, dialect) : section.text);
    } else if (section.head == "stderr") {
      diagnostics = section.text;
    }
  }
  close();
  return shown;
}

TEST(RulePages, StateTheSectionsOfTheirFiles) {
  size_t count = 0, bodies = 0, forms = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kRules)) {
    const std::optional<RuleFile> page = FindRuleFile(entry.path().stem().string());
    ASSERT_TRUE(page) << entry.path();
    const std::vector<Section> sections = ReadSections(entry.path());
    EXPECT_EQ(Shown(*page), Expected(sections)) << entry.path();
    ++count;
    for (const Section& section : sections) {
      bodies += section.text.starts_with("    ") ? 1 : 0;
      forms += section.head.ends_with(')') ? 1 : 0;
    }
  }
  EXPECT_GT(count, 300U);
  EXPECT_GT(bodies, 100U);
  EXPECT_GT(forms, 20U);
}

}  // namespace
}  // namespace nnefc::explain
