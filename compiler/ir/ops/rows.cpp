// Conversion of rows of NNEF operations, with their declarations, to registry entries.

#include "compiler/ir/ops/rows.h"

#include <charconv>

#include "compiler/support/check.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "stdlib/declarations.h"

namespace nnefc::ir::ops {

namespace {

InputInfo InputOf(const stdlib::DeclaredValue& parameter) {
  llvm::StringRef type(parameter.type.data(), parameter.type.size());
  InputInfo input{.name = std::string(parameter.name), .optional = !parameter.fallback.empty()};
  input.variadic = type.consume_back("[]");
  input.generic = type == "tensor<?>";
  if (type == "tensor<scalar>") input.types = TypeClass::kFloat;
  if (type == "tensor<integer>") input.types = TypeClass::kInteger;
  if (type == "tensor<logical>") input.types = TypeClass::kBoolean;
  return input;
}

AttributeKind KindOf(std::string_view type) {
  static constexpr std::pair<std::string_view, AttributeKind> kKinds[] = {
      {"integer", AttributeKind::kInt},      {"scalar", AttributeKind::kDouble},
      {"logical", AttributeKind::kBool},     {"string", AttributeKind::kString},
      {"integer[]", AttributeKind::kInts},   {"(integer,integer)[]", AttributeKind::kPairs},
      {"scalar[]", AttributeKind::kDoubles}, {"?[]", AttributeKind::kGeneric}};
  for (const auto& [name, kind] : kKinds) {
    if (name == type) return kind;
  }
  NNEFC_CHECK(false);
  return AttributeKind::kInt;
}

template <typename T>
T Number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  NNEFC_CHECK(error == std::errc() && end == text.data() + text.size());
  return value;
}

Attribute::Integers Integers(std::string_view items) {
  Attribute::Integers list;
  while (!items.empty()) {
    const size_t comma = std::min(items.find(','), items.size());
    list.push_back(Number<int64_t>(items.substr(0, comma)));
    items.remove_prefix(std::min(comma + 1, items.size()));
  }
  return list;
}

// Parses the default of an attribute: a literal of the declaration.
Attribute FallbackOf(std::string_view literal, AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return literal == "true";
    case AttributeKind::kInt:
      return Number<int64_t>(literal);
    case AttributeKind::kDouble:
      return Number<double>(literal);
    case AttributeKind::kString:
      return literal.substr(1, literal.size() - 2);
    case AttributeKind::kInts:
      if (literal != "[]") return Integers(literal.substr(1, literal.size() - 2));
      break;
    default:
      NNEFC_CHECK(literal == "[]");
  }
  return Attribute();
}

AttributeInfo AttributeOf(const stdlib::DeclaredValue& parameter) {
  AttributeInfo attribute{.name = std::string(parameter.name), .kind = KindOf(parameter.type)};
  if (!parameter.fallback.empty()) attribute.fallback = FallbackOf(parameter.fallback, attribute.kind);
  return attribute;
}

}  // namespace

void AddRow(OpRegistry& registry, const Row& row) {
  const stdlib::Declaration* declaration = stdlib::FindDeclaration(row.name);
  NNEFC_CHECK(declaration != nullptr && row.infer != nullptr);
  OpInfo info{.set = std::string(kNnefSet),
              .name = std::string(row.name),
              .section = std::string(row.section),
              .infer = row.infer,
              .check = CheckArguments,
              .is_generic = declaration->is_generic,
              .is_source = row.is_source,
              .is_sink = row.is_sink,
              .is_elementwise = row.is_elementwise,
              .is_commutative = row.is_commutative,
              .role = row.role,
              .sign = row.sign,
              .window = row.window,
              .results = row.results,
              .provisional = row.provisional,
              .quantizer = row.quantizer,
              .integers = row.integers,
              .narrow = row.narrow,
              .equivalent = std::string(row.equivalent)};
  for (const stdlib::DeclaredValue& parameter : declaration->parameters) {
    if (parameter.type.starts_with("tensor")) {
      info.inputs.push_back(InputOf(parameter));
    } else {
      info.attributes.push_back(AttributeOf(parameter));
    }
  }
  NNEFC_CHECK(row.data.size() == 0 || row.data.size() == info.inputs.size());
  for (const auto& [input, data] : llvm::zip(info.inputs, row.data)) input.data = data;
  NNEFC_CHECK(row.adjusts.size() <= info.inputs.size());
  for (const auto& [input, adjusts] : llvm::zip(info.inputs, row.adjusts)) input.adjusts = adjusts;
  for (const stdlib::DeclaredValue& result : declaration->results)
    info.outputs.push_back(std::string(result.name) + (result.type.ends_with("[]") ? "[]" : ""));
  registry.Add(std::move(info));
}

void AddRows(OpRegistry& registry, std::initializer_list<std::string_view> names, Row row) {
  for (std::string_view name : names) {
    row.name = name;
    AddRow(registry, row);
  }
}

}  // namespace nnefc::ir::ops
