// What is done to a graph of known shapes before its nodes get kernels: scales
// and shifts of constant vectors move into constant filters, zeros around an
// image into the window that follows; constant matrices are transposed.

#include <cmath>
#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/families.h"
#include "runtime/fast/post_ops.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime {

namespace {

const TensorValue* ConstantOf(const ir::Graph& graph, ir::OutputPort port) {
  const ir::Node& node = graph.node(port.node);
  return node.Is(ir::OpRole::kConst) && node.output().value ? &*node.output().value : nullptr;
}

// The operations that are looked for, whatever their version: pads, and what may
// take them into its window.
enum class Kind : uint8_t { kPad, kConvolution, kAverage, kMaximum };
struct Operations {
  explicit Operations(const ir::OpRegistry& registry)
      : batch_norm(registry.Find("opset5", "BatchNormInference")),
        mat_mul(registry.Find("opset1", "MatMul")),
        kinds(registry, {{"Pad", Kind::kPad},
                         {"Convolution", Kind::kConvolution},
                         {"GroupConvolution", Kind::kConvolution},
                         {"AvgPool", Kind::kAverage},
                         {"MaxPool", Kind::kMaximum}}) {}

  bool Is(const ir::Node& node, Kind kind) const {
    const Kind* found = kinds.Find(node.op());
    return found != nullptr && *found == kind;
  }

  ir::OpId batch_norm, mat_mul;
  ir::OpTable<Kind> kinds;
};

// y[c] = x[c] * scale[c] + shift[c]
struct Affine {
  std::vector<double> scale, shift;
};

// The elements of an input of `node` that is an f32 constant of one element a
// channel (or one in all).
std::optional<std::vector<double>> ChannelVector(const ir::Graph& graph, const ir::Node& node, int32_t input,
                                                 const Shape& result) {
  const TensorValue* value = ConstantOf(graph, node.input(input));
  if (value == nullptr || value->type() != ElementType::kF32) return std::nullopt;
  const OperandShape shape = ClassifyOperand(node, value->shape(), result, 1);
  if (shape != OperandShape::kPerChannel && shape != OperandShape::kScalar) return std::nullopt;
  std::vector<double> vector;
  for (int64_t c = 0; c < result[1]; ++c)
    vector.push_back(value->ElementAsDouble(value->volume() == 1 ? 0 : c));
  return vector;
}

std::optional<Affine> MatchBatchNorm(const ir::Graph& graph, const ir::Node& node, const Shape& result) {
  std::vector<std::vector<double>> vectors;
  for (int32_t i = 1; i < 5; ++i) {
    const TensorValue* value = ConstantOf(graph, node.input(i));
    if (value == nullptr || value->type() != ElementType::kF32 || value->volume() != result[1])
      return std::nullopt;
    std::vector<double>& vector = vectors.emplace_back();
    for (int64_t c = 0; c < result[1]; ++c) vector.push_back(value->ElementAsDouble(c));
  }
  const auto& [gamma, beta, mean, variance] = std::tie(vectors[0], vectors[1], vectors[2], vectors[3]);
  const double epsilon = node.Double("epsilon");
  Affine affine;
  for (size_t c = 0; c < gamma.size(); ++c) {
    affine.scale.push_back(gamma[c] / std::sqrt(variance[c] + epsilon));
    affine.shift.push_back(beta[c] - mean[c] * affine.scale[c]);
  }
  return affine;
}

// Which input of `node` it scales and shifts, and how.
struct AffineMatch {
  int32_t data = 0;
  Affine affine;
};
std::optional<AffineMatch> MatchAffine(const ir::Graph& graph, const Operations& operations,
                                       const ir::Node& node, const Shape& result) {
  if (node.op() == operations.batch_norm) {
    std::optional<Affine> affine = MatchBatchNorm(graph, node, result);
    if (affine) return AffineMatch{0, *affine};
  }
  if (!node.Is(ir::ElementFunction::kMultiply)) return std::nullopt;
  for (int32_t constant : {1, 0}) {
    std::optional<std::vector<double>> scale = ChannelVector(graph, node, constant, result);
    if (scale) return AffineMatch{1 - constant, {*scale, std::vector<double>(scale->size(), 0.0)}};
  }
  return std::nullopt;
}

bool UsedOnce(const ir::Graph& graph, ir::OutputPort port) {
  return graph.node(port.node).uses(port.index).size() == 1;
}

// A convolution with a constant filter and the constant bias behind it, if any.
struct BiasedConvolution {
  ir::NodeId convolution = {};
  std::vector<double> bias;
};
std::optional<BiasedConvolution> MatchConvolution(const ir::Graph& graph, const Operations& operations,
                                                  ir::OutputPort port, const Shape& result) {
  BiasedConvolution match{.bias = std::vector<double>(static_cast<size_t>(result[1]), 0.0)};
  const ir::Node* node = &graph.node(port.node);
  if (node->Is(ir::ElementFunction::kAdd)) {
    for (int32_t constant : {1, 0}) {
      std::optional<std::vector<double>> bias = ChannelVector(graph, *node, constant, result);
      const ir::OutputPort data = node->input(1 - constant);
      if (!bias || !UsedOnce(graph, data)) continue;
      match.bias = *bias;
      node = &graph.node(data.node);
      break;
    }
  }
  const TensorValue* filter =
      operations.Is(*node, Kind::kConvolution) ? ConstantOf(graph, node->input(1)) : nullptr;
  if (filter == nullptr || filter->type() != ElementType::kF32 || filter->volume() == 0) return std::nullopt;
  if (node->output().shape.extents() != result) return std::nullopt;
  match.convolution = node->id();
  return match;
}

// A node whose outputs have the type and shape of `like`.
ir::NodeId AddLike(ir::Graph& graph, const ir::Output& like, std::string_view set, std::string_view name,
                   ir::NodeSpec spec) {
  const ElementType type = like.type;
  const ir::PartialShape shape = like.shape;
  const ir::NodeId id = graph.AddNode(set, name, std::move(spec));
  graph.SetOutputType({id, 0}, type, shape);
  return id;
}

// An infinite factor would make NaN of weights, and of a bias, that are 0.
bool AllFinite(const TensorValue& value) {
  return llvm::all_of(value.elements<float>(), [](float element) { return std::isfinite(element); });
}

// Replaces affine(convolution(x, filter) + bias) by convolution(x, filter') +
// bias'. Rows of a filter, grouped or not, belong to output channels in order.
void FoldAffine(ir::Graph& graph, const Operations& operations, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.num_outputs() != 1 || !node.output().shape.known() || node.output().type != ElementType::kF32)
    return;
  const Shape result = node.output().shape.known_extents();
  if (result.size() < 3 || result[1] == 0) return;
  const std::optional<AffineMatch> match = MatchAffine(graph, operations, node, result);
  if (!match) return;
  const ir::OutputPort data = node.input(match->data);
  if (!UsedOnce(graph, data) || graph.output(data).shape.extents() != result) return;
  const std::optional<BiasedConvolution> source = MatchConvolution(graph, operations, data, result);
  if (!source || (source->convolution != data.node && !UsedOnce(graph, {source->convolution, 0}))) return;

  const ir::Node& convolution = graph.node(source->convolution);
  const TensorValue filter = ConstantOf(graph, convolution.input(1))->Aligned(alignof(float));
  const auto [scale, shift] = match->affine;
  const TensorValue scaled =
      TensorValue::Make<float>(ElementType::kF32, filter.shape(), [&](std::span<float> out) {
        const size_t row = out.size() / scale.size();
        for (size_t i = 0; i < out.size(); ++i) {
          out[i] = static_cast<float>(filter.elements<float>()[i] * scale[i / row]);
        }
      });
  Shape bias_shape(result.size(), 1);
  bias_shape[1] = result[1];
  const TensorValue bias = TensorValue::Make<float>(ElementType::kF32, bias_shape, [&](std::span<float> out) {
    for (size_t c = 0; c < out.size(); ++c)
      out[c] = static_cast<float>(source->bias[c] * scale[c] + shift[c]);
  });

  if (!AllFinite(scaled) || !AllFinite(bias)) return;

  const ir::NodeId filter_id = graph.AddConst(scaled, graph.node(convolution.input(1).node).name());
  const ir::NodeId bias_id = graph.AddConst(bias, node.name() + "/shift");
  const ir::OutputPort inputs[] = {convolution.input(0), {filter_id, 0}};
  const ir::NodeId folded = AddLike(graph, node.output(), convolution.set(), convolution.type(),
                                    {.name = convolution.name(),
                                     .inputs = inputs,
                                     .attributes = convolution.attributes(),
                                     .origin = convolution.origin()});
  const ir::OutputPort terms[] = {{folded, 0}, {bias_id, 0}};
  const ir::NodeId sum =
      AddLike(graph, graph.node(id).output(), "opset1", "Add",
              {.name = graph.node(id).name(), .inputs = terms, .origin = graph.node(id).origin()});
  graph.ReplaceAllUses({id, 0}, {sum, 0});
}

// The zeros that a Pad puts around the spatial axes of its input.
struct ZeroPadding {
  ir::Attribute::Integers before, after;
};
std::optional<ZeroPadding> MatchZeroPadding(const ir::Graph& graph, const ir::Node& node) {
  if (node.String("pad_mode") != "constant") return std::nullopt;
  const TensorValue* before = ConstantOf(graph, node.input(1));
  const TensorValue* after = ConstantOf(graph, node.input(2));
  if (before == nullptr || after == nullptr || before->volume() < 3 || before->volume() != after->volume()) {
    return std::nullopt;
  }
  if (node.num_inputs() > 3) {
    const TensorValue* value = ConstantOf(graph, node.input(3));
    if (value == nullptr || value->volume() != 1 || value->ElementAsDouble(0) != 0) return std::nullopt;
  }
  ZeroPadding padding;
  for (int64_t axis = 0; axis < before->volume(); ++axis) {
    const int64_t p = before->ElementAsInt(axis);
    const int64_t q = after->ElementAsInt(axis);
    if (p < 0 || q < 0 || (axis < 2 && (p > 0 || q > 0))) return std::nullopt;
    if (axis < 2) continue;
    padding.before.push_back(p);
    padding.after.push_back(q);
  }
  return padding;
}

bool IsUnpadded(const ir::Node& node) {
  const std::string auto_pad = node.String("auto_pad");
  if (auto_pad == "valid") return true;
  const auto zero = [&](std::string_view name) {
    return llvm::all_of(node.Ints(name), [](int64_t extent) { return extent == 0; });
  };
  return auto_pad == "explicit" && zero("pads_begin") && zero("pads_end");
}

// True if no element can be negative or NaN, as far as the nodes above tell.
bool NonNegative(const ir::Graph& graph, const Operations& operations, ir::OutputPort port) {
  for (int level = 0; level < 8; ++level) {
    const ir::Node& node = graph.node(port.node);
    if (node.Is(ir::ElementFunction::kRelu)) return true;
    if (node.Is(ir::ElementFunction::kClamp)) return node.Double("min") >= 0;
    // A maximum over a window in the border is negative infinity.
    const bool is_unpadded_maximum = operations.Is(node, Kind::kMaximum) && IsUnpadded(node);
    if (!is_unpadded_maximum && !operations.Is(node, Kind::kAverage)) return false;
    port = node.input(0);
  }
  return false;
}

// True if zeros inside the window are the same as padding of the node's own.
bool PadsWithZeros(const ir::Graph& graph, const Operations& operations, const ir::Node& node,
                   const ir::Node& pad, const ZeroPadding& padding) {
  if (operations.Is(node, Kind::kConvolution)) return true;
  if (node.String("rounding_type") != "floor") return false;
  if (operations.Is(node, Kind::kAverage)) return !node.Bool("exclude-pad");
  if (node.num_outputs() != 1 || !NonNegative(graph, operations, pad.input(0))) return false;
  const std::vector<int64_t> kernel = node.Ints("kernel");
  for (size_t i = 0; i < kernel.size(); ++i) {
    // Every window must see an element that is not padding.
    if (padding.before[i] >= kernel[i] || padding.after[i] >= kernel[i]) return false;
    if (node.Ints("pads_begin", kernel.size())[i] != 0 || node.Ints("pads_end", kernel.size())[i] != 0) {
      return false;
    }
  }
  return true;
}

// Moves the padding of `id`, a Pad, into those of its consumers that can do it.
void FoldPadding(ir::Graph& graph, const Operations& operations, ir::NodeId id) {
  const std::optional<ZeroPadding> padding = MatchZeroPadding(graph, graph.node(id));
  if (!padding) return;
  const llvm::ArrayRef<ir::InputPort> uses = graph.node(id).uses();
  const std::vector<ir::InputPort> consumers(uses.begin(), uses.end());
  for (ir::InputPort use : consumers) {
    const ir::Node& node = graph.node(use.node);
    const Kind* kind = operations.kinds.Find(node.op());
    if (kind == nullptr || *kind == Kind::kPad) continue;
    const std::string& auto_pad = node.String("auto_pad");
    if (use.index != 0 || (auto_pad != "explicit" && auto_pad != "valid")) continue;
    if (!PadsWithZeros(graph, operations, node, graph.node(id), *padding)) continue;
    const size_t rank = padding->before.size();
    ir::Attribute::Integers before = padding->before;
    ir::Attribute::Integers after = padding->after;
    if (auto_pad == "explicit") {
      const std::vector<int64_t> own_before = node.Ints("pads_begin", rank);
      const std::vector<int64_t> own_after = node.Ints("pads_end", rank);
      if (own_before.size() != rank || own_after.size() != rank) continue;
      for (size_t i = 0; i < rank; ++i) {
        before[i] += own_before[i];
        after[i] += own_after[i];
      }
    }
    graph.SetAttribute(use.node, "pads_begin", before);
    graph.SetAttribute(use.node, "pads_end", after);
    graph.SetAttribute(use.node, "auto_pad", "explicit");
    graph.SetInput(use.node, 0, graph.node(id).input(0));
  }
}

// Replaces a constant right side [inputs, outputs] by its transpose, the way
// in which oneDNN wants the weights of an inner product.
void TransposeConstant(ir::Graph& graph, const Operations& operations, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op() != operations.mat_mul || node.Bool("transpose_b")) return;
  const TensorValue* matrix = ConstantOf(graph, node.input(1));
  if (matrix == nullptr || matrix->type() != ElementType::kF32 || matrix->rank() != 2) return;
  const ir::PartialShape& left = graph.output(node.input(0)).shape;
  if (!left.rank_known() || left.rank() < 2) return;
  const TensorValue source = matrix->Aligned(alignof(float));
  const int64_t rows = source.shape()[0];
  const int64_t columns = source.shape()[1];
  const TensorValue transposed =
      TensorValue::Make<float>(ElementType::kF32, {columns, rows}, [&](std::span<float> out) {
        CopyElements(
            TensorView(ElementType::kF32, {columns, rows}, Strides{1, columns}, source.bytes()),
            MutableTensorView(ElementType::kF32, {columns, rows}, reinterpret_cast<std::byte*>(out.data())));
      });
  const ir::NodeId constant = graph.AddConst(transposed, graph.node(node.input(1).node).name());
  graph.SetInput(id, 1, {constant, 0});
  graph.SetAttribute(id, "transpose_b", true);
}

}  // namespace

void RewriteForOneDnn(ir::Graph& graph) {
  const std::optional<std::vector<ir::NodeId>> order = graph.TopologicalOrder();
  if (!order) return;
  const Operations operations(graph.registry());
  for (ir::NodeId id : *order) {
    if (operations.Is(graph.node(id), Kind::kPad)) FoldPadding(graph, operations, id);
    FoldAffine(graph, operations, id);
    TransposeConstant(graph, operations, id);
  }
  graph.EraseDeadNodes();
}

}  // namespace nnefc::runtime
