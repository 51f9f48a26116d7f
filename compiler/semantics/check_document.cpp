#include "compiler/semantics/check_document.h"

#include <cstdio>
#include <utility>

#include "compiler/semantics/checker.h"
#include "compiler/syntax/parse.h"
#include "stdlib/stdlib.h"

namespace nnefc {

Callee CheckedDocument::Find(Symbol name) const {
  auto found = by_name_.find(name);
  if (found != by_name_.end()) return {this, found->second};
  Callee callee = library_ != nullptr ? library_->Find(name) : Callee();
  if (!callee.valid() && control_flow_ != nullptr) callee = control_flow_->Find(name);
  return callee;
}

const Binding* CheckedDocument::binding(ast::ExprId invocation) const {
  const int32_t index = binding_index_[static_cast<size_t>(invocation.index)];
  return index >= 0 ? &bindings_[static_cast<size_t>(index)] : nullptr;
}

StandardLibrary::StandardLibrary()
    : control_flow_{.file = base_.sources.AddText("<extension NNEFC_control_flow>",
                                                  std::string(ControlFlowLibraryText())),
                    .dialect = ast::Dialect::kRatified,
                    .before = nullptr},
      ratified_{
          .file = base_.sources.AddText("<ratified standard library>", std::string(RatifiedLibraryText())),
          .dialect = ast::Dialect::kRatified,
          .before = &control_flow_},
      provisional_{.file = base_.sources.AddText("<provisional standard library>",
                                                 std::string(ProvisionalLibraryText())),
                   .dialect = ast::Dialect::kProvisional,
                   .before = &ratified_} {
  for (std::string_view word : LibraryWords()) base_.symbols.Intern(word);
}

StandardLibrary::~StandardLibrary() = default;

const StandardLibrary& StandardLibrary::Shared() {
  static const StandardLibrary* library = new StandardLibrary();  // threads may use it to the end
  return *library;
}

const CheckedDocument& StandardLibrary::Load(const Part& part) const {
  std::call_once(part.once, [&] {
    Context context(base_);
    std::unique_ptr<const ast::Document> parsed =
        ParseDocument(part.file, {.dialect = part.dialect, .kind = DocumentKind::kLibrary}, context);
    const TypeTable* types = part.before != nullptr ? &Load(*part.before).types() : nullptr;
    part.document =
        Checker(std::move(parsed), CheckedKind::kLibrary, nullptr, types, *this, context).CheckLibrary();
    // Whatever is wrong with the library is no mistake of the user's.
    const std::vector<Diagnostic>& ours = context.emitter.diagnostics();
    if (!ours.empty()) std::fputs(RenderText(ours, context.sources, {}).c_str(), stderr);
    NNEFC_CHECK(ours.empty());
    NNEFC_CHECK(context.symbols.size() == base_.symbols.size());  // or its ids would mean nothing elsewhere
  });
  return *part.document;
}

const CheckedDocument& StandardLibrary::Get(ast::Dialect dialect) const {
  return Load(dialect == ast::Dialect::kRatified ? ratified_ : provisional_);
}

const CheckedDocument& StandardLibrary::ControlFlow() const {
  return Load(control_flow_);
}

std::unique_ptr<CheckedDocument> CheckDocument(std::unique_ptr<const ast::Document> document,
                                               const StandardLibrary& library, const CheckOptions& options,
                                               Context& context) {
  const CheckedDocument& standard = library.Get(document->dialect);
  return Checker(std::move(document), CheckedKind::kModel, &standard, &standard.types(), library, context)
      .CheckModel(options);
}

}  // namespace nnefc
