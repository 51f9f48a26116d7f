#include "tests/differential/descriptions.h"

#include "compiler/ir/algorithms/random.h"
#include "compiler/ir/ops/opset/register.h"

namespace nnefc::differential {

namespace {

// Returns the rows that `wanted` accepts, without sources and sinks.
template <typename Wanted>
std::vector<OperationDescription> DescribeRows(const ir::OpRegistry& registry, Wanted wanted) {
  std::vector<OperationDescription> operations;
  for (size_t i = 0; i < registry.size(); ++i) {
    const ir::OpInfo& row = registry.Info(ir::OpId(static_cast<int32_t>(i)));
    if (row.is_source || row.is_sink || !wanted(row)) continue;
    OperationDescription operation{
        .set = row.set, .name = row.name, .inputs = row.inputs, .attributes = row.attributes};
    operation.outputs = static_cast<int>(row.outputs.size());
    operation.variadic_outputs = !row.outputs.empty() && row.outputs.back().ends_with("[]");
    if (row.is_generic) {
      operation.attributes.push_back(
          {.name = "dtype", .kind = ir::AttributeKind::kString, .choices = {"scalar", "integer", "logical"}});
    }
    operations.push_back(std::move(operation));
  }
  return operations;
}

}  // namespace

std::vector<OperationDescription> DescribeOpsets() {
  ir::OpRegistry registry;
  ir::ops::opset::RegisterOpsets(registry);
  return DescribeRows(registry, [](const ir::OpInfo& row) { return !ir::DrawsRandomNumbers(row); });
}

std::vector<OperationDescription> DescribeNnef(const ir::OpRegistry& registry) {
  std::vector<OperationDescription> operations = DescribeRows(registry, [](const ir::OpInfo& row) {
    return row.set == ir::kNnefSet &&
           row.section.starts_with("R ");  // no operation of an extension, which have bodies
  });
  // Expansion passes a tensor with a default like any other.
  for (OperationDescription& operation : operations) {
    for (ir::InputInfo& input : operation.inputs) input.optional = false;
  }
  return operations;
}

}  // namespace nnefc::differential
