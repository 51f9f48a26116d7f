// Pages of operations, compared with the lines of the libraries that declare them.
#include "compiler/explain/operation_pages.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "fmt/core.h"
#include "gtest/gtest.h"
#include "stdlib/stdlib.h"

namespace nnefc::explain {
namespace {

struct Declared {
  std::string comment;
  std::string text;
};

// The declarations of a library by lines: a head begins with `fragment NAME`, a primitive ends with the first
// line that ends in `;`, a compound with the line `}`. A comment is above its declaration, with at most one
// empty line between; a line of `# ----` is a heading of several declarations.
std::map<std::string, Declared> ReadLibrary(std::string_view text) {
  std::map<std::string, Declared> declarations;
  static const std::regex kHead("^fragment (\\w+)[(<]");
  std::istringstream lines{std::string(text)};
  std::string comment, line, name;
  bool has_body = false;
  int empty_lines = 0;
  while (std::getline(lines, line)) {
    std::smatch head;
    if (name.empty() && std::regex_search(line, head, kHead)) {
      name = head[1];
      declarations[name].comment = comment;
      has_body = false;
    }
    if (!name.empty()) {
      declarations[name].text += line + "\n";
      has_body |= line == "{";
      if (has_body ? line == "}" : line.ends_with(';')) {
        declarations[name].text.pop_back();
        name.clear();
      }
      comment.clear();
      empty_lines = 0;
    } else if (line.starts_with("# ") && !line.starts_with("# ----")) {
      if (empty_lines > 0) comment.clear();
      empty_lines = 0;
      comment += line.substr(2) + "\n";
    } else if (line.empty()) {
      if (++empty_lines > 1) comment.clear();
    } else {
      comment.clear();
      empty_lines = 0;
    }
  }
  return declarations;
}

// The names before the colons of the parameters.
std::vector<std::string> ParametersOf(const std::string& declaration) {
  const std::string list = declaration.substr(0, declaration.find("->"));
  const std::regex name("(\\w+):");
  std::vector<std::string> names;
  for (std::sregex_iterator at(list.begin(), list.end(), name), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

struct Written {
  std::string formula;
  std::string document;
};

// The formula and the document of an operation's file; empty if it has none.
Written ReadFile(const std::string& name) {
  std::ifstream file(fmt::format("compiler/explain/operations/{}.operation", name));
  Written written;
  std::string line;
  bool in_document = false;
  while (std::getline(file, line)) {
    in_document |= line == "version 1.0;";
    (in_document ? written.document : written.formula) += line + "\n";
  }
  while (written.formula.ends_with('\n')) written.formula.pop_back();
  return written;
}

const std::vector<std::pair<std::string, std::string_view>>& Libraries() {
  static const std::vector<std::pair<std::string, std::string_view>> libraries = {
      {"NNEFC_control_flow", stdlib::ControlFlowLibraryText()},
      {"NNEFC_opset", stdlib::OpsetLibraryText()},
      {"tract_registry tract_core", stdlib::TractCoreLibraryText()},
      {"tract_registry tract_transformers", stdlib::TractTransformersLibraryText()},
      {"tract_registry tract_onnx", stdlib::TractOnnxLibraryText()},
      {"tract_registry tract_pulse", stdlib::TractPulseLibraryText()},
      {"tract_registry tract_extra", stdlib::TractExtraLibraryText()}};
  return libraries;
}

TEST(OperationPages, OfTheStandardStateItsDeclarations) {
  const auto ratified = ReadLibrary(stdlib::RatifiedLibraryText()),
             provisional = ReadLibrary(stdlib::ProvisionalLibraryText());
  EXPECT_GT(ratified.size(), 110U);
  for (const auto& [name, declared] : ratified) {
    const std::optional<OperationPage> page = FindOperationPage(name);
    ASSERT_TRUE(page) << name;
    EXPECT_EQ(page->name, name);
    EXPECT_EQ(page->extension, "") << name;
    EXPECT_EQ(page->comment, "") << name;
    EXPECT_TRUE(page->section.starts_with("R 4.")) << name << page->section;
    EXPECT_FALSE(page->summary.empty()) << name;
    EXPECT_EQ(page->signature, declared.text);
    const auto other = provisional.find(name);
    const bool differs = other != provisional.end() && other->second.text != declared.text;
    EXPECT_EQ(page->provisional, differs ? other->second.text : "") << name;
    std::vector<std::string> parameters;
    for (const OperationPage::Parameter& parameter : page->parameters) {
      parameters.push_back(parameter.name);
      EXPECT_FALSE(parameter.text.empty()) << name << " " << parameter.name;
    }
    EXPECT_EQ(parameters, ParametersOf(declared.text)) << name;
  }
}

TEST(OperationPages, OfExtensionsStateTheirDeclarations) {
  for (const auto& [extension, text] : Libraries()) {
    for (const auto& [name, declared] : ReadLibrary(text)) {
      const std::optional<OperationPage> page = FindOperationPage(name);
      ASSERT_TRUE(page) << name;
      EXPECT_EQ(page->name, name);
      EXPECT_EQ(page->extension, extension) << name;
      EXPECT_FALSE(page->section.empty()) << name;
      EXPECT_EQ(page->comment, declared.comment) << name;
      EXPECT_EQ(page->signature, declared.text) << name;
      EXPECT_EQ(page->summary, "") << name;
      EXPECT_EQ(page->provisional, "") << name;
      EXPECT_TRUE(page->parameters.empty()) << name;
    }
  }
}

TEST(OperationPages, HaveTheFormulaOfTheirFile) {
  for (const std::string& name : PagedOperations()) {
    const OperationPage page = *FindOperationPage(name);
    const Written written = ReadFile(name);
    EXPECT_EQ(page.formula, written.formula) << name;
    if (!written.document.empty()) {
      EXPECT_EQ(page.example, written.document) << name;
    } else if (!page.extension.empty()) {
      EXPECT_EQ(page.example, "") << name;
    } else {
      EXPECT_TRUE(page.example.starts_with("version 1.0;\n\ngraph net( x")) << name << page.example;
      EXPECT_NE(page.example.find(fmt::format(" = {}(x", name)), std::string::npos) << page.example;
    }
  }
}

// Elementwise operations need no file: a document is written for one or two operands, numbers or logicals.
TEST(OperationPages, HaveDocumentsOfElementwiseOperations) {
  const auto example = [](std::string_view name) { return FindOperationPage(name)->example; };
  for (const char* name : {"copy", "neg", "sqr", "log2", "relu", "tanh"}) {
    EXPECT_EQ(example(name),
              fmt::format("version 1.0;\n\ngraph net( x ) -> ( y )\n{{\n    x = external(shape = [1, 4]);\n"
                          "    y = {}(x);\n}}\n",
                          name));
  }
  for (const char* name : {"add", "pow", "lt", "ne", "min", "max"}) {
    EXPECT_EQ(
        example(name),
        fmt::format("version 1.0;\n\ngraph net( x, y ) -> ( z )\n{{\n    x = external(shape = [1, 4]);\n"
                    "    y = external(shape = [1, 4]);\n    z = {}(x, y);\n}}\n",
                    name));
  }
  for (const char* name : {"and", "or"}) {
    EXPECT_EQ(example(name),
              fmt::format("version 1.0;\n\ngraph net( x, y ) -> ( z )\n{{\n"
                          "    x = external<logical>(shape = [1, 4]);\n"
                          "    y = external<logical>(shape = [1, 4]);\n    z = {}(x, y);\n}}\n",
                          name));
  }
  EXPECT_EQ(example("not"),
            "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external<logical>(shape = [1, 4]);\n"
            "    y = not(x);\n}\n");
}

TEST(OperationPages, AreListedOnceInTheOrderOfTheExtensions) {
  std::vector<std::string> expected, listed;
  for (const auto& [extension, text] : Libraries()) {
    constexpr std::string_view kHead = "fragment ";
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(kHead))
        expected.push_back(fmt::format(
            "{} {}", line.substr(kHead.size(), line.find_first_of("(<") - kHead.size()), extension));
    }
  }
  for (const ExtensionOperation& operation : ExtensionOperations())
    listed.push_back(fmt::format("{} {}", operation.name, operation.extension));
  EXPECT_EQ(listed, expected);
  const std::vector<std::string> paged = PagedOperations();
  std::multiset<std::string> names(paged.begin(), paged.end()), declared;
  for (const auto& [name, text] : ReadLibrary(stdlib::RatifiedLibraryText())) declared.insert(name);
  for (const ExtensionOperation& operation : ExtensionOperations()) declared.insert(operation.name);
  EXPECT_EQ(names, declared);
  ASSERT_GE(paged.size(), listed.size());
  for (size_t i = 0; i < listed.size(); ++i)
    EXPECT_EQ(paged[paged.size() - listed.size() + i], ExtensionOperations()[i].name);
}

// A text for one operation precedes the text for all operations with such a parameter.
TEST(OperationPages, ExplainParametersByOperation) {
  const auto text = [](std::string_view operation, std::string_view parameter) {
    const OperationPage page = *FindOperationPage(operation);
    for (const OperationPage::Parameter& each : page.parameters) {
      if (each.name == parameter) return each.text;
    }
    return std::string();
  };
  EXPECT_EQ(text("elu", "alpha"), "the factor below zero");
  EXPECT_EQ(text("prelu", "alpha"), "the slopes for negative elements, such as [1,channels]");
  EXPECT_EQ(text("leaky_relu", "alpha"), "the slope for negative elements");
  EXPECT_EQ(text("transpose", "axes"), "the new order of the dimensions");
  EXPECT_EQ(text("squeeze", "axes"), "the dimensions to remove");
  EXPECT_EQ(text("sum_reduce", "axes"), "the dimensions along which to compute, counted from 0 (the batch)");
  EXPECT_EQ(text("pad", "padding"), "(before, after) of each dimension");
  EXPECT_EQ(text("argmax_pool", "padding"),
            "(before, after) of each dimension of the window; [] derives it from size and stride");
  EXPECT_EQ(text("update", "value"), "the tensor to store");
  EXPECT_EQ(text("stack", "axis"), "the position of the new dimension");
  EXPECT_EQ(text("concat", "axis"), "the dimension along which to compute, counted from 0 (the batch)");
  EXPECT_EQ(FindOperationPage("external")->summary,
            "An input of the graph, whose data are passed to each run.");
  EXPECT_EQ(FindOperationPage("relu")->summary, "The rectified linear unit, max(x, 0).");
}

// Parts of names, words of declarations, and layers, which provisional documents need not enable.
TEST(OperationPages, AreOnlyOfOperations) {
  for (const char* name : {"", "con", "conv1", "onv", "fragment", "fragment conv", "tensor", "linear_layer",
                           "conv_layer", "tract_core", "tract_core_er", "Conv", "Parameter", "conv("})
    EXPECT_FALSE(FindOperationPage(name)) << name;
}

// The manual of control flow begins with the comment of its library.
TEST(OperationPages, OfControlFlowBeginWithItsComment) {
  std::istringstream lines{std::string(stdlib::ControlFlowLibraryText())};
  std::string expected;
  for (std::string line; std::getline(lines, line) && line.starts_with("# ");)
    expected += line.substr(2) + "\n";
  ASSERT_NE(expected.find("NNEFC_control_flow"), std::string::npos);
  EXPECT_EQ(ControlFlowComment(), expected);
}

}  // namespace
}  // namespace nnefc::explain
