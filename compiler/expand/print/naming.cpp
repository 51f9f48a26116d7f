// Valid ratified names for tensors whose names are not.

#include "compiler/expand/print/naming.h"

#include "compiler/syntax/parse.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::print {
namespace {

bool IsNoName(std::string_view name) {
  return !ast::IsPlainName(name) || ast::IsSoftKeyword(name, ast::Dialect::kRatified);
}

bool HasNoNames(const ir::Graph& graph) {
  return IsNoName(graph.name()) || llvm::any_of(graph.nodes(), [&](ir::NodeId id) {
           return llvm::any_of(graph.node(id).outputs(),
                               [](const ir::Output& output) { return llvm::any_of(output.names, IsNoName); });
         });
}

}  // namespace

PrintedNames::PrintedNames(const ir::Graph& graph) {
  if (!HasNoNames(graph)) return;
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
    const auto* comprehension = ast::Find<ast::ComprehensionExpr>(expr.node);
    if (comprehension == nullptr) continue;
    for (const ast::Iterator& iterator : comprehension->iterators) take(iterator.name.symbol);
  }
  for (const ast::Fragment& fragment : document.fragments) {
    take(fragment.name.symbol);
    for (const ast::Parameter& parameter : fragment.parameters) take(parameter.name.symbol);
    for (const ast::Result& result : fragment.results) take(result.name.symbol);
  }
  // A fragment of the document must not hide a ratified operation.
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
  if (IsNoName(graph.name())) renamed_.try_emplace(graph.name());
  for (ir::NodeId id : graph.nodes()) {
    for (const ir::Output& output : graph.node(id).outputs()) {
      for (const std::string& name : output.names) Take(name);
    }
  }
}

void PrintedNames::Take(std::string_view name) {
  taken_.insert(llvm::StringRef(name.data(), name.size()));
  if (IsNoName(name)) renamed_.try_emplace(std::string(name));
}

void PrintedNames::Rename(std::string_view name) {
  const std::string nearest = ast::NearestName(name);
  for (int number = 1;; ++number) {
    std::string free = number == 1 ? nearest : fmt::format("{}_{}", nearest, number);
    if (IsNoName(free) || !taken_.insert(free).second) continue;
    renamed_.find(name)->second = std::move(free);
    return;
  }
}

}  // namespace nnefc::expand::print
