#include "compiler/ir/ops/opset/schema.h"

#include <algorithm>

#include "compiler/ir/ops/opset/register.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
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

struct TypeClassWord {
  std::string_view word;
  TypeClass types;
};
constexpr TypeClassWord kTypeClassWords[] = {
    {"number", TypeClass::kNumber}, {"float", TypeClass::kFloat},     {"integer", TypeClass::kInteger},
    {"index", TypeClass::kIndex},   {"boolean", TypeClass::kBoolean}, {"bits", TypeClass::kBits},
};

// Reads "2", "0..1" or "2..".
void ReadRanks(llvm::StringRef text, InputRule& rule) {
  const auto [low, high] = text.split("..");
  NNEFC_CHECK(!low.getAsInteger(10, rule.lowest_rank));
  if (low.size() == text.size()) {
    rule.highest_rank = rule.lowest_rank;
  } else if (!high.empty()) {
    NNEFC_CHECK(!high.getAsInteger(10, rule.highest_rank));
  }
}

InputInfo ReadInput(std::string_view name) {
  const bool variadic = ConsumeSuffix(name, "[]");
  const bool optional = ConsumeSuffix(name, "?");
  return {.name = std::string(name), .variadic = variadic, .optional = optional};
}

InputRule ReadRule(llvm::StringRef text) {
  InputRule rule;
  llvm::SmallVector<llvm::StringRef, 3> words;
  llvm::SplitString(text, words, " ");
  for (llvm::StringRef word : words) {
    const auto* found =
        std::find_if(std::begin(kTypeClassWords), std::end(kTypeClassWords),
                     [&](const TypeClassWord& entry) { return std::string_view(word) == entry.word; });
    if (found != std::end(kTypeClassWords)) {
      rule.types = found->types;
    } else if (word == "one") {
      rule.one_element = true;
    } else {
      ReadRanks(word, rule);
    }
  }
  return rule;
}

}  // namespace

AttributeInfo Positive(AttributeInfo info) {
  info.range = AttributeRange::kPositive;
  return info;
}

AttributeInfo NonNegative(AttributeInfo info) {
  info.range = AttributeRange::kNonNegative;
  return info;
}

std::vector<AttributeInfo> BroadcastAttributes() {
  return {{"auto_broadcast", AttributeKind::kString, "numpy", {"none", "numpy", "pdpd"}},
          {kPdpdAxis, AttributeKind::kInt, 0, {}, true}};
}

OpRow MakeRow(const OpRowSpec& spec) {
  OpRow row;
  row.info.set = spec.set;
  row.info.name = spec.name;
  row.info.section = fmt::format("{}, {}", spec.set, spec.name);
  for (std::string_view input : spec.inputs) {
    const auto [name, rule] = llvm::StringRef(input.data(), input.size()).split(": ");
    row.info.inputs.push_back(ReadInput({name.data(), name.size()}));
    row.rules.push_back(ReadRule(rule));
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
