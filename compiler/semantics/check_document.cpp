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
  return library_ != nullptr ? library_->Find(name) : Callee();
}

const Binding* CheckedDocument::binding(ast::ExprId invocation) const {
  const int32_t index = binding_index_[static_cast<size_t>(invocation.index)];
  return index >= 0 ? &bindings_[static_cast<size_t>(index)] : nullptr;
}

StandardLibrary::StandardLibrary(Context& context)
    : context_(context), types_(std::make_shared<TypeTable>()) {}

const CheckedDocument& StandardLibrary::Get(ast::Dialect dialect) {
  std::unique_ptr<CheckedDocument>& document = documents_[static_cast<size_t>(dialect)];
  if (document != nullptr) return *document;
  const bool is_ratified = dialect == ast::Dialect::kRatified;
  const FileId file =
      context_.sources.AddText(is_ratified ? "<ratified standard library>" : "<provisional standard library>",
                               std::string(is_ratified ? RatifiedLibraryText() : ProvisionalLibraryText()));
  // With an emitter and limits of its own: whatever is wrong with the library is
  // no mistake of the user's.
  Emitter users = std::exchange(context_.emitter, Emitter());
  const Limits limits = std::exchange(context_.limits, Limits());
  std::unique_ptr<const ast::Document> parsed =
      ParseDocument(file, {.dialect = dialect, .kind = DocumentKind::kLibrary}, context_);
  document = Checker(std::move(parsed), CheckedKind::kLibrary, nullptr, *this, context_).CheckLibrary();
  const Emitter ours = std::exchange(context_.emitter, std::move(users));
  context_.limits = limits;
  if (!ours.diagnostics().empty()) {
    std::fputs(RenderText(ours.diagnostics(), context_.sources, {}).c_str(), stderr);
  }
  NNEFC_CHECK(ours.diagnostics().empty());
  return *document;
}

std::unique_ptr<CheckedDocument> CheckDocument(std::unique_ptr<const ast::Document> document,
                                               StandardLibrary& library, const CheckOptions& options,
                                               Context& context) {
  const CheckedDocument& standard = library.Get(document->dialect);
  return Checker(std::move(document), CheckedKind::kModel, &standard, library, context).CheckModel(options);
}

}  // namespace nnefc
