// Operations of OpenVINO in NNEF documents: names and values of their parameters.

#include "compiler/ir/ops/opset/nnef_form.h"

#include <set>

#include "fmt/core.h"
#include "llvm/ADT/StringExtras.h"

namespace nnefc::ir::ops::opset {

namespace {

// Words that are no names of parameters in the ratified dialect.
constexpr std::string_view kKeywords[] = {"version", "extension", "graph",     "fragment", "tensor",
                                          "integer", "scalar",    "logical",   "string",   "true",
                                          "false",   "for",       "in",        "if",       "else",
                                          "yield",   "lengthof",  "length_of", "shape_of", "range_of"};

// Returns an identifier that `taken` does not have, and adds it there.
std::string TakeIdentifier(std::string_view name, std::set<std::string>& taken) {
  std::string identifier;
  for (const char c : name) identifier += llvm::isAlnum(c) ? c : '_';
  while (!taken.insert(identifier).second) identifier += '_';
  return identifier;
}

template <typename Packed>
Attribute::Scalars Scalars(const Packed& items) {
  return Attribute::Scalars(items.begin(), items.end());
}

}  // namespace

std::string NnefName(const OpInfo& row) {
  return fmt::format("{}_{}", row.set, row.name);
}

OpId FindNnefName(const OpRegistry& registry, std::string_view name) {
  const size_t end = name.find('_');
  if (!name.starts_with(kOpsets) || end == std::string_view::npos) return {};
  return registry.Find(name.substr(0, end), name.substr(end + 1));
}

NnefParameters NnefParametersOf(const OpInfo& row) {
  std::set<std::string> taken(std::begin(kKeywords), std::end(kKeywords));
  NnefParameters parameters;
  for (const InputInfo& input : row.inputs) parameters.inputs.push_back(TakeIdentifier(input.name, taken));
  for (const AttributeInfo& attribute : row.attributes)
    parameters.attributes.push_back(TakeIdentifier(attribute.name, taken));
  for (std::string_view output : row.outputs) {
    if (output.ends_with("[]")) output.remove_suffix(2);
    parameters.outputs.push_back(TakeIdentifier(output, taken));
  }
  return parameters;
}

Attribute NnefValue(const AttributeInfo& attribute, const Attribute& value) {
  if (const auto* type = value.get<ElementType>()) return Name(*type);
  if (const auto* shape = value.get<PartialShape>()) return ToString(*shape);
  const auto* integer = value.get<int64_t>();
  if (integer != nullptr && attribute.kind == AttributeKind::kDouble) return static_cast<double>(*integer);
  const auto* integers = value.get<Attribute::Integers>();
  if (integers != nullptr && attribute.kind == AttributeKind::kDoubles) return Scalars(*integers);
  return value;
}

AttributeMap NnefAttributes(const Node& node) {
  const OpInfo& row = node.info();
  const std::vector<std::string> names = NnefParametersOf(row).attributes;
  AttributeMap map;
  for (size_t i = 0; i < names.size(); ++i) {
    if (const Attribute* value = node.attributes().Find(row.attributes[i].name))
      map.Set(names[i], NnefValue(row.attributes[i], *value));
  }
  return map;
}

std::optional<AttributeMap> ReadNnefAttributes(const OpInfo& row, const AttributeMap& arguments,
                                               NnefMistake& mistake) {
  const std::vector<std::string> names = NnefParametersOf(row).attributes;
  AttributeMap attributes;
  for (size_t i = 0; i < names.size(); ++i) {
    const AttributeInfo& info = row.attributes[i];
    const Attribute* argument = arguments.Find(names[i]);
    if (argument == nullptr) continue;
    Attribute value = *argument;
    const auto reject = [&](std::string_view expected) -> std::optional<AttributeMap> {
      mistake = {names[i], fmt::format("is `{}`; expected {}", value.AsString().substr(0, 60), expected)};
      return std::nullopt;
    };
    if (info.kind == AttributeKind::kType) {
      const std::optional<ElementType> type = ParseElementType(value.AsString());
      // Each tensor of a document has a type.
      if (!type || *type == ElementType::kDynamic) return reject("an element type, such as 'f32' or 'i64'");
      value = *type;
    } else if (info.kind == AttributeKind::kShape) {
      const std::optional<PartialShape> shape = ParsePartialShape(value.AsString());
      if (!shape) return reject("a shape, such as '[1,3,?]'");
      value = *shape;
    }
    const bool is_omitted = info.is_extra && info.fallback && value == *info.fallback;
    if (!is_omitted) attributes.Set(info.name, std::move(value));
  }
  return attributes;
}

}  // namespace nnefc::ir::ops::opset
