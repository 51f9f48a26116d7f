#include "tools/api/openvino_form.h"

#include "compiler/lower/forms.h"
#include "compiler/openvino/write.h"

namespace nnefc::api {

bool RequireOpenVinoForm(Compilation& compilation, bool structure_only) {
  const auto reason = [](const ir::Node& node) -> std::string {
    const lower::MissingForm* form = lower::FindMissingForm(node.type());
    if (form == nullptr) return "";
    return fmt::format("{}{}: {}", form->when.empty() ? "" : " ", form->when, form->reason);
  };
  return CheckWritable(*compilation.lowered(), compilation.context().emitter,
                       {.reason = reason, .structure_only = structure_only});
}

}  // namespace nnefc::api
