// The documents of sub-models, referenced by `tract_core_submodel` and read at their first use.

#include "compiler/driver/data/submodels.h"

#include "compiler/driver/data/resources.h"
#include "compiler/driver/rules.h"
#include "compiler/package/data_source.h"
#include "compiler/syntax/parse.h"

namespace nnefc::driver {

const semantics::CheckedDocument* Submodels::Find(const std::string& path, SourceRange place) {
  const auto [document, is_new] = documents_.try_emplace(path);
  if (is_new) document->second = Load(path, place);
  return document->second.get();
}

std::unique_ptr<semantics::CheckedDocument> Submodels::Load(const std::string& path, SourceRange place) {
  if (!model_.HasSubmodel(path)) {
    context_.emitter.Emit(kSubmodelMissing, place,
                          "the model `{}` has neither a folder `{}` with a `graph.nnef` nor a `{}.nnef.tgz`",
                          model_.name(), package::ShownText(path), package::ShownText(path));
    return nullptr;
  }
  const std::optional<FileId> text = model_.OpenSubmodel(path, context_.emitter);
  if (!text) return nullptr;
  std::unique_ptr<ast::Document> parsed = ast::ParseDocument(*text, {}, context_);
  const bool is_whole = ReplaceResources(*parsed, model_, path, context_) && parsed->complete;
  auto document = semantics::CheckDocument(std::move(parsed), library_, {.leniency = leniency_}, context_);
  return is_whole && document->complete() ? std::move(document) : nullptr;
}

}  // namespace nnefc::driver
