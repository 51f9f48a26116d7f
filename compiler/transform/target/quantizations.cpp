#include "compiler/transform/target/quantizations.h"

#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

bool IsQuantization(const ir::Node& node) {
  return node.Is(ir::Quantizer::kFakeQuantize) || node.Is(ir::Quantizer::kMinMaxLinear) ||
         node.Is(ir::Quantizer::kZeroPointLinear);
}

void ForEachQuantization(Graph& graph, llvm::function_ref<void(const ir::Node&)> visit) {
  for (ir::NodeId id : graph.Order()) {
    const ir::Node& node = graph.ir().node(id);
    if (RangeOf(graph.ir(), node) && !node.uses(0).empty()) visit(node);
  }
  graph.CleanUp();
}

const TensorValue* ConstantF32(const ir::Graph& graph, ir::OutputPort port) {
  const ir::Node& node = graph.node(port.node);
  const bool is_constant =
      node.Is(ir::OpRole::kConst) && node.output().value && node.output().type == ElementType::kF32;
  return is_constant ? &*node.output().value : nullptr;
}

const TensorValue* ConstantNumber(const ir::Graph& graph, ir::OutputPort port) {
  const TensorValue* value = ConstantF32(graph, port);
  return value != nullptr && value->volume() == 1 ? value : nullptr;
}

std::vector<float> LimitsOf(const ir::Graph& graph, const ir::Node& quantize) {
  std::vector<float> limits;
  for (ir::OutputPort port : quantize.inputs().drop_front(1)) {
    const TensorValue* number = ConstantNumber(graph, port);
    if (number == nullptr) return {};
    limits.push_back(static_cast<float>(number->ElementAsDouble(0)));
  }
  return limits;
}

std::optional<ir::ops::LinearQuantization> RangeOf(const ir::Graph& graph, const ir::Node& node) {
  const std::optional<ir::ops::LinearQuantization> range = ir::ops::LinearQuantizationOf(graph, node);
  return range && !LimitsOf(graph, node).empty() ? range : std::nullopt;
}

bool Repeats(const ir::Graph& graph, const ir::Node& quantize, const ir::Node& again) {
  if (quantize.op() != again.op() || quantize.attributes() != again.attributes()) return false;
  if (!RangeOf(graph, quantize)) return false;
  const std::vector<float> first = LimitsOf(graph, quantize), second = LimitsOf(graph, again);
  if (first.size() != 4 || second.size() != 4) return first == second;
  // Limits of the data, then of the result.
  return second[0] == second[2] && second[1] == second[3] && first[2] == second[0] && first[3] == second[1];
}

bool SuitsMixedStep(const Shape& filter) {
  constexpr int64_t kMinChannels = 16;
  return filter.size() >= 4 && filter.size() <= 5 && filter[0] >= kMinChannels && filter[1] == 1 &&
         filter[2] == 1;
}

bool IsResult(const ir::Graph& graph, const ir::Node& node) {
  return llvm::any_of(node.uses(0),
                      [&](const ir::InputPort& use) { return graph.node(use.node).Is(ir::OpRole::kResult); });
}

bool HasQuantizedConsumer(const ir::Graph& graph, const ir::Node& node) {
  return llvm::any_of(node.uses(0), [&](const ir::InputPort& use) {
    const ir::Node& consumer = graph.node(use.node);
    if (consumer.Is(ir::OpRole::kView)) return HasQuantizedConsumer(graph, consumer);
    const bool is_convolution = consumer.Is(ir::Contraction::kConvolution) ||
                                consumer.Is(ir::Contraction::kGroupConvolution) ||
                                consumer.Is(ir::Contraction::kConvolutionBackpropData);
    return use.index == 0 && (is_convolution || consumer.Is(ir::Contraction::kMatMul) ||
                              consumer.Is(ir::Pooling::kMax) || IsQuantization(consumer));
  });
}

const ir::Node* ProductBefore(const ir::Graph& graph, const ir::Node& quantize) {
  constexpr int kMaxSteps = 8;
  ir::OutputPort port = quantize.input(0);
  for (int step = 0; step < kMaxSteps; ++step) {
    const ir::Node& node = graph.node(port.node);
    if (node.uses(port.index).size() != 1) return nullptr;
    if (node.info().contraction != ir::Contraction::kNone) return &node;
    if (node.info().function == ir::ElementFunction::kOther) return nullptr;
    const bool is_first_constant = node.num_inputs() > 1 && graph.output(node.input(0)).value;
    port = node.input(is_first_constant ? 1 : 0);
  }
  return nullptr;
}

void ReplaceOutput(Graph& graph, ir::OutputPort from, ir::OutputPort to) {
  graph.Raw().SetOutputNames(to, graph.ir().output(from).names);
  graph.ReplaceAllUses(PortOf(graph, from), PortOf(graph, to));
}

Port PortOf(Graph& graph, ir::OutputPort port) {
  return Port(graph, port.node, port.index, true);
}

}  // namespace nnefc::transform::target
