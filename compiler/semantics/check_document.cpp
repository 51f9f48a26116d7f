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

StandardLibrary::StandardLibrary(Context& context)
    : context_(context), types_(std::make_shared<TypeTable>()) {}

std::unique_ptr<CheckedDocument> StandardLibrary::Load(std::string_view name, std::string_view text,
                                                       ast::Dialect dialect) {
  const FileId file = context_.sources.AddText(std::string(name), std::string(text));
  // With an emitter and limits of its own: whatever is wrong with the library is
  // no mistake of the user's.
  Emitter users = std::exchange(context_.emitter, Emitter());
  const Limits limits = std::exchange(context_.limits, Limits());
  std::unique_ptr<const ast::Document> parsed =
      ParseDocument(file, {.dialect = dialect, .kind = DocumentKind::kLibrary}, context_);
  std::unique_ptr<CheckedDocument> document =
      Checker(std::move(parsed), CheckedKind::kLibrary, nullptr, *this, context_).CheckLibrary();
  const Emitter ours = std::exchange(context_.emitter, std::move(users));
  context_.limits = limits;
  if (!ours.diagnostics().empty()) {
    std::fputs(RenderText(ours.diagnostics(), context_.sources, {}).c_str(), stderr);
  }
  NNEFC_CHECK(ours.diagnostics().empty());
  return document;
}

const CheckedDocument& StandardLibrary::Get(ast::Dialect dialect) {
  std::unique_ptr<CheckedDocument>& document = documents_[static_cast<size_t>(dialect)];
  if (document == nullptr) {
    document = dialect == ast::Dialect::kRatified
                   ? Load("<ratified standard library>", RatifiedLibraryText(), dialect)
                   : Load("<provisional standard library>", ProvisionalLibraryText(), dialect);
  }
  return *document;
}

const CheckedDocument& StandardLibrary::ControlFlow() {
  if (control_flow_ == nullptr) {
    control_flow_ = Load("<extension NNEFC_control_flow>", ControlFlowLibraryText(), ast::Dialect::kRatified);
  }
  return *control_flow_;
}

std::unique_ptr<CheckedDocument> CheckDocument(std::unique_ptr<const ast::Document> document,
                                               StandardLibrary& library, const CheckOptions& options,
                                               Context& context) {
  const CheckedDocument& standard = library.Get(document->dialect);
  return Checker(std::move(document), CheckedKind::kModel, &standard, library, context).CheckModel(options);
}

}  // namespace nnefc
