#include "compiler/expand/print/naming.h"

#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc {
namespace {

bool IsKeyword(std::string_view name) {
  return ast::IsSoftKeyword(name, ast::Dialect::kRatified);
}

bool HasKeyword(const ir::Graph& graph) {
  return IsKeyword(graph.name()) || llvm::any_of(graph.nodes(), [&](ir::NodeId id) {
           return llvm::any_of(graph.node(id).outputs(), [](const ir::Output& output) {
             return llvm::any_of(output.names, IsKeyword);
           });
         });
}

}  // namespace

PrintedNames::PrintedNames(const ir::Graph& graph) {
  if (!HasKeyword(graph)) return;
  Take(graph);
  for (const auto& [name, printed] : std::map(renamed_)) Rename(name);
}

PrintedNames::PrintedNames(const ir::Graph& graph, const ast::Document& document,
                           const ast::Document& ratified, const SymbolTable& symbols) {
  Take(graph);
  auto take = [&](Symbol symbol) {
    if (symbol.valid()) Take(symbols.Text(symbol));
  };
  for (const ast::Expr& expr : document.exprs) {
    if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&expr.node)) take(identifier->name);
    const auto* comprehension = std::get_if<ast::ComprehensionExpr>(&expr.node);
    if (comprehension == nullptr) continue;
    for (const ast::Iterator& iterator : comprehension->iterators) take(iterator.name.symbol);
  }
  for (const ast::Fragment& fragment : document.fragments) {
    take(fragment.name.symbol);
    for (const ast::Parameter& parameter : fragment.parameters) take(parameter.name.symbol);
    for (const ast::Result& result : fragment.results) take(result.name.symbol);
  }
  // A fragment of the document that is called as a ratified operation is would
  // hide it.
  llvm::StringSet<> hiding;
  for (const ast::Fragment& fragment : document.fragments) {
    const std::string_view name = symbols.Text(fragment.name.symbol);
    hiding.insert(llvm::StringRef(name.data(), name.size()));
  }
  for (const ast::Fragment& fragment : ratified.fragments) {
    const std::string_view name = symbols.Text(fragment.name.symbol);
    if (hiding.contains(llvm::StringRef(name.data(), name.size()))) renamed_.try_emplace(std::string(name));
    Take(name);
  }
  for (const auto& [name, printed] : std::map(renamed_)) Rename(name);
}

std::string_view PrintedNames::Of(std::string_view name) const {
  auto found = renamed_.find(name);
  return found == renamed_.end() ? name : std::string_view(found->second);
}

void PrintedNames::Take(const ir::Graph& graph) {
  if (IsKeyword(graph.name())) renamed_.try_emplace(graph.name());
  for (ir::NodeId id : graph.nodes()) {
    for (const ir::Output& output : graph.node(id).outputs()) {
      for (const std::string& name : output.names) Take(name);
    }
  }
}

void PrintedNames::Take(std::string_view name) {
  taken_.insert(llvm::StringRef(name.data(), name.size()));
  if (IsKeyword(name)) renamed_.try_emplace(std::string(name));
}

void PrintedNames::Rename(std::string_view name) {
  for (int number = 2;; ++number) {
    std::string free = fmt::format("{}_{}", name, number);
    if (!taken_.insert(free).second) continue;
    renamed_.find(name)->second = std::move(free);
    return;
  }
}

}  // namespace nnefc
