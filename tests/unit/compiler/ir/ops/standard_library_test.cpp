// The rows of ir/ops have inputs, attributes and results from the declarations of the standard library: the
// contents of a row, and that every declaration has one.

#include "compiler/ir/algorithms/infer.h"
#include "gtest/gtest.h"
#include "stdlib/declarations.h"
#include "tests/unit/compiler/ir/ops/infer_support.h"

namespace nnefc::ir::ops {
namespace {

const OpInfo& RowOf(std::string_view name) {
  return StandardOps().Info(StandardOps().Find(kNnefSet, name));
}

// Returns an arbitrary value of a kind.
Attribute SomeValue(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return true;
    case AttributeKind::kInt:
      return 1;
    case AttributeKind::kDouble:
      return 1.0;
    case AttributeKind::kString:
      return "constant";
    default:
      return {};  // an empty list may have items of any kind
  }
}

// Returns the unusual properties of each input: "input; bias? float; values[] generic".
std::string Inputs(const OpInfo& row) {
  std::string text;
  for (const InputInfo& input : row.inputs) {
    text +=
        (text.empty() ? "" : "; ") + input.name + (input.optional ? "?" : "") + (input.variadic ? "[]" : "");
    if (input.generic) text += " generic";
    if (input.types == TypeClass::kFloat) text += " float";
    if (input.types == TypeClass::kInteger) text += " integer";
    if (input.types == TypeClass::kBoolean) text += " boolean";
  }
  return text;
}

// True if the defaults of the row equal `attributes`, in the text form without braces.
bool HasDefaults(std::string_view name, std::string_view attributes) {
  const AttributeMap defaults = CompletedAttributes(RowOf(name), "");
  return CompletedAttributes(RowOf("copy"), attributes) == defaults;
}

TEST(StandardLibraryTest, EveryOperationHasARow) {
  EXPECT_GE(stdlib::Declarations().size(), 120u);  // the operations of 1.0.5 and control flow
  for (const stdlib::Declaration& declaration : stdlib::Declarations())
    EXPECT_TRUE(StandardOps().Find(ir::kNnefSet, declaration.name).valid()) << declaration.name;
}

TEST(StandardLibraryTest, RowsTellTheirSection) {
  for (const stdlib::Declaration& declaration : stdlib::Declarations()) {
    const std::string& section = RowOf(declaration.name).section;
    const bool is_vendors = declaration.name.starts_with("tract_");
    EXPECT_TRUE(section.starts_with("R 4.") || section == "NNEFC_control_flow" || is_vendors)
        << declaration.name;
  }
}

TEST(StandardLibraryTest, RowsSayWhatIsDeclared) {
  EXPECT_EQ(Inputs(RowOf("conv")), "input float; filter float; bias? float");
  EXPECT_TRUE(
      HasDefaults("conv", R"(border = "constant", padding = [], stride = [], dilation = [], groups = 1)"));
  EXPECT_EQ(Inputs(RowOf("select")), "condition boolean; true_value generic; false_value generic");
  EXPECT_EQ(Inputs(RowOf("concat")), "values[] generic");
  EXPECT_TRUE(HasDefaults("concat", ""));
  EXPECT_EQ(RowOf("split").outputs, std::vector<std::string>{"values[]"});
  EXPECT_EQ(RowOf("moments").outputs, (std::vector<std::string>{"mean", "variance"}));
  EXPECT_EQ(Inputs(RowOf("gather")), "input generic; indices integer");
  EXPECT_EQ(Inputs(RowOf("cast")), "input");
  EXPECT_TRUE(HasDefaults("softmax", "axes = [1]"));
  EXPECT_TRUE(HasDefaults("elu", "alpha = 1.0"));
  EXPECT_TRUE(HasDefaults("reshape", "axis_start = 0, axis_count = -1"));
  EXPECT_FALSE(HasDefaults("reshape", "axis_start = 0"));
  EXPECT_EQ(Inputs(RowOf("tensor_iterator")), "sliced[]; merged[]; invariant[]");
  EXPECT_EQ(Inputs(RowOf("while_loop")), "trip_count? integer; sliced[]; merged[]; invariant[]");
  EXPECT_TRUE(RowOf("external").is_generic);
  EXPECT_FALSE(RowOf("relu").is_generic);
}

// Every declared attribute is required, and must be of the declared kind.
TEST(StandardLibraryTest, AttributesAreChecked) {
  for (const stdlib::Declaration& declaration : stdlib::Declarations()) {
    const OpInfo& row = RowOf(declaration.name);
    for (const AttributeInfo& wrong : row.attributes) {
      for (bool missing : {true, false}) {
        AttributeMap attributes;
        for (const AttributeInfo& info : row.attributes) {
          if (&info == &wrong) break;
          attributes.Set(info.name, SomeValue(info.kind));
        }
        if (!missing) attributes.Set(wrong.name, ElementType::kF32);
        Graph graph(&StandardOps(), "test");
        std::vector<OutputPort> inputs;
        for (const InputInfo& input : row.inputs) {
          const ElementType type = input.types == TypeClass::kInteger   ? ElementType::kI64
                                   : input.types == TypeClass::kBoolean ? ElementType::kBoolean
                                                                        : ElementType::kF32;
          inputs.push_back({AddParameter(graph, "x", type, PartialShape::OfRank(4)), 0});
        }
        const NodeId node = AddNode(
            graph, kNnefSet, declaration.name,
            {.inputs = inputs, .segments = std::vector<int32_t>(inputs.size(), 1), .attributes = attributes});
        Emitter emitter;
        EXPECT_FALSE(ir::InferNode(graph, node, emitter));
        ASSERT_FALSE(emitter.diagnostics().empty()) << declaration.name;
        const Diagnostic& told = emitter.diagnostics().front();
        EXPECT_EQ(told.rule->label, missing ? "node.missing-attribute" : "node.attribute-kind");
        EXPECT_NE(told.message.find("`" + wrong.name + "`"), std::string::npos) << told.message;
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::ir::ops
