#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiler/semantics/checked_document.h"
#include "compiler/support/context.h"

namespace nnefc {

// The standard library of a dialect, parsed and checked when it is first asked
// for. Outlives the documents that are checked against it.
class StandardLibrary {
 public:
  explicit StandardLibrary(Context& context);
  // Shared by both dialects' documents and by every document checked against
  // them.
  const std::shared_ptr<TypeTable>& types() const { return types_; }
  const CheckedDocument& Get(ast::Dialect dialect);
  // The operations of the extension NNEFC_control_flow.
  const CheckedDocument& ControlFlow();

 private:
  std::unique_ptr<CheckedDocument> Load(std::string_view name, std::string_view text, ast::Dialect dialect);

  Context& context_;
  std::shared_ptr<TypeTable> types_;
  std::unique_ptr<CheckedDocument> documents_[2];
  std::unique_ptr<CheckedDocument> control_flow_;
};

struct CheckOptions {
  // Chooses one of several graphs by name.
  std::optional<std::string> graph;
};

// Checks names, dialect rules, argument binding and types of a document
// (chapter 3.3 of both specifications). What values decide -
// indices, lengths, branches - is left to expansion.
std::unique_ptr<CheckedDocument> CheckDocument(std::unique_ptr<const ast::Document> document,
                                               StandardLibrary& library, const CheckOptions& options,
                                               Context& context);

}  // namespace nnefc
