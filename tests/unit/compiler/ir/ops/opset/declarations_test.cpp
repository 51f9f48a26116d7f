// The declarations of NNEFC_opset, which follow from the rows. NNEFC_UPDATE_DECLARATIONS=1 rewrites them.

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/ir/ops/opset/nnef_form.h"
#include "compiler/ir/ops/opset/register.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
namespace {

// Attributes that are not given have none of the values of a node.
TEST(OpsetNnefForm, ArgumentsThatAreNotGiven) {
  const OpInfo& row = Opsets().Info(Opsets().Find("opset1", "StridedSlice"));
  AttributeMap arguments;
  NnefMistake mistake;
  std::optional<AttributeMap> read = ReadNnefAttributes(row, arguments, mistake);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->size(), 0U);
  arguments.Set("end_mask", Attribute::Integers{1, 0});
  read = ReadNnefAttributes(row, arguments, mistake);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->size(), 1U);
  EXPECT_NE(read->Find("end_mask"), nullptr);
}

// An attribute that files omit, such as the axis of a broadcast, is set unless it has its usual value.
TEST(OpsetNnefForm, ArgumentsOfUsualValues) {
  for (const char* name : {"Add", "Multiply", "Equal", "LogicalAnd"}) {
    const OpInfo& row = Opsets().Info(Opsets().Find("opset1", name));
    const std::vector<std::string> names = NnefParametersOf(row).attributes;
    ASSERT_EQ(names.size(), 2U);
    const auto read = [&](size_t index, const Attribute& value) {
      AttributeMap arguments;
      arguments.Set(names[index], value);
      NnefMistake mistake;
      const std::optional<AttributeMap> attributes = ReadNnefAttributes(row, arguments, mistake);
      const Attribute* found = attributes ? attributes->Find(row.attributes[index].name) : nullptr;
      return found == nullptr ? std::nullopt : std::optional(*found);
    };
    for (const char* mode : {"numpy", "pdpd", "none"}) EXPECT_EQ(read(0, mode), Attribute(mode)) << name;
    for (const int64_t axis : {1, -1, 3}) EXPECT_EQ(read(1, axis), Attribute(axis)) << name;
    EXPECT_EQ(read(1, int64_t{0}), std::nullopt) << name;
  }
}

constexpr char kFile[] = "stdlib/opset.nnef";
constexpr std::string_view kHead =
    R"(# The extension NNEFC_opset: the operations of OpenVINO's sets that nnefc computes, under the name of the set that
# introduced them. The rows in compiler/ir/ops/opset state them; the test OpsetDeclarations writes this document.
# An optional tensor is an array of at most one. Element types are strings as in OpenVINO's files, 'f16', and shapes too,
# '[1,?,3]'. Results have the element types of OpenVINO's operation; between them and standard operations, which compute with
# 'f32', 'i64' and 'boolean', stands a conversion. `opset1_Const` is for tensors without
# elements, for which the standard has no form; `constant` and `variable` are for others. If, TensorIterator and Loop are `if_else`, `tensor_iterator` and `while_loop` of NNEFC_control_flow.

version 1.0;

extension KHR_enable_fragment_definitions;
extension NNEFC_opset;
)";

// Operations that documents have in another form: `external`, results of the graph, and operations with
// bodies.
bool IsWrittenOtherwise(const OpInfo& row) {
  return row.role == OpRole::kParameter || row.role == OpRole::kResult || row.role == OpRole::kIf ||
         row.role == OpRole::kTensorIterator || row.role == OpRole::kLoop;
}

std::string TypeOf(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return "logical";
    case AttributeKind::kInt:
      return "integer";
    case AttributeKind::kDouble:
      return "scalar";
    case AttributeKind::kInts:
      return "integer[]";
    case AttributeKind::kDoubles:
      return "scalar[]";
    case AttributeKind::kString:
    case AttributeKind::kType:
    case AttributeKind::kShape:
      return "string";
    case AttributeKind::kPairs:
    case AttributeKind::kGeneric:
      break;
  }
  ADD_FAILURE() << "an attribute of an OpenVINO operation has a kind of NNEF";
  return "";
}

std::string Literal(const Attribute& value) {
  if (const auto* logical = value.get<bool>()) return *logical ? "true" : "false";
  if (const auto* integer = value.get<int64_t>()) return std::to_string(*integer);
  if (const auto* text = value.get<std::string>()) return fmt::format("'{}'", *text);
  if (const auto* scalar = value.get<double>()) {
    const std::string text = fmt::format("{}", *scalar);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  if (value.ListSize() == 0) return "[]";
  if (const auto* integers = value.get<Attribute::Integers>())
    return fmt::format("[{}]", fmt::join(*integers, ", "));
  std::vector<std::string> items;
  for (double item : value.AsDoubles()) items.push_back(Literal(item));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string TensorOf(const InputInfo& input) {
  if (input.variadic) return "tensor<>[]";
  return input.optional ? "tensor<>[] = []" : "tensor<>";
}

std::string Declaration(const OpInfo& row) {
  const NnefParameters names = NnefParametersOf(row);
  std::string comment = fmt::format("\n# {} of {}.", row.name, row.set);
  std::vector<std::string> parameters, results;
  for (size_t i = 0; i < row.inputs.size(); ++i)
    parameters.push_back(fmt::format("\n    {}: {}", names.inputs[i], TensorOf(row.inputs[i])));
  for (size_t i = 0; i < row.attributes.size(); ++i) {
    const AttributeInfo& attribute = row.attributes[i];
    std::string text = fmt::format("\n    {}: {}", names.attributes[i], TypeOf(attribute.kind));
    if (attribute.fallback) text += fmt::format(" = {}", Literal(NnefValue(attribute, *attribute.fallback)));
    parameters.push_back(std::move(text));
    if (!attribute.choices.empty())
      comment += fmt::format("\n# `{}`: '{}'.", names.attributes[i], fmt::join(attribute.choices, "', '"));
  }
  for (size_t i = 0; i < row.outputs.size(); ++i)
    results.push_back(
        fmt::format("{}: tensor<>{}", names.outputs[i], row.outputs[i].ends_with("[]") ? "[]" : ""));
  return fmt::format("{}\nfragment {}({} )\n-> ( {} );\n", comment, NnefName(row), fmt::join(parameters, ","),
                     fmt::join(results, ", "));
}

const OpRegistry& Rows() {
  static const OpRegistry& rows = *[] {
    auto* registry = new OpRegistry;  // lives as long as the program
    RegisterOpsets(*registry);
    return registry;
  }();
  return rows;
}

TEST(OpsetDeclarations, FollowFromTheRows) {
  std::string expected(kHead);
  for (size_t i = 0; i < Rows().size(); ++i) {
    const OpInfo& row = Rows().Info(OpId(static_cast<int32_t>(i)));
    if (!IsWrittenOtherwise(row)) expected += Declaration(row);
  }
  if (std::getenv("NNEFC_UPDATE_DECLARATIONS") != nullptr) std::ofstream(kFile) << expected;
  std::stringstream found;
  found << std::ifstream(kFile).rdbuf();
  EXPECT_EQ(found.str(), expected) << "NNEFC_UPDATE_DECLARATIONS=1 writes " << kFile;
}

// Nodes have no places for inputs that are left out, other than the last ones.
TEST(OpsetDeclarations, HaveOptionalTensorsAtTheEnd) {
  for (size_t i = 0; i < Rows().size(); ++i) {
    const OpInfo& row = Rows().Info(OpId(static_cast<int32_t>(i)));
    for (size_t k = 0; k + 1 < row.inputs.size(); ++k) {
      EXPECT_FALSE(row.inputs[k].variadic) << NnefName(row);
      EXPECT_TRUE(!row.inputs[k].optional || row.inputs[k + 1].optional) << NnefName(row);
    }
    for (size_t k = 0; k + 1 < row.outputs.size(); ++k)
      EXPECT_FALSE(row.outputs[k].ends_with("[]")) << NnefName(row);
    EXPECT_EQ(FindNnefName(Rows(), NnefName(row)), OpId(static_cast<int32_t>(i)));
  }
}

// Documents write a number with a point where the attribute is a double; element types and shapes are texts.
TEST(OpsetDeclarations, ValuesOfAttributes) {
  const auto written = [](AttributeKind kind, Attribute value) {
    return Literal(NnefValue({.name = "a", .kind = kind}, value));
  };
  EXPECT_EQ(written(AttributeKind::kInt, int64_t{2}), "2");
  EXPECT_EQ(written(AttributeKind::kDouble, int64_t{2}), "2.0");
  EXPECT_EQ(written(AttributeKind::kDouble, 0.5), "0.5");
  EXPECT_EQ(written(AttributeKind::kInts, Attribute::Integers{2, 3}), "[2, 3]");
  EXPECT_EQ(written(AttributeKind::kDoubles, Attribute::Integers{2, 3}), "[2.0, 3.0]");
  EXPECT_EQ(written(AttributeKind::kDoubles, Attribute::Scalars{0.5, 3}), "[0.5, 3.0]");
  EXPECT_EQ(written(AttributeKind::kType, ElementType::kF16), "'f16'");
  EXPECT_EQ(written(AttributeKind::kShape, PartialShape{1, Dim()}), "'[1,?]'");
  EXPECT_EQ(written(AttributeKind::kBool, true), "true");
}

TEST(OpsetDeclarations, NamesOfOtherOperationsAreUnknown) {
  for (std::string_view name : {"", "opset", "opset8", "opset8_", "opset8_gather", "opset_Gather",
                                "opset99_Gather", "relu", "xopset8_Gather"})
    EXPECT_FALSE(FindNnefName(Rows(), name).valid()) << name;
  EXPECT_TRUE(FindNnefName(Rows(), "opset8_Gather").valid());
}

}  // namespace
}  // namespace nnefc::ir::ops::opset
