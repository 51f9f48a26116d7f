#include "tests/unit/compiler/raise/raising_support.h"

#include "compiler/expand/print/flat.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/text/text.h"
#include "gtest/gtest.h"

namespace nnefc::raise {

Raising::Raising(const std::string& body, bool folds_batch_normalization, Target target)
    : Raising(body, {.target = target, .folds_batch_normalization = folds_batch_normalization}) {}

Raising::Raising(const std::string& body, RaiseOptions options) {
  const FileId file = context_.sources.AddText("net.ir", "graph \"net\" {\n" + body + "}\n");
  graph_ = ir::ParseGraph(file, ir::StandardOps(), context_);
  if (graph_ == nullptr || !ir::InferGraph(*graph_, context_.emitter)) {
    ADD_FAILURE() << body << (Messages().empty() ? "" : Messages().front());
    return;
  }
  options.evaluate = [](const ir::Node&, llvm::ArrayRef<ir::Output>, llvm::ArrayRef<TensorValue>) {
    return std::optional<std::vector<TensorValue>>();
  };
  raised_ = RaiseGraph(*graph_, options, context_);
}

std::vector<std::string> Raising::Lines(bool of_externals) const {
  std::vector<std::string> lines;
  const expand::print::PrintedNames names(*raised_->graph);
  for (const expand::print::FlatStatement& statement :
       expand::print::PrintFlatStatements(*raised_->graph, library_, context_.symbols, names)) {
    if (raised_->graph->node(statement.node).Is(ir::OpRole::kExternal) != of_externals) continue;
    const size_t begin = statement.text.find_first_not_of(' ');
    lines.push_back(statement.text.substr(begin, statement.text.size() - begin - 1));
  }
  return lines;
}

std::vector<std::string> Raising::Statements() const {
  return Lines(false);
}

std::vector<std::string> Raising::Externals() const {
  return Lines(true);
}

std::string Raising::Document() const {
  return expand::print::PrintFlatDocument(*raised_->graph, library_, context_.symbols);
}

std::vector<std::string> Raising::Messages(Severity severity) const {
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : context_.emitter.diagnostics()) {
    if (diagnostic.severity == severity) messages.push_back(diagnostic.message);
  }
  return messages;
}

}  // namespace nnefc::raise
