// Walks the standard library and the rows of ir/ops side by side: an operation
// without a row, a row that names other tensors or wants other attributes, and
// a row that no declaration has, all fail here.

#include <set>

#include "compiler/ir/infer.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/declarations.h"
#include "tests/unit/compiler/ir/ops/infer_support.h"

namespace nnefc::testing {
namespace {

TEST(StandardLibraryTest, FindsAllDeclarations) {
  EXPECT_EQ(Declarations().size(), 120u);
  ASSERT_NE(FindDeclaration("conv"), nullptr);
  EXPECT_EQ(FindDeclaration("conv")->parameters.size(), 8u);
  EXPECT_EQ(*FindDeclaration("conv")->parameters[4].default_value, "[]");
}

TEST(StandardLibraryTest, EveryOperationHasARow) {
  for (const Declaration& declaration : Declarations()) {
    EXPECT_TRUE(StandardOps().Find("nnef", declaration.name).valid()) << declaration.name;
  }
}

TEST(StandardLibraryTest, EveryRowIsDeclared) {
  const ir::OpRegistry& registry = StandardOps();
  for (int32_t i = 0; i < static_cast<int32_t>(registry.size()); ++i) {
    const ir::OpInfo& info = registry.Info(ir::OpId(i));
    if (info.set != "nnef") continue;
    EXPECT_NE(FindDeclaration(info.name), nullptr) << info.name;
    EXPECT_TRUE(info.section.starts_with("R 4.") || info.section == "NNEFC_control_flow") << info.name;
    EXPECT_NE(info.infer, nullptr) << info.name;
  }
}

TEST(StandardLibraryTest, TensorsAgree) {
  for (const Declaration& declaration : Declarations()) {
    const ir::OpId op = StandardOps().Find("nnef", declaration.name);
    if (!op.valid()) continue;
    SCOPED_TRACE(declaration.name);
    const ir::OpInfo& info = StandardOps().Info(op);
    size_t index = 0;
    for (const DeclaredValue& parameter : declaration.parameters) {
      if (!parameter.is_tensor()) continue;
      ASSERT_LT(index, info.inputs.size()) << parameter.name;
      EXPECT_EQ(info.inputs[index].name, parameter.name);
      EXPECT_EQ(info.inputs[index].variadic, parameter.is_array()) << parameter.name;
      EXPECT_EQ(info.inputs[index].optional, parameter.default_value.has_value()) << parameter.name;
      ++index;
    }
    EXPECT_EQ(index, info.inputs.size());
    ASSERT_EQ(declaration.results.size(), info.outputs.size());
    for (size_t i = 0; i < info.outputs.size(); ++i) {
      EXPECT_EQ(info.outputs[i],
                declaration.results[i].name + (declaration.results[i].is_array() ? "[]" : ""));
    }
  }
}

ElementType TypeOf(std::string_view declared) {
  if (declared.starts_with("tensor<integer>")) return ElementType::kI64;
  if (declared.starts_with("tensor<logical>")) return ElementType::kBoolean;
  return ElementType::kF32;
}

// Some value of a declared type.
ir::Attribute ValueOf(std::string_view type) {
  if (type == "integer") return 1;
  if (type == "scalar") return 1.0;
  if (type == "logical") return true;
  if (type == "string") return "constant";
  if (type == "integer[]") return ir::Attribute::Integers{1};
  if (type == "(integer,integer)[]") return ir::PairList({{0, 0}});
  return ir::Attribute::Scalars{1.0};  // `?[]`
}

// Offers an operation no attributes and adds each that it asks for.
TEST(StandardLibraryTest, AttributesAgree) {
  for (const Declaration& declaration : Declarations()) {
    SCOPED_TRACE(declaration.name);
    std::set<std::string> declared, asked;
    for (const DeclaredValue& parameter : declaration.parameters) {
      if (!parameter.is_tensor()) declared.insert(parameter.name);
    }
    ir::AttributeMap attributes;
    if (declaration.is_generic) attributes.Set("dtype", "scalar");
    while (asked.size() <= declared.size()) {
      ir::Graph graph(&StandardOps(), "test");
      std::vector<ir::OutputPort> inputs;
      for (const DeclaredValue& parameter : declaration.parameters) {
        if (!parameter.is_tensor()) continue;
        inputs.push_back({graph.AddParameter("x", TypeOf(parameter.type), ir::PartialShape::OfRank(4)), 0});
      }
      const ir::NodeId node =
          graph.AddNode("nnef", declaration.name,
                        {.inputs = inputs,
                         .attributes = attributes,
                         .num_outputs = static_cast<int32_t>(declaration.results.size())});
      Emitter emitter;
      ir::InferNode(graph, node, emitter);
      if (emitter.diagnostics().empty() || emitter.diagnostics()[0].rule->label != "node.missing-attribute")
        break;
      const std::string& message = emitter.diagnostics()[0].message;
      const size_t end = message.rfind('`');
      const size_t begin = message.rfind('`', end - 1) + 1;
      const std::string name = message.substr(begin, end - begin);
      ASSERT_TRUE(asked.insert(name).second) << name;
      for (const DeclaredValue& parameter : declaration.parameters) {
        if (parameter.name == name) attributes.Set(name, ValueOf(parameter.type));
      }
    }
    EXPECT_EQ(asked, declared);
  }
}

}  // namespace
}  // namespace nnefc::testing
