#include "compiler/explain/rule_file.h"

#include "compiler/explain/embedded_file.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::explain {
namespace {

std::string_view View(llvm::StringRef text) {
  return {text.data(), text.size()};
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
  if (!text.empty()) example.files.push_back({"net.nnef", "", View(text)});
  return example;
}

// Parses a section head such as `file: model/w.dat (bytes)`.
ExampleFile ParseFileHead(llvm::StringRef head, llvm::StringRef text) {
  auto [name, form] = head.drop_front(sizeof("file: ") - 1).split(" (");
  return {View(name), View(form.drop_back(form.empty() ? 0 : 1)), View(text)};
}

RuleFile Parse(llvm::StringRef text) {
  // Every section begins with a line of `== `; the statement has none.
  size_t next = text.startswith("== ") ? 0 : text.find("\n== ");
  RuleFile file{.statement = View(text.substr(0, next).rtrim()), .examples = {}};
  while (next != llvm::StringRef::npos) {
    text = text.drop_front(next).ltrim("\n").drop_front(3);
    next = text.find("\n== ");
    const llvm::StringRef section = text.substr(0, next == llvm::StringRef::npos ? next : next + 1);
    const auto [head, body] = section.split('\n');
    if (head.startswith("breaks") || head.startswith("keeps")) {
      file.examples.push_back(ParseExampleHead(head, body));
    } else if (!file.examples.empty() && head.startswith("file: ")) {
      file.examples.back().files.push_back(ParseFileHead(head, body));
    } else if (!file.examples.empty() && head == "stderr") {
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
