#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/compilation.h"
#include "compiler/language/language_service.h"
#include "compiler/language/names.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::language {

// What is told of a text, in its order; `place_of` gives the places of notes.
std::vector<Finding> FindingsIn(const Context& context, FileId file, const PositionMap& positions,
                                llvm::function_ref<std::optional<Place>(SourceRange)> place_of);

struct AnalysisOptions {
  std::optional<ast::Dialect> dialect;
  Limits limits;
  const lint::Settings* lint = nullptr;  // null: no lint
  std::optional<NamedText> quantization;
};

// What one version of one text is found to be: parsed, checked and, as far as
// it goes, expanded. Complete whatever the text is.
class Analysis {
 public:
  Analysis(NamedText document, const AnalysisOptions& options);

  const std::string& uri() const { return uri_; }
  std::string_view text() const { return context().sources.Text(file()); }
  FileId file() const { return compilation_.graph_text(); }
  const Context& context() const { return compilation_.context(); }
  const CheckedDocument& checked() const { return *compilation_.checked(); }
  const NameIndex& names() const { return *names_; }

  TextRange RangeOf(SourceRange range) const;
  // Nothing for a range that is in no text.
  std::optional<Place> PlaceOf(SourceRange range) const;
  std::vector<Finding> Findings() const;
  // Those in the graph.quant file.
  std::vector<Finding> QuantizationFindings() const;

  // "tensor<scalar>"; empty for an Error type.
  std::string TypeText(TypeId type) const;
  // "conv( input: tensor<scalar>, .. ) -> ( output: tensor<scalar> )"
  std::string SignatureText(Callee callee) const;
  // The shape of what a name stands for; see Hover::shape.
  std::string ShapeOf(const Entity& entity) const;
  // The shape of the value of an expression; `item` chooses an output.
  std::string ShapeAt(SourceRange expr, int32_t item) const;
  // The text of what a parameter is if it is not given.
  std::string DefaultText(Callee callee, size_t parameter) const;
  SymbolKind KindOf(const Entity& entity) const;
  std::string_view Text(Symbol symbol) const { return symbol.valid() ? context().symbols.Text(symbol) : ""; }

 private:
  void IndexShapes();
  const ir::Graph* graph() const { return compilation_.expanded(); }
  bool IsQuantization(FileId file) const { return compilation_.quantization_text() == file; }

  std::string uri_;
  Compilation compilation_;
  std::unique_ptr<const PositionMap> positions_;
  std::unique_ptr<NameIndex> names_;
  std::map<std::string, ir::OutputPort, std::less<>> tensors_;  // of the graph's body, by identifier
  // Nodes by the place of the expression that made them: the last one of each
  // instantiation.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<ir::NodeId>> sites_;
};

// The queries of LanguageService over an analysis.
std::optional<Hover> FindHover(const Analysis& analysis, uint32_t offset);
std::vector<DocumentSymbol> FindSymbols(const Analysis& analysis);
std::vector<Completion> FindCompletions(const Analysis& analysis, uint32_t offset);

}  // namespace nnefc::language
