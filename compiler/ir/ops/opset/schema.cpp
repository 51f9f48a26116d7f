// Rows of OpenVINO operations: their notation.

#include "compiler/ir/ops/opset/schema.h"

#include <algorithm>

#include "fmt/core.h"
#include "llvm/ADT/StringExtras.h"

namespace nnefc::ir::ops::opset {

namespace {

struct TypeClassWord {
  std::string_view word;
  TypeClass types;
};
constexpr TypeClassWord kTypeClassWords[] = {
    {"number", TypeClass::kNumber}, {"float", TypeClass::kFloat},     {"integer", TypeClass::kInteger},
    {"index", TypeClass::kIndex},   {"boolean", TypeClass::kBoolean}, {"bits", TypeClass::kBits},
};

// Parses "2", "0..1" or "2..".
void ReadRanks(llvm::StringRef text, InputInfo& rule) {
  const auto [low, high] = text.split("..");
  NNEFC_CHECK(!low.getAsInteger(10, rule.lowest_rank));
  if (low.size() == text.size()) {
    rule.highest_rank = rule.lowest_rank;
  } else if (!high.empty()) {
    NNEFC_CHECK(!high.getAsInteger(10, rule.highest_rank));
  }
}

InputInfo ReadInput(llvm::StringRef text) {
  auto [name, rule] = text.split(": ");
  InputInfo input;
  input.variadic = name.consume_back("[]");
  input.optional = name.consume_back("?");
  input.name = name.str();
  llvm::SmallVector<llvm::StringRef, 3> words;
  llvm::SplitString(rule, words, " ");
  for (llvm::StringRef word : words) {
    const auto* found =
        std::find_if(std::begin(kTypeClassWords), std::end(kTypeClassWords),
                     [&](const TypeClassWord& entry) { return std::string_view(word) == entry.word; });
    if (found != std::end(kTypeClassWords)) {
      input.types = found->types;
    } else if (word == "one") {
      input.one_element = true;
    } else {
      ReadRanks(word, input);
    }
  }
  return input;
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
          {std::string(kPdpdAxis), AttributeKind::kInt, 0, {}, true}};
}

AttributeInfo OnEachAxis(std::string_view name, int64_t value) {
  return {.name = std::string(name),
          .kind = AttributeKind::kInts,
          .fallback = Attribute::Integers{},
          .each_axis = value};
}

double Elements(llvm::ArrayRef<int64_t> shape) {
  double count = 1;
  for (int64_t extent : shape) count *= static_cast<double>(extent);
  return count;
}

OpInfo MakeRow(const OpRowSpec& spec) {
  OpInfo row{.set = std::string(spec.set),
             .name = std::string(spec.name),
             .section = fmt::format("{}, {}", spec.set, spec.name),
             .inputs = {},
             .outputs = {spec.outputs.begin(), spec.outputs.end()},
             .infer = spec.infer,
             .is_source = spec.is_source,
             .is_sink = spec.is_sink,
             .is_elementwise = spec.is_elementwise,
             .role = spec.role,
             .function = spec.function,
             .work = spec.work,
             .products = spec.products,
             .contraction = spec.contraction,
             .pooling = spec.pooling,
             .rearrangement = spec.rearrangement,
             .quantizer = spec.quantizer,
             .function_cost = spec.function_cost,
             .is_batch_normalization = spec.is_batch_normalization,
             .attributes = spec.attributes,
             .implied = spec.implied};
  for (std::string_view input : spec.inputs)
    row.inputs.push_back(ReadInput(llvm::StringRef(input.data(), input.size())));
  return row;
}

}  // namespace nnefc::ir::ops::opset
