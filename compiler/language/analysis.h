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

// Returns the findings of one text in source order; `place_of` maps the ranges of notes to places.
std::vector<Finding> FindingsIn(const Context& context, FileId file, const PositionMap& positions,
                                llvm::function_ref<std::optional<Place>(SourceRange)> place_of);
// The same for a text without related texts: notes have places in the text `uri` only.
std::vector<Finding> FindingsIn(const Context& context, FileId file, const std::string& uri,
                                PositionEncoding encoding);

struct AnalysisOptions {
  std::optional<ast::Dialect> dialect;
  Limits limits;
  const lint::Settings* lint = nullptr;  // null: lint is off
  std::optional<driver::NamedText> quantization;
  PositionEncoding encoding = PositionEncoding::kUtf16;
};

// The analysis of one version of one text: parsed, checked and expanded as far as its errors permit. Any text
// is accepted. The constructor parses and checks; the first query that needs more expands and lints, or
// indexes names or shapes.
class Analysis {
 public:
  Analysis(driver::NamedText document, const AnalysisOptions& options);

  const std::string& uri() const { return uri_; }
  std::string_view text() const { return context().sources.Text(file()); }
  FileId file() const { return compilation_.graph_text(); }
  const Context& context() const { return compilation_.context(); }
  const semantics::CheckedDocument& checked() const { return *compilation_.checked(); }
  const ast::Document& ast() const { return checked().ast(); }
  const NameIndex& names() const;
  // The compilation, expanded and linted.
  const driver::Compilation& compilation() const;
  // The expanded graph, possibly of a part of the document; null if nothing was expanded.
  const ir::Graph* graph() const { return compilation().expanded(); }
  // The text of the document's graph.quant file.
  std::optional<FileId> quantization_text() const { return compilation_.quantization_text(); }
  const AnalysisOptions& options() const { return options_; }

  TextRange RangeOf(SourceRange range) const;
  // Returns nothing for a range outside every text.
  std::optional<Place> PlaceOf(SourceRange range) const;
  std::vector<Finding> Findings() const;
  // Returns the findings in the graph.quant file.
  std::vector<Finding> QuantizationFindings() const;

  // Returns the type as text, such as "tensor<scalar>"; empty for an Error type.
  std::string TypeText(semantics::TypeId type) const;
  // Returns the declaration on one line: "conv( input: tensor<scalar>, .. ) -> ( output: tensor<scalar> )".
  // Stores the ranges of its parameters in `parameters` unless that is null.
  std::string SignatureText(semantics::Callee callee,
                            std::vector<std::pair<uint32_t, uint32_t>>* parameters = nullptr) const;
  // Returns the shape of the tensor that a name denotes; see Hover::shape.
  std::string ShapeOf(const Entity& entity) const;
  // Returns the shape of an expression's value; `item` selects an output, -1 the first.
  std::string ShapeAt(SourceRange expr, int32_t item) const;
  // Returns the value of an attribute parameter of a fragment in its first instantiation, such as "2", with
  // the number of other values, "2 and 1 other"; empty if it is not instantiated.
  std::string ValueOf(const Entity& entity) const;
  // Returns the default value of a parameter as text; empty if it has none.
  std::string DefaultText(semantics::Callee callee, size_t parameter) const;
  SymbolKind KindOf(const Entity& entity) const;
  std::string_view Text(Symbol symbol) const { return symbol.valid() ? context().symbols.Text(symbol) : ""; }

 private:
  void IndexShapes() const;
  bool IsQuantization(FileId file) const { return compilation_.quantization_text() == file; }

  std::string uri_;
  AnalysisOptions options_;
  std::optional<lint::Settings> lint_;
  mutable driver::Compilation compilation_;
  mutable bool is_expanded_ = false;
  std::unique_ptr<const PositionMap> positions_;
  mutable std::unique_ptr<NameIndex> names_;
  // Both are filled by IndexShapes.
  mutable bool has_shapes_ = false;
  mutable std::map<std::string, ir::OutputPort, std::less<>>
      tensors_;  // tensors of the graph's body, by identifier
  // Nodes by the source range (begin, end) of their expression: the last node of each instantiation.
  mutable std::map<std::pair<uint32_t, uint32_t>, std::vector<ir::NodeId>> sites_;
};

// Queries of LanguageService over an analysis.
std::optional<Hover> FindHover(const Analysis& analysis, uint32_t offset);
std::vector<DocumentSymbol> FindSymbols(const Analysis& analysis);
std::vector<Completion> FindCompletions(const Analysis& analysis, uint32_t offset);

}  // namespace nnefc::language
