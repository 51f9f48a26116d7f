#include "compiler/semantics/check_context.h"

namespace nnefc::semantics {
namespace {

// Returns `library`, or the standard library under it if it is a model.
const CheckedDocument& StandardBelow(const CheckedDocument* library) {
  while (!library->is_library()) library = library->library();
  return *library;
}

}  // namespace

CheckContext::CheckContext(std::unique_ptr<const ast::Document> checked, CheckedKind checked_kind,
                           CheckedAgainst against, Context& caller)
    : out(std::make_unique<CheckedDocument>()),
      tables(out->tables_),
      document(*checked),
      kind(checked_kind),
      dialect(tables.dialect = EnabledDialect(*checked, caller.symbols, against.leniency)),
      standard(against.library != nullptr ? StandardBelow(against.library) : *out),
      libraries(against.libraries),
      outer(caller),
      context(caller, caller.emitter.room()),
      types(*(tables.types = against.types != nullptr ? TypeTable::Over(*against.types)
                                                      : std::make_unique<TypeTable>())),
      error(types.Primitive(TypeKind::kError)),
      integer(types.Primitive(TypeKind::kInteger)),
      scalar(types.Primitive(TypeKind::kScalar)),
      logical(types.Primitive(TypeKind::kLogical)),
      string(types.Primitive(TypeKind::kString)),
      external(caller.symbols.Intern("external")),
      variable(caller.symbols.Intern("variable")),
      update(caller.symbols.Intern("update")) {
  NNEFC_CHECK(caller.symbols.base() == &libraries.base().symbols);
  tables.ast = std::move(checked);
  tables.library = against.library;
  tables.is_library = kind == CheckedKind::kLibrary;
  tables.extensions = std::move(against.extensions);
  tables.signatures.resize(document.fragments.size());
  tables.unsound.resize(document.fragments.size());
  tables.broken.resize(document.fragments.size());
  tables.binding_index.assign(document.exprs.size(), -1);
  tables.expr_types.resize(document.exprs.size());
}

std::unique_ptr<CheckedDocument> CheckContext::Finish() {
  deviations.Report(context.emitter);
  tables.complete = document.complete && !context.emitter.has_errors();
  outer.emitter.Take(std::move(context.emitter));
  return std::move(out);
}

std::string_view CheckContext::SourceText(SourceRange range) const {
  return context.sources.Text(range.file).substr(range.begin, range.end - range.begin);
}

ExprId CheckContext::Inner(ExprId id) const {
  while (const auto* paren = std::get_if<ast::ParenExpr>(&expr(id).node)) id = paren->inner;
  return id;
}

TypeId CheckContext::Bounded(TypeId type, SourceRange range) {
  if (types.WithinBounds(type)) return type;
  Report(kTypeTooLarge, range, "the type has more than {} levels or {} parts", TypeTable::kMaxDepth,
         TypeTable::kMaxSize);
  return error;
}

bool CheckContext::IsStandard(Callee callee, Symbol name) const {
  return callee.document == &standard && SignatureOf(callee).name.symbol == name;
}

std::optional<size_t> PlaceOf(const Signature& signature, const ast::Name& name) {
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    if (signature.parameters[i].name.symbol == name.symbol) return i;
  }
  return std::nullopt;
}

void NoteDeclaration(const CheckContext& check, SourceRange range, const Signature& signature,
                     DiagnosticBuilder& builder) {
  if (check.libraries.FileName(range.file).empty()) {
    builder.Note(range, "declared here");
    return;
  }
  std::string parameters;
  for (const TypedName& parameter : signature.parameters)
    parameters += fmt::format("{}{}", parameters.empty() ? "" : ", ", check.Text(parameter.name.symbol));
  const std::string_view name = check.Text(signature.name.symbol);
  // Plug-ins have names; libraries of nnefc have files.
  const bool is_ours = check.libraries.FileName(range.file).ends_with(".nnef");
  builder.Note({}, "parameters of `{}`: {}{}", name, parameters,
               is_ours ? fmt::format("; see `nnefc explain {}`", name) : "");
}

}  // namespace nnefc::semantics
