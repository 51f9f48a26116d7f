#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

#include <fstream>
#include <sstream>

#include "compiler/ir/ops/opset/register.h"
#include "compiler/ir/text/text_values.h"
#include "compiler/support/context.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace nnefc::ir::ops::opset {

namespace {

// "i64[2] = 1 2"
TensorValue ParseConstant(const TypeText& type, const std::string& items) {
  std::istringstream stream(items);
  std::vector<float> floats;
  std::vector<int64_t> integers;
  const Shape shape = type.shape.known_extents();
  if (type.type == ElementType::kF32) {
    for (float item; stream >> item;) floats.push_back(item);
    return TensorValue::FromFloats(shape, floats);
  }
  for (int64_t item; stream >> item;) integers.push_back(item);
  const TensorValue value = TensorValue::FromInts(shape, integers);
  return type.type == ElementType::kI64 ? value : value.ConvertedTo(type.type);
}

OutputPort AddInput(Graph& graph, Context& context, const std::string& text) {
  const size_t equals = text.find('=');
  const FileId file = context.sources.AddText("type", text.substr(0, equals));
  TextScanner scanner(file, context);
  const std::optional<TypeText> type = ir::ParseTypeText(scanner);
  EXPECT_TRUE(type.has_value()) << text;
  if (!type) return {};
  if (equals == std::string::npos) return {AddParameter(graph, "x", type->type, type->shape), 0};
  return {AddConst(graph, ParseConstant(*type, text.substr(equals + 1)), "c"), 0};
}

}  // namespace

std::vector<std::string> SplitText(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + separator.size()) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<ShapeCase> ReadShapeCases(const std::string& path) {
  std::vector<ShapeCase> cases;
  std::ifstream file(path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> fields = SplitText(line, " | ");
    EXPECT_EQ(fields.size(), 4u) << line;
    if (fields.size() == 4) cases.push_back({number, fields[0], fields[1], fields[2], fields[3]});
  }
  return cases;
}

const OpRegistry& Opsets() {
  static const OpRegistry* registry = [] {
    auto* ops = new OpRegistry();
    opset::RegisterOpsets(*ops);
    return ops;
  }();
  return *registry;
}

std::string InferCase(const ShapeCase& shape_case, std::string* message, int* num_messages) {
  Context context;
  Graph graph(&Opsets());
  std::vector<OutputPort> inputs;
  for (const std::string& input : SplitText(shape_case.inputs, "; "))
    inputs.push_back(AddInput(graph, context, input));
  const FileId file = context.sources.AddText("attributes", "{" + shape_case.attributes + "}");
  TextScanner scanner(file, context);
  const std::optional<AttributeMap> attributes = ir::ParseAttributesText(scanner);
  EXPECT_TRUE(attributes.has_value()) << shape_case.attributes;
  const std::vector<std::string> name = SplitText(shape_case.op, ".");
  EXPECT_TRUE(Opsets().Find(name[0], name[1]).valid()) << shape_case.op;
  if (!attributes || !Opsets().Find(name[0], name[1]).valid()) return {};
  const auto outputs = static_cast<int32_t>(SplitText(shape_case.results, "; ").size());
  const NodeId node =
      AddNode(graph, name[0], name[1], {.inputs = inputs, .attributes = *attributes, .num_outputs = outputs});
  if (!ir::InferNode(graph, node, context.emitter)) {
    const llvm::ArrayRef<Diagnostic> diagnostics = context.emitter.diagnostics();
    std::string label(diagnostics.front().rule->label);
    // Ranks and element types are checked input by input, as are the states of recurrent operations.
    const bool may_repeat = label == "opset.rank" || label == "opset.element-type" ||
                            name[1].ends_with("Cell") || name[1].ends_with("Sequence");
    if (num_messages != nullptr) *num_messages = static_cast<int>(diagnostics.size());
    EXPECT_TRUE(may_repeat || num_messages != nullptr || diagnostics.size() == 1)
        << shape_case.op << " | " << shape_case.inputs;
    if (message != nullptr) *message = diagnostics.front().message;
    return label;
  }
  std::vector<std::string> results;
  for (const Output& output : graph.node(node).outputs()) {
    results.push_back(std::string(Name(output.type)) + ToString(output.shape));
  }
  return fmt::format("{}", fmt::join(results, "; "));
}

}  // namespace nnefc::ir::ops::opset
