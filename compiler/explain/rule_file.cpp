// The parser of rule files: the explanation of a rule with its example documents.

#include "compiler/explain/rule_file.h"

#include <string>
#include <tuple>

#include "compiler/explain/embedded_file.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::explain {
namespace {

std::string_view View(llvm::StringRef text) {
  return {text.data(), text.size()};
}

constexpr llvm::StringRef kBodyIndent = "    ";

// Returns the names of the externals that a graph's body assigns, separated by commas.
std::string Externals(llvm::StringRef body) {
  std::string names;
  while (!body.empty()) {
    llvm::StringRef line;
    std::tie(line, body) = body.split('\n');
    auto [name, value] = line.split(" = ");
    if (!name.consume_front(kBodyIndent) || !View(value).starts_with("external")) continue;
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

// Returns the document of an example. A text that begins with an indented line is the body of a graph, which
// gets the version and a frame with the body's externals and the result `y`.
std::string Document(llvm::StringRef text, std::string_view dialect) {
  if (!View(text).starts_with(kBodyIndent)) return text.str();
  return "version 1.0" + std::string(dialect == "provisional" ? "" : ";") + "\ngraph net( " +
         Externals(text) + " ) -> ( y )\n{\n" + text.str() + "}\n";
}

// Parses a section head such as `breaks ratified: nnefc check net.nnef`.
RuleExample ParseExampleHead(llvm::StringRef head, llvm::StringRef text) {
  const auto [words, command] = head.split(": ");
  const auto [kind, dialect] = words.split(' ');
  RuleExample example{.breaks = kind == "breaks",
                      .dialect = View(dialect),
                      .command = command.empty() ? "nnefc check net.nnef" : View(command),
                      .files = {},
                      .diagnostics = {}};
  if (!text.empty()) example.files.push_back({"net.nnef", "", Document(text, example.dialect)});
  return example;
}

// Parses a section head such as `file: model/w.dat (bytes)` of an example in a dialect.
ExampleFile ParseFileHead(llvm::StringRef head, llvm::StringRef text, std::string_view dialect) {
  auto [name, form] = head.drop_front(sizeof("file: ") - 1).split(" (");
  form.consume_back(")");
  const bool is_document = View(name).ends_with(".nnef") && form.empty();
  return {View(name), View(form), is_document ? Document(text, dialect) : text.str()};
}

// The tests of the pages reject a section of an example before the first example.
RuleFile Parse(llvm::StringRef text) {
  // Every section begins with a line of `== `; the statement has none.
  size_t next = View(text).starts_with("== ") ? 0 : text.find("\n== ");
  RuleFile file{.statement = View(text.substr(0, next).rtrim()), .examples = {}};
  while (next != llvm::StringRef::npos) {
    text = text.drop_front(next).ltrim("\n").drop_front(3);
    next = text.find("\n== ");
    const llvm::StringRef section = text.substr(0, next == llvm::StringRef::npos ? next : next + 1);
    const auto [head, body] = section.split('\n');
    if (View(head).starts_with("breaks") || View(head).starts_with("keeps")) {
      file.examples.push_back(ParseExampleHead(head, body));
    } else if (View(head).starts_with("file: ")) {
      file.examples.back().files.push_back(ParseFileHead(head, body, file.examples.back().dialect));
    } else if (head == "stderr") {
      file.examples.back().diagnostics = View(body);
    }
  }
  return file;
}

}  // namespace

std::optional<RuleFile> FindRuleFile(std::string_view label) {
  const std::optional<std::string_view> text = FindText(EmbeddedRules(), label);
  if (!text) return std::nullopt;
  return Parse(llvm::StringRef(text->data(), text->size()));
}

}  // namespace nnefc::explain
