// Models in the form of OpenVINO IR.

#include "tools/api/forms/openvino_form.h"

#include "compiler/lower/forms.h"
#include "compiler/openvino/write.h"

namespace nnefc::api {

std::shared_ptr<const ir::Graph> OpenVinoFormOf(driver::Compilation& compilation, bool structure_only) {
  const auto reason = [](const ir::Node& node) -> std::string {
    const lower::MissingForm* form = lower::FindMissingForm(node.type());
    if (form == nullptr) return "";
    return fmt::format("{}{}: {}", form->when.empty() ? "" : " ", form->when, form->reason);
  };
  std::shared_ptr<const ir::Graph> graph = compilation.MakeOpenVinoForm();
  const bool ok =
      graph != nullptr && openvino::CheckWritable(*graph, compilation.context().emitter,
                                                  {.reason = reason, .structure_only = structure_only});
  return ok ? graph : nullptr;
}

}  // namespace nnefc::api
