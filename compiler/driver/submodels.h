#pragma once

#include <map>
#include <memory>
#include <string>

#include "compiler/package/model.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"

namespace nnefc {

// The documents of models inside a model, which `tract_core_submodel(input, label)`
// calls: read and checked when they are first asked for. A model inside may have
// others inside it.
class Submodels {
 public:
  // All of them must outlive this. What is wrong with a document is emitted to
  // `context`, once.
  Submodels(const ModelContainer& model, const StandardLibrary& library, Leniency leniency, Context& context)
      : model_(model), library_(library), leniency_(leniency), context_(context) {}

  // By the labels that lead there, with slashes between; null if there is none or
  // it is wrong. `place` is where it is asked for.
  const CheckedDocument* Find(const std::string& path, SourceRange place);

 private:
  [[nodiscard]] std::unique_ptr<CheckedDocument> Load(const std::string& path, SourceRange place);

  const ModelContainer& model_;
  const StandardLibrary& library_;
  Leniency leniency_;
  Context& context_;
  std::map<std::string, std::unique_ptr<CheckedDocument>> documents_;  // null: it was told
};

}  // namespace nnefc
