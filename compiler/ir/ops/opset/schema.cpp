#include "compiler/ir/ops/opset/schema.h"

#include "compiler/ir/ops/opset/register.h"
#include "fmt/format.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::ir {

const AttributeInfo* OpRow::Find(std::string_view attribute) const {
  for (const AttributeInfo& info : attributes) {
    if (info.name == attribute) return &info;
  }
  return nullptr;
}

namespace {

bool ConsumeSuffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

}  // namespace

OpRow MakeRow(const OpRowSpec& spec) {
  OpRow row;
  row.info.set = spec.set;
  row.info.name = spec.name;
  row.info.section = fmt::format("{}, {}", spec.set, spec.name);
  for (std::string_view input : spec.inputs) {
    const bool variadic = ConsumeSuffix(input, "[]");
    const bool optional = ConsumeSuffix(input, "?");
    row.info.inputs.push_back({.name = std::string(input), .variadic = variadic, .optional = optional});
  }
  for (std::string_view output : spec.outputs) row.info.outputs.emplace_back(output);
  row.info.infer = spec.infer;
  row.info.is_source = spec.is_source;
  row.info.is_sink = spec.is_sink;
  row.attributes = spec.attributes;
  return row;
}

namespace {

using RowTable = std::vector<OpRow>;

RowTable AllRows() {
  RowTable rows;
  for (auto family :
       {CoreRows,     ElementwiseRows, ActivationRows,  ConvolutionRows, PoolingRows,       ResamplingRows,
        MatmulRows,   ReduceRows,      ShapeOpsRows,    SectionRows,     SlicingRows,       IndexingRows,
        GatherNdRows, CountingRows,    RearrangingRows, AttentionRows,   NormalizationRows, QuantizationRows,
        RoiRows,      RecurrentRows,   ControlFlowRows}) {
    for (OpRow& row : family()) rows.push_back(std::move(row));
  }
  return rows;
}

const RowTable& Rows() {
  static const RowTable rows = AllRows();
  return rows;
}

llvm::StringMap<const OpRow*> IndexRows() {
  llvm::StringMap<const OpRow*> index;
  for (const OpRow& row : Rows()) index[fmt::format("{}.{}", row.info.set, row.info.name)] = &row;
  return index;
}

}  // namespace

llvm::ArrayRef<OpRow> AllOpRows() {
  return Rows();
}

const OpRow* FindOpRow(std::string_view set, std::string_view name) {
  static const llvm::StringMap<const OpRow*> index = IndexRows();
  auto entry = index.find(fmt::format("{}.{}", set, name));
  return entry == index.end() ? nullptr : entry->second;
}

void RegisterOpsets(OpRegistry& registry) {
  for (const OpRow& row : Rows()) registry.Add(row.info);
}

}  // namespace nnefc::ir
