#include "tools/api/facts/operation_list.h"

#include "compiler/explain/operation_pages.h"
#include "compiler/ir/ops/opset/register.h"
#include "compiler/lower/forms.h"
#include "runtime/kernels/registry.h"

namespace nnefc::api {

std::optional<MissingForm> FindMissingForm(std::string_view operation) {
  const lower::MissingForm* form = lower::FindMissingForm(operation);
  if (form == nullptr) return std::nullopt;
  return MissingForm{.when = form->when, .reason = form->reason};
}

std::vector<DocumentOperation> DocumentOperations() {
  const ir::OpRegistry& registry = ir::StandardOps();
  std::vector<DocumentOperation> operations;
  for (size_t i = 0; i < registry.size(); ++i) {
    const ir::OpInfo& row = registry.Info(ir::OpId(static_cast<int32_t>(i)));
    if (row.set != ir::kNnefSet || !row.section.starts_with("R ")) continue;
    operations.push_back(
        {.name = row.name, .section = row.section, .missing_form = FindMissingForm(row.name)});
    NNEFC_CHECK(operations.back().missing_form || lower::HasLowering(row.name));
  }
  for (const explain::ExtensionOperation& each : explain::ExtensionOperations()) {
    if (each.extension == "NNEFC_opset") continue;  // OpsetOperations lists these
    operations.push_back(
        {.name = each.name, .section = std::string(each.extension), .missing_form = std::nullopt});
  }
  return operations;
}

std::vector<OpsetOperation> OpsetOperations() {
  using runtime::kernels::Backend;
  runtime::kernels::KernelRegistry kernels;
  runtime::kernels::RegisterReferenceKernels(kernels);
  ir::OpRegistry registry;
  ir::ops::opset::RegisterOpsets(registry);
  std::vector<OpsetOperation> operations;
  for (size_t i = 0; i < registry.size(); ++i) {
    const ir::OpInfo& row = registry.Info(ir::OpId(static_cast<int32_t>(i)));
    operations.push_back({.set = row.set,
                          .name = row.name,
                          .has_kernel = kernels.Find(Backend::kReference, row.set, row.name) != nullptr});
  }
  return operations;
}

}  // namespace nnefc::api
