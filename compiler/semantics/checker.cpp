#include "compiler/semantics/checker.h"

namespace nnefc::semantics {
namespace {

// Returns `library`, or the standard library under it if it is a model.
const CheckedDocument* StandardBelow(const CheckedDocument* library) {
  while (!library->is_library()) library = library->library();
  return library;
}

}  // namespace

Checker::Checker(std::unique_ptr<const ast::Document> document, CheckedKind kind, Against against,
                 Context& context)
    : out_(std::make_unique<CheckedDocument>()),
      document_(*document),
      kind_(kind),
      dialect_(out_->dialect_ = EnabledDialect(*document, context.symbols, against.leniency)),
      standard_(against.library != nullptr ? StandardBelow(against.library) : out_.get()),
      libraries_(against.libraries),
      outer_(context),
      context_(context, context.emitter.room()),
      types_(*(out_->types_ = against.types != nullptr ? TypeTable::Over(*against.types)
                                                       : std::make_unique<TypeTable>())),
      error_(types_.Primitive(TypeKind::kError)),
      integer_(types_.Primitive(TypeKind::kInteger)),
      scalar_(types_.Primitive(TypeKind::kScalar)),
      logical_(types_.Primitive(TypeKind::kLogical)),
      string_(types_.Primitive(TypeKind::kString)),
      external_(context.symbols.Intern("external")),
      variable_(context.symbols.Intern("variable")),
      update_(context.symbols.Intern("update")) {
  NNEFC_CHECK(context.symbols.base() == &libraries_.base().symbols);
  out_->ast_ = std::move(document);
  out_->library_ = against.library;
  out_->is_library_ = kind == CheckedKind::kLibrary;
  out_->extensions_ = std::move(against.extensions);
  out_->signatures_.resize(document_.fragments.size());
  out_->unsound_.resize(document_.fragments.size());
  out_->broken_.resize(document_.fragments.size());
  out_->binding_index_.assign(document_.exprs.size(), -1);
  out_->expr_types_.resize(document_.exprs.size());
}

std::unique_ptr<CheckedDocument> Checker::CheckModel(const CheckOptions& options) {
  CheckDialectRules(document_, dialect_, kind_, context_, deviations_);
  DeclareFragments();
  ChooseGraph(options);
  for (size_t i = 0; i < document_.fragments.size(); ++i) {
    CheckFragmentBody(ast::FragmentId(static_cast<int32_t>(i)));
  }
  // Among several graphs only the chosen one must be correct.
  for (const ast::Graph& graph : document_.graphs) {
    if (out_->graph_ == nullptr || out_->graph_ == &graph) CheckGraphBody(graph);
  }
  return Finish();
}

std::unique_ptr<CheckedDocument> Checker::CheckLibrary() {
  CheckDialectRules(document_, dialect_, kind_, context_, deviations_);
  DeclareFragments();
  for (size_t i = 0; i < document_.fragments.size(); ++i) {
    CheckFragmentBody(ast::FragmentId(static_cast<int32_t>(i)));
  }
  return Finish();
}

std::unique_ptr<CheckedDocument> Checker::Finish() {
  deviations_.Report(context_.emitter);
  out_->complete_ = document_.complete && !context_.emitter.has_errors();
  outer_.emitter.Take(std::move(context_.emitter));
  return std::move(out_);
}

std::string_view Checker::SourceText(SourceRange range) const {
  return context_.sources.Text(range.file).substr(range.begin, range.end - range.begin);
}

ast::ExprId Checker::Inner(ExprId id) const {
  while (const auto* paren = std::get_if<ast::ParenExpr>(&expr(id).node)) id = paren->inner;
  return id;
}

bool Checker::IsStandard(Callee callee, Symbol name) const {
  return callee.document == standard_ && SignatureOf(callee).name.symbol == name;
}

}  // namespace nnefc::semantics
