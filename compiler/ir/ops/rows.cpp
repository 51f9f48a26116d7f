#include "compiler/ir/ops/rows.h"

#include "compiler/support/check.h"

namespace nnefc::ir::nnef {

void AddRow(OpRegistry& registry, const Row& row) {
  NNEFC_CHECK(row.infer != nullptr);
  OpInfo info;
  info.set = kNnefSet;
  info.name = row.name;
  info.section = row.section;
  for (std::string_view name : row.inputs) {
    InputInfo input;
    if (name.ends_with('?')) {
      input.optional = true;
      name.remove_suffix(1);
    } else if (name.ends_with("[]")) {
      input.variadic = true;
      name.remove_suffix(2);
    }
    input.name = name;
    info.inputs.push_back(std::move(input));
  }
  for (std::string_view name : row.outputs) info.outputs.emplace_back(name);
  info.infer = row.infer;
  info.is_source = row.is_source;
  info.is_sink = row.is_sink;
  info.role = row.role;
  info.sign = row.sign;
  registry.Add(std::move(info));
}

void AddRows(OpRegistry& registry, std::initializer_list<std::string_view> names, Row row) {
  for (std::string_view name : names) {
    row.name = name;
    AddRow(registry, row);
  }
}

}  // namespace nnefc::ir::nnef
