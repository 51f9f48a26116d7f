#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/language/language_service.h"
#include "compiler/language/names.h"
#include "compiler/semantics/check_document.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::language {

// A text of an editor.
struct EditorText {
  std::string uri;
  std::string text;
};

// What is told of a text, in its order; `place_of` gives the places of notes.
std::vector<Finding> FindingsIn(const Context& context, FileId file, const PositionMap& positions,
                                llvm::function_ref<std::optional<Place>(SourceRange)> place_of);

struct AnalysisOptions {
  std::optional<ast::Dialect> dialect;
  Limits limits;
  const lint::Settings* lint = nullptr;  // null: no lint
  std::optional<EditorText> quantization;
};

// What one version of one text is found to be: parsed, checked and, as far as
// it goes, expanded. Complete whatever the text is.
class Analysis {
 public:
  Analysis(EditorText document, const AnalysisOptions& options);

  const std::string& uri() const { return uri_; }
  std::string_view text() const { return context_.sources.Text(file_); }
  FileId file() const { return file_; }
  const Context& context() const { return context_; }
  const CheckedDocument& checked() const { return *checked_; }
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
  std::string_view Text(Symbol symbol) const { return symbol.valid() ? context_.symbols.Text(symbol) : ""; }

 private:
  void CheckQuantization(const EditorText& text);
  void IndexShapes();

  std::string uri_;
  const StandardLibrary& library_ = StandardLibrary::Shared();
  Context context_{library_.base()};
  ir::OpRegistry registry_{&ir::StandardOps()};
  FileId file_;
  std::string quantization_uri_;
  FileId quantization_file_;  // invalid if there is none
  std::unique_ptr<CheckedDocument> quantization_;
  std::unique_ptr<const PositionMap> positions_;
  std::unique_ptr<CheckedDocument> checked_;
  std::unique_ptr<ir::Graph> graph_;  // null if there was none to expand
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
