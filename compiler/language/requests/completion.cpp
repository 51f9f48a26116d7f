// Completions at a position of a document.

#include <algorithm>
#include <set>

#include "compiler/language/analysis.h"
#include "compiler/language/code_text.h"
#include "compiler/semantics/extensions.h"

namespace nnefc::language {
namespace {

class Completer {
 public:
  Completer(const Analysis& analysis, uint32_t offset) : analysis_(analysis), offset_(offset) {
    word_ = WordAtEnd(analysis.text().substr(0, offset));
  }

  std::vector<Completion> Run() {
    const size_t end = std::min<size_t>(offset_, analysis_.text().size()) - word_.size();
    const Code code = CodeBefore(analysis_.text(), end);
    if (code.is_open) return {};
    const Around around = FindAround(code.text);
    if (!around.callee.empty() && around.at_start) OfferParameters(around);
    OfferLocals();
    OfferFragments(analysis_.checked());
    if (analysis_.checked().library() != nullptr) OfferFragments(*analysis_.checked().library());
    OfferExtensions();
    OfferWords();
    return std::move(offers_);
  }

 private:
  void Offer(std::string_view label, std::string insert, SymbolKind kind, std::string detail) {
    if (!label.starts_with(word_) || !offered_.insert(std::string(label)).second) return;
    offers_.push_back({std::string(label), std::move(insert), kind, std::move(detail)});
  }

  void OfferParameters(const Around& around) {
    const Symbol symbol = analysis_.context().symbols.Find(around.callee);
    const semantics::Callee callee = symbol.valid() ? analysis_.checked().Find(symbol) : semantics::Callee();
    if (!callee.valid()) return;
    const semantics::Signature& signature = callee.document->signature(callee.fragment);
    for (size_t i = around.positional; i < signature.parameters.size(); ++i) {
      const semantics::TypedName& parameter = signature.parameters[i];
      const std::string_view name = analysis_.Text(parameter.name.symbol);
      const bool is_tensor = callee.document->types().ContainsTensor(parameter.type);
      if (is_tensor || around.given.contains(name)) continue;
      Offer(name, fmt::format("{} = ", name), SymbolKind::kParameter,
            callee.document->types().Text(parameter.type, callee.document->dialect()));
    }
  }

  void OfferLocals() {
    const BodyScope* body = analysis_.names().BodyAt(offset_);
    if (body == nullptr) return;
    for (auto [id, from] : body->names) {
      const Entity& entity = analysis_.names().entity(id);
      if (from > offset_) continue;
      const std::string_view name = analysis_.Text(entity.name);
      Offer(name, std::string(name), analysis_.KindOf(entity), analysis_.TypeText(entity.type));
    }
  }

  void OfferFragments(const semantics::CheckedDocument& document) {
    for (size_t i = 0; i < document.ast().fragments.size(); ++i) {
      const ast::FragmentId id(static_cast<int32_t>(i));
      const std::string_view name = analysis_.Text(document.signature(id).name.symbol);
      if (name.empty() || !name.starts_with(word_)) continue;
      Offer(name, std::string(name), document.is_library() ? SymbolKind::kOperation : SymbolKind::kFragment,
            analysis_.SignatureText({&document, id}));
    }
  }

  // Offers operations of extensions that the document enables, used or not.
  void OfferExtensions() {
    const semantics::CheckedDocument& document = analysis_.checked();
    for (const semantics::Extension& extension : semantics::Extensions()) {
      if (extension.library == nullptr || extension.dialect != document.dialect()) continue;
      if (extension.activation == semantics::Activation::kImplicit ||
          semantics::Enables(document.ast(), extension, analysis_.context().symbols)) {
        OfferFragments(semantics::StandardLibrary::Shared().Get(extension));
      }
    }
  }

  void OfferWords() {
    const ast::Dialect& dialect = analysis_.checked().dialect();
    for (std::string_view word : {"shape_of", "length_of", "range_of", "scalar", "logical", "string", "for",
                                  "in", "if", "else", "true", "false"}) {
      Offer(word, std::string(word), SymbolKind::kKeyword, "");
    }
    Offer(dialect.integer, std::string(dialect.integer), SymbolKind::kKeyword, "");
    if (dialect.loops_first) Offer("yield", "yield", SymbolKind::kKeyword, "");
  }

  const Analysis& analysis_;
  uint32_t offset_;
  std::string_view word_;
  std::vector<Completion> offers_;
  std::set<std::string> offered_;
};

}  // namespace

std::vector<Completion> FindCompletions(const Analysis& analysis, uint32_t offset) {
  return Completer(analysis, offset).Run();
}

}  // namespace nnefc::language
