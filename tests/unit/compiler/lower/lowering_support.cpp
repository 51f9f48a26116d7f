#include "tests/unit/compiler/lower/lowering_support.h"

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/text/text_values.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/standard_ops.h"

namespace nnefc::lower {

namespace {

std::string_view DataTypeName(ElementType type) {
  if (type == ElementType::kI64) return "integer";
  return type == ElementType::kBoolean ? "logical" : "scalar";
}

}  // namespace

NnefGraph::NnefGraph() : graph_(&ir::StandardOps(), "test") {}

ir::NodeId NnefGraph::Add(std::string_view op, ir::NodeSpec spec) {
  const std::string name = spec.name;
  const ir::NodeId id = ir::AddNode(graph_, ir::kNnefSet, op, std::move(spec));
  const int32_t outputs = graph_.node(id).num_outputs();
  for (int32_t i = 0; i < outputs; ++i) {
    graph_.SetOutputNames({id, i}, {outputs == 1 ? name : name + std::to_string(i)});
  }
  EXPECT_TRUE(ir::InferNode(graph_, id, context_.emitter)) << FirstMessage();
  return id;
}

ir::OutputPort NnefGraph::External(const std::string& name, std::string_view type) {
  const FileId file = context_.sources.AddText("type", std::string(type));
  ir::TextScanner scanner(file, context_);
  const std::optional<ir::TypeText> parsed = ir::ParseTypeText(scanner);
  EXPECT_TRUE(parsed.has_value()) << type;
  if (!parsed) return {};
  ir::AttributeMap attributes;
  attributes.Set("dtype", DataTypeName(parsed->type));
  if (const std::optional<Shape> extents = parsed->shape.extents()) {
    attributes.Set("shape", ir::Attribute::Integers(extents->begin(), extents->end()));
  } else {
    attributes.Set("shape", parsed->shape);
  }
  const ir::NodeId id = Add("external", {.name = name, .attributes = std::move(attributes)});
  graph_.AddToParameters(id);
  return {id, 0};
}

ir::OutputPort NnefGraph::Variable(const std::string& name, Shape shape, const std::string& label) {
  const std::string key = label.empty() ? name : label;
  std::vector<float> values(static_cast<size_t>(*Volume(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.25f + static_cast<float>(i % 7);
  data_.try_emplace(key, TensorValue::FromFloats(shape, values));
  ir::AttributeMap attributes;
  attributes.Set("shape", ir::Attribute::Integers(shape.begin(), shape.end()));
  attributes.Set("label", key);
  attributes.Set("dtype", "scalar");
  return {Add("variable", {.name = name, .attributes = std::move(attributes)}), 0};
}

ir::OutputPort NnefGraph::Literal(double value) {
  ir::AttributeMap attributes;
  attributes.Set("shape", ir::Attribute::Integers{});
  attributes.Set("value", ir::Attribute::Scalars{value});
  attributes.Set("dtype", "scalar");
  return {
      Add("constant", {.name = "literal" + std::to_string(literals_++), .attributes = std::move(attributes)}),
      0};
}

ir::NodeId NnefGraph::Node(std::string_view op, const std::string& name, std::vector<ir::OutputPort> inputs,
                           std::string_view attributes, int num_outputs) {
  const ir::OpId found = ir::StandardOps().Find(ir::kNnefSet, op);
  EXPECT_TRUE(found.valid()) << op;
  if (!found.valid()) return {};
  const ir::OpInfo& row = ir::StandardOps().Info(found);
  ir::AttributeMap all = ir::ops::CompletedAttributes(row, attributes);
  if (row.is_generic && all.Find("dtype") == nullptr) all.Set("dtype", "scalar");
  std::vector<int32_t> segments;
  if (!row.inputs.empty() && row.inputs[0].variadic) segments.push_back(static_cast<int32_t>(inputs.size()));
  return Add(op, {.name = name,
                  .inputs = inputs,
                  .segments = segments,
                  .attributes = std::move(all),
                  .num_outputs = num_outputs});
}

const ir::Graph* NnefGraph::Lower(bool data) {
  LowerOptions options;
  options.keeps_exact_operations = keeps_exact_operations_;
  if (data) {
    options.variable_data = [this](const std::string& label, ElementType, const ir::PartialShape&,
                                   const ir::Origin&) -> std::optional<TensorValue> {
      const auto entry = data_.find(label);
      return entry == data_.end() ? std::nullopt : std::optional(entry->second);
    };
  }
  lowered_ = LowerGraph(graph_, options, context_);
  if (lowered_ == nullptr) return nullptr;
  EXPECT_EQ(ir::VerifyInferred(*lowered_), std::vector<std::string>());
  Emitter emitter;
  EXPECT_TRUE(ir::InferGraph(*lowered_, emitter));
  return lowered_.get();
}

std::vector<std::string> NnefGraph::Rules() const {
  std::vector<std::string> labels;
  for (const Diagnostic& diagnostic : context_.emitter.diagnostics())
    labels.emplace_back(diagnostic.rule->label);
  return labels;
}

std::string NnefGraph::FirstMessage() const {
  const std::vector<Diagnostic>& diagnostics = context_.emitter.diagnostics();
  return diagnostics.empty() ? std::string() : diagnostics.front().message;
}

std::vector<std::string> NnefGraph::Messages() const {
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : context_.emitter.diagnostics()) messages.push_back(diagnostic.message);
  return messages;
}

std::string NnefGraph::Operations() const {
  std::string operations;
  const auto order = ir::TopologicalOrder(*lowered_);
  for (ir::NodeId id : *order) {
    const ir::Node& node = lowered_->node(id);
    if (node.Is("opset1", "Const") || node.Is("opset1", "Parameter") || node.Is("opset1", "Result")) continue;
    if (!operations.empty()) operations += ' ';
    if (node.set() == ir::kNnefSet) operations += "nnef.";
    operations += node.type();
  }
  return operations.empty() ? "-" : operations;
}

const ir::Node& NnefGraph::Find(std::string_view type) const {
  const ir::Node* found = nullptr;
  for (ir::NodeId id : lowered_->nodes()) {
    const ir::Node& node = lowered_->node(id);
    if (node.type() != type) continue;
    EXPECT_EQ(found, nullptr) << type << " is there twice";
    found = &node;
  }
  NNEFC_CHECK(found != nullptr);
  return *found;
}

const ir::Node& NnefGraph::Input(const ir::Node& node, int32_t index) const {
  return lowered_->node(node.input(index).node);
}

const ir::Node& NnefGraph::ResultOf(std::string_view name) const {
  for (ir::NodeId id : lowered_->results()) {
    if (lowered_->node(id).name() == name) return Input(lowered_->node(id), 0);
  }
  NNEFC_CHECK(false);
}

std::vector<int64_t> NnefGraph::IntInput(const ir::Node& node, int32_t index) const {
  const std::optional<TensorValue>& value = Input(node, index).output().value;
  NNEFC_CHECK(value.has_value());
  std::vector<int64_t> items;
  for (int64_t i = 0; i < value->volume(); ++i) items.push_back(value->ElementAsInt(i));
  return items;
}

}  // namespace nnefc::lower
