// The entry point of the checker, the standard libraries, and the checked document.

#include "compiler/semantics/check_document.h"

#include <cstdio>
#include <utility>

#include "compiler/semantics/check_context.h"
#include "compiler/semantics/checks/documents.h"
#include "compiler/semantics/extensions.h"
#include "compiler/syntax/parse.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"
#include "stdlib/stdlib.h"

namespace nnefc::semantics {

Callee CheckedDocument::FindOwn(Symbol name) const {
  auto found = tables_.by_name.find(name);
  return found != tables_.by_name.end() ? Callee{this, found->second} : Callee();
}

Callee CheckedDocument::Find(Symbol name) const {
  Callee callee = FindOwn(name);
  if (callee.valid()) return callee;
  callee = tables_.library != nullptr ? tables_.library->Find(name) : Callee();
  for (size_t i = 0; i < tables_.extensions.size() && !callee.valid(); ++i) {
    if (tables_.extensions[i].is_enabled) callee = tables_.extensions[i].library->FindOwn(name);
  }
  return callee;
}

bool CheckedDocument::may_run_bodies() const {
  return llvm::any_of(tables_.extensions, [](const ExtensionLibrary& extension) {
    return extension.is_enabled && llvm::any_of(extension.library->tables_.signatures,
                                                [](const Signature& each) { return each.runs_bodies; });
  });
}

const Binding* CheckedDocument::binding(ast::ExprId invocation) const {
  const int32_t index = tables_.binding_index[static_cast<size_t>(invocation.index)];
  return index >= 0 ? &tables_.bindings[static_cast<size_t>(index)] : nullptr;
}

StandardLibrary::StandardLibrary(const std::vector<AddedLibrary>& added)
    : texts_(added.begin(), added.end()),
      ratified_(Add("<ratified standard library>", stdlib::RatifiedLibraryText(),
                    {.dialect = ast::Dialect::kRatified, .file_name = "ratified.nnef"})),
      provisional_(Add(
          "<provisional standard library>", stdlib::ProvisionalLibraryText(),
          {.dialect = ast::Dialect::kProvisional, .before = ratified_, .file_name = "provisional.nnef"})) {
  for (const Extension& extension : Extensions()) {
    if (extension.library != nullptr) with_library_.push_back(&extension);
  }
  for (const AddedLibrary& library : texts_) {
    with_library_.push_back(&added_.emplace_back(Extension{.name = library.name,
                                                           .activation = Activation::kImplicit,
                                                           .file = library.name,
                                                           .text = library.text}));
  }
  const Part* last[] = {ratified_, provisional_};
  for (const Extension* extension : with_library_) {
    const Part*& before = last[extension->dialect == ast::Dialect::kRatified ? 0 : 1];
    before = AddExtension(*extension, before);
  }
  base_.symbols.Intern("");  // a default
  for (std::string_view word : stdlib::LibraryWords()) base_.symbols.Intern(word);
  for (const AddedLibrary& library : texts_) {
    for (const std::string& word : CheckAddedLibrary(library).words) base_.symbols.Intern(word);
  }
}

// `before` is the last library of its dialect.
const StandardLibrary::Part* StandardLibrary::AddExtension(const Extension& extension, const Part* before) {
  const std::string_view kind = extension.activation == Activation::kLine ? "extension " : "";
  const Part* part = Add(fmt::format("<{}{}>", kind, extension.name),
                         extension.library != nullptr ? extension.library() : extension.text,
                         {.dialect = extension.dialect,
                          .before = before,
                          .standard = extension.dialect == ast::Dialect::kRatified ? ratified_ : provisional_,
                          .brought = BroughtBy(extension),
                          .file_name = extension.file});
  extensions_[&extension] = part;
  return part;
}

// Returns the extension that a lenient extension enables too, if it is a different one and already added.
const Extension* StandardLibrary::BroughtBy(const Extension& extension) const {
  if (!extension.is_lenient || extension.comes_along) return nullptr;
  for (const auto& [known, part] : extensions_) {
    if (known->comes_along) return known;
  }
  return nullptr;
}

AddedLibraryReport CheckAddedLibrary(const AddedLibrary& library) {
  const StandardLibrary& known = StandardLibrary::Shared();
  const CheckedDocument& standard = known.Get(ast::Dialect::kRatified);
  Context context(known.base());
  const FileId file = context.sources.AddText(library.name, library.text);
  auto parsed = ast::ParseDocument(
      file, {.dialect = ast::Dialect::kRatified, .kind = ast::DocumentKind::kLibrary}, context);
  CheckContext check(std::move(parsed), CheckedKind::kLibrary, {known, &standard, &standard.types()},
                     context);
  const auto document = checks::CheckLibrary(check);
  AddedLibraryReport report;
  for (const ast::Fragment& fragment : document->ast().fragments) {
    if (!fragment.name.symbol.valid()) continue;
    report.fragments.emplace_back(context.symbols.Text(fragment.name.symbol));
  }
  for (size_t i = known.base().symbols.size(); i < context.symbols.size(); ++i)
    report.words.emplace_back(context.symbols.Text(Symbol(static_cast<int32_t>(i))));
  if (context.emitter.diagnostics().empty()) return report;
  const Diagnostic& first = context.emitter.diagnostics().front();
  const LineColumn place = context.sources.Position({first.range.file, first.range.begin});
  report.mistake = fmt::format("{}:{}: {} [{}]", place.line, place.column, first.message, first.rule->label);
  return report;
}

const StandardLibrary::Part* StandardLibrary::Add(std::string_view name, std::string_view text, Part part) {
  const FileId file = base_.sources.AddText(std::string(name), std::string(text));
  return &parts_.emplace_back(file, part.dialect, part.before, part.standard, part.brought, part.file_name);
}

std::string_view StandardLibrary::FileName(FileId file) const {
  const auto part = llvm::find_if(parts_, [&](const Part& each) { return each.file == file; });
  return part != parts_.end() ? part->file_name : std::string_view();
}

std::string_view StandardLibrary::Text(std::string_view file_name) const {
  const auto part = llvm::find_if(parts_, [&](const Part& each) { return each.file_name == file_name; });
  return part != parts_.end() ? base_.sources.Text(part->file) : std::string_view();
}

StandardLibrary::~StandardLibrary() = default;

const StandardLibrary& StandardLibrary::Shared() {
  static const StandardLibrary* library = new StandardLibrary();  // never destroyed: threads may use it
  return *library;
}

const CheckedDocument& StandardLibrary::Load(const Part& part) const {
  std::call_once(part.once, [&] {
    Context context(base_);
    std::unique_ptr<const ast::Document> parsed = ast::ParseDocument(
        part.file, {.dialect = part.dialect, .kind = ast::DocumentKind::kLibrary}, context);
    const TypeTable* types = part.before != nullptr ? &Load(*part.before).types() : nullptr;
    const CheckedDocument* standard = part.standard != nullptr ? &Load(*part.standard) : nullptr;
    llvm::SmallVector<ExtensionLibrary, 1> brought;
    if (part.brought != nullptr) brought.push_back({part.brought, &Get(*part.brought), true});
    CheckContext check(std::move(parsed), CheckedKind::kLibrary, {*this, standard, types, std::move(brought)},
                       context);
    part.document = checks::CheckLibrary(check);
    // An error in a library is an internal error.
    const std::vector<Diagnostic>& ours = context.emitter.diagnostics();
    if (!ours.empty()) std::fputs(RenderText(ours, context.sources, {}).c_str(), stderr);
    NNEFC_CHECK(ours.empty());
    NNEFC_CHECK(context.symbols.size() == base_.symbols.size());  // ids must be valid in other contexts
  });
  return *part.document;
}

const CheckedDocument& StandardLibrary::Get(const ast::Dialect& dialect) const {
  return Load(dialect == ast::Dialect::kRatified ? *ratified_ : *provisional_);
}

const CheckedDocument& StandardLibrary::Get(const Extension& extension) const {
  const auto part = extensions_.find(&extension);
  NNEFC_CHECK(part != extensions_.end());
  return Load(*part->second);
}

ExtensionCallee StandardLibrary::FindOperation(Symbol name) const {
  const Callee standard = Get(ast::Dialect::kRatified).FindOwn(name);
  if (standard.valid()) return {standard};
  for (const Extension* extension : with_library_) {
    if (extension->dialect != ast::Dialect::kRatified) continue;
    const Callee callee = Get(*extension).FindOwn(name);
    if (callee.valid()) return {callee, extension};
  }
  return {};
}

namespace {

// Collects the invoked fragments that neither the document nor `standard` has; returns true if there are any.
bool InvokesUnknown(const ast::Document& document, const CheckedDocument& standard,
                    llvm::DenseSet<Symbol>& unknown) {
  llvm::DenseSet<Symbol> known;
  for (const ast::Fragment& fragment : document.fragments) {
    if (fragment.name.symbol.valid()) known.insert(fragment.name.symbol);
  }
  for (const ast::Expr& expr : document.exprs) {
    const auto* invocation = ast::Find<ast::InvocationExpr>(expr.node);
    if (invocation == nullptr || !invocation->callee.symbol.valid()) continue;
    if (!known.insert(invocation->callee.symbol).second) continue;
    if (!standard.FindOwn(invocation->callee.symbol).valid()) unknown.insert(invocation->callee.symbol);
  }
  return !unknown.empty();
}

// Returns the libraries of the extensions that the document enables, and of those whose fragments it invokes
// without enabling them.
llvm::SmallVector<ExtensionLibrary, 1> ExtensionsOf(const ast::Document& document,
                                                    const CheckedDocument& standard,
                                                    const StandardLibrary& library, const Context& context) {
  llvm::SmallVector<ExtensionLibrary, 1> found;
  llvm::DenseSet<Symbol> unknown;
  const bool invokes_unknown = InvokesUnknown(document, standard, unknown);
  const std::vector<ExtensionUse> uses = ExtensionsIn(document, context.symbols);
  for (const Extension* extension : library.extensions()) {
    if (extension->dialect != document.dialect) continue;
    const bool is_named = extension->activation == Activation::kLine && Enables(uses, *extension);
    if (!is_named && !invokes_unknown) continue;
    const CheckedDocument& declares = library.Get(*extension);
    const bool is_invoked =
        llvm::any_of(unknown, [&](Symbol name) { return declares.FindOwn(name).valid(); });
    if (!is_named && !is_invoked) continue;
    found.push_back({extension, &declares, is_named || extension->activation == Activation::kImplicit});
  }
  return found;
}

}  // namespace

std::unique_ptr<CheckedDocument> CheckDocument(std::unique_ptr<const ast::Document> document,
                                               const StandardLibrary& library, const CheckOptions& options,
                                               Context& context) {
  const CheckedDocument& standard = library.Get(document->dialect);
  auto extensions = ExtensionsOf(*document, standard, library, context);
  const TypeTable& types = extensions.empty() ? standard.types() : extensions.back().library->types();
  CheckContext check(std::move(document), CheckedKind::kModel,
                     {library, &standard, &types, std::move(extensions), options.leniency}, context);
  return checks::CheckModel(check, options);
}

}  // namespace nnefc::semantics
