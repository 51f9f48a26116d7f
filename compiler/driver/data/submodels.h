#pragma once

#include <map>
#include <memory>
#include <string>

#include "compiler/package/model.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"

namespace nnefc::driver {

// The documents of sub-models, referenced by `tract_core_submodel(input, label)`. Each is read and checked at
// its first use. Sub-models may be nested.
class Submodels {
 public:
  // All arguments must outlive this object. Errors of a document are emitted to `context`, once.
  Submodels(const package::ModelContainer& model, const semantics::StandardLibrary& library,
            semantics::Leniency leniency, Context& context)
      : model_(model), library_(library), leniency_(leniency), context_(context) {}

  // Finds a document by the path of labels, separated by slashes. Returns null if it is missing or invalid.
  // `place` is the source range of the reference.
  const semantics::CheckedDocument* Find(const std::string& path, SourceRange place);

 private:
  [[nodiscard]] std::unique_ptr<semantics::CheckedDocument> Load(const std::string& path, SourceRange place);

  const package::ModelContainer& model_;
  const semantics::StandardLibrary& library_;
  semantics::Leniency leniency_;
  Context& context_;
  std::map<std::string, std::unique_ptr<semantics::CheckedDocument>>
      documents_;  // null after a reported error
};

}  // namespace nnefc::driver
