#include "tests/unit/compiler/ir/ops/infer_support.h"

#include "compiler/ir/text/text_values.h"
#include "gtest/gtest.h"

namespace nnefc::ir::ops {

namespace {

AttributeMap Completed(const Inference& inference) {
  const OpId op = StandardOps().Find(kNnefSet, inference.op);
  EXPECT_TRUE(op.valid()) << inference.op;
  if (!op.valid()) return {};
  return CompletedAttributes(StandardOps().Info(op), inference.attributes);
}

struct Answer {
  std::string results;
  std::string rule;
  std::string message;
};

Answer Run(const Inference& inference) {
  Context context;
  Graph graph(&StandardOps(), "test");
  std::vector<OutputPort> inputs;
  for (std::string_view text : inference.inputs) {
    const FileId file = context.sources.AddText("type", std::string(text));
    TextScanner scanner(file, context);
    const std::optional<TypeText> type = ir::ParseTypeText(scanner);
    EXPECT_TRUE(type.has_value()) << text;
    if (!type) return {};
    inputs.push_back({AddParameter(graph, "x", type->type, type->shape), 0});
  }
  const NodeId node =
      AddNode(graph, "nnef", inference.op,
              {.inputs = inputs, .attributes = Completed(inference), .num_outputs = inference.num_outputs});
  Emitter emitter;
  const bool inferred = ir::InferNode(graph, node, emitter);
  EXPECT_EQ(inferred, !emitter.has_errors());
  Answer answer;
  if (!emitter.diagnostics().empty()) {
    answer.rule = emitter.diagnostics().front().rule->label;
    answer.message = emitter.diagnostics().front().message;
  }
  for (const Output& output : graph.node(node).outputs()) {
    if (!answer.results.empty()) answer.results += "; ";
    answer.results += std::string(Name(output.type)) + ToString(output.shape);
  }
  return answer;
}

}  // namespace

std::string Infer(const Inference& inference) {
  const Answer answer = Run(inference);
  return answer.rule.empty() ? answer.results : answer.rule;
}

std::string Message(const Inference& inference) {
  return Run(inference).message;
}

}  // namespace nnefc::ir::ops
