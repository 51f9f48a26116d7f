#pragma once

// Helpers of the tests of transformations of the target phase.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform::target {

inline std::string TargetInput(const std::string& name, const std::string& type, const std::string& shape) {
  return fmt::format("  %{} = opset1.Parameter \"{}\" {{element_type = {}, shape = {}}} : {}{}\n", name, name,
                     type, shape, type, shape);
}
inline std::string TargetConstant(const std::string& name, const std::string& type,
                                  const std::string& items) {
  return fmt::format("  %{} = opset1.Const \"{}\" : {} = dense<{}: {}>\n", name, name, type, type, items);
}
inline std::string TargetStep(const std::string& name, const std::string& operation,
                              const std::string& inputs, const std::string& attributes = "") {
  return fmt::format("  %{} = {} \"{}\" ({}) {{{}}} : f32[...]\n", name, operation, name, inputs, attributes);
}
inline std::string TargetResult(const std::string& name) {
  return fmt::format("  opset1.Result \"y\" (%{})\n", name);
}
inline std::string TargetConvolution(const std::string& name, const std::string& data,
                                     const std::string& filter = "w",
                                     const std::string& operation = "opset1.Convolution") {
  return TargetStep(
      name, operation, fmt::format("%{}, %{}", data, filter),
      "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], auto_pad = "
      "\"explicit\"");
}
// A result with a name of its own.
inline std::string TargetResultOf(const std::string& name) {
  return fmt::format("  opset1.Result \"{}_result\" (%{})\n", name, name);
}

// Times of products by the name of the node: as `TimeOfProduct` returns them for true, and for false.
inline std::map<std::string, std::pair<double, double>>& ProductTimes() {
  static std::map<std::string, std::pair<double, double>> times;
  return times;
}
inline double TimeOfProduct(const ir::Node& node, llvm::ArrayRef<int64_t> data,
                            llvm::ArrayRef<int64_t> filter, llvm::ArrayRef<int64_t> result, bool is_first) {
  EXPECT_EQ(data.size(), 4u);
  EXPECT_EQ(filter.size(), 4u);
  EXPECT_EQ(result.size(), 4u);
  const auto [first, second] = ProductTimes()[node.name()];
  return is_first ? first : second;
}

inline std::string Joined(llvm::ArrayRef<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

class TargetTest : public TransformTest {
 protected:
  // Returns the nodes after a transformation other than parameters, constants and results:
  // "MatMul[2,1](Reshape Const)", with the shape of the result, the operations of the inputs and a `t` after
  // a transposed operand.
  std::string After(const std::string& name, llvm::ArrayRef<std::string> text,
                    const ir::PlanFunctions& plan = {}) {
    const TransformationList list = StandardTransformations();
    graph_ = Parse(Numbered(Joined(text)));
    if (graph_ == nullptr) return "no graph";
    EXPECT_EQ(Run(list, *graph_, Side::kTarget,
                  {.only = {"target." + name}, .evaluate = EvaluateFunction, .plan = plan}),
              "");
    graph_->EraseDeadNodes();
    std::string described;
    const auto order = ir::TopologicalOrder(*graph_);
    for (ir::NodeId id : *order) {
      const ir::Node& node = graph_->node(id);
      if (node.info().is_source || node.Is(ir::OpRole::kResult)) continue;
      described += fmt::format("{}{}{}(", described.empty() ? "" : " ", node.type(),
                               ir::ToString(node.output().shape));
      for (int32_t i = 0; i < node.num_inputs(); ++i) {
        const bool is_transposed =
            node.type() == "MatMul" && node.Bool(i == 0 ? "transpose_a" : "transpose_b");
        described +=
            (i == 0 ? "" : " ") + graph_->node(node.input(i).node).type() + (is_transposed ? "t" : "");
      }
      described += ")";
    }
    return described;
  }
  // Returns the elements of an input of the first node of an operation.
  std::vector<double> InputOf(const std::string& type, int32_t input) const {
    for (ir::NodeId id : graph_->nodes()) {
      const ir::Node& node = graph_->node(id);
      if (node.type() != type) continue;
      const std::optional<TensorValue>& value = graph_->output(node.input(input)).value;
      std::vector<double> numbers;
      for (int64_t i = 0; value && i < value->volume(); ++i) numbers.push_back(value->ElementAsDouble(i));
      return numbers;
    }
    return {};
  }

  std::unique_ptr<ir::Graph> graph_;
};

}  // namespace nnefc::transform::target
