#include "compiler/ir/ops/arithmetic/quantized_values.h"

#include <array>
#include <cmath>
#include <string_view>

#include "compiler/ir/ops/windows/resized_axis.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::ir::ops {

namespace {

using Formula = LinearQuantization::Formula;
// Returns the formula of a quantizing operation; nothing for those that are lowered to others.
std::optional<Formula> FormulaOf(const Node& node) {
  switch (node.info().quantizer) {
    case Quantizer::kFakeQuantize:
      return Formula::kFakeQuantize;
    case Quantizer::kMinMaxLinear:
      return Formula::kMinMax;
    case Quantizer::kZeroPointLinear:
      return Formula::kZeroPoint;
    case Quantizer::kNone:
    case Quantizer::kLinear:
    case Quantizer::kLogarithmic:
      break;
  }
  return std::nullopt;
}

// The input values of the ends of a range, and their results: the numbers represented by 0 and 255.
struct Ends {
  double low = 0;  // input
  double high = 0;
  double first = 0;  // result
  double last = 0;
};

std::optional<Ends> EndsOf(const Node& node, Formula formula, llvm::ArrayRef<double> limits) {
  if (formula == Formula::kFakeQuantize) {
    if (limits.size() != 4 || node.Int("levels") != kQuantizedValues) return std::nullopt;
    return Ends{limits[0], limits[1], limits[2], limits[3]};
  }
  const bool is_signed = node.Bool("signed");
  if (node.Int("bits") != 8 || (is_signed && node.Bool("symmetric"))) return std::nullopt;
  if (formula == Formula::kMinMax) return Ends{limits[0], limits[1], limits[0], limits[1]};
  const double first = ((is_signed ? -128 : 0) - limits[0]) * limits[1];
  const double last = first + (kQuantizedValues - 1) * limits[1];
  return Ends{first, last, first, last};
}

}  // namespace

std::optional<LinearQuantization> LinearQuantizationOf(const Node& node,
                                                       llvm::ArrayRef<const TensorValue*> limits) {
  const std::optional<Formula> formula = FormulaOf(node);
  if (!formula) return std::nullopt;
  llvm::SmallVector<double, 4> at;
  for (const TensorValue* limit : limits) {
    if (limit == nullptr || limit->volume() != 1) return std::nullopt;
    at.push_back(limit->ElementAsDouble(0));
    if (!std::isfinite(at.back())) return std::nullopt;
  }
  const std::optional<Ends> ends = EndsOf(node, *formula, at);
  if (!ends) return std::nullopt;
  const auto [low, high, first, last] = *ends;
  const double scale = (last - first) / (kQuantizedValues - 1);
  const double zero = -first / scale;
  constexpr double kWhole = 1e-3;
  // Ranges too narrow for f32 cannot be quantized.
  if (!(low < high) || !(scale > 1e-30) || !(high - low > 1e-30)) return std::nullopt;
  if (!(zero > -kWhole && zero < kQuantizedValues - 1 + kWhole)) return std::nullopt;
  if (std::abs(zero - std::nearbyint(zero)) > kWhole) return std::nullopt;
  return LinearQuantization{.formula = *formula,
                            .low = static_cast<float>(low),
                            .high = static_cast<float>(high),
                            .scale = static_cast<float>(scale),
                            .zero = static_cast<int>(std::lround(zero))};
}

std::optional<LinearQuantization> LinearQuantizationOf(const Graph& graph, const Node& node) {
  if (!FormulaOf(node) || node.output().type != ElementType::kF32) return std::nullopt;
  const std::optional<Shape> shape = node.output().shape.extents();
  if (!shape || shape != graph.output(node.input(0)).shape.extents()) return std::nullopt;
  llvm::SmallVector<const TensorValue*, 4> limits;
  for (OutputPort port : node.inputs().drop_front(1)) {
    const Node& limit = graph.node(port.node);
    const bool is_constant = limit.Is(OpRole::kConst) && limit.output().value;
    limits.push_back(is_constant ? &*limit.output().value : nullptr);
  }
  return LinearQuantizationOf(node, limits);
}

const Node& SkipViews(const Graph& graph, const Node& node) {
  const Node* seen = &node;
  while (seen->Is(OpRole::kView)) seen = &graph.node(seen->input(0).node);
  return *seen;
}

bool IsTableLookup(const Graph& graph, const Node& convert) {
  if (!convert.Is(ElementFunction::kConvert) || convert.uses(0).size() != 1) return false;
  const ElementType indices = convert.output().type;  // must represent all quantized values
  if (indices != ElementType::kI32 && indices != ElementType::kI64) return false;
  const InputPort use = convert.uses(0)[0];
  const Node& gather = graph.node(use.node);
  const bool is_gather = graph.registry().Find("opset8", "Gather") == gather.op();
  if (!is_gather || use.index != 1 || gather.Int("batch_dims") != 0) return false;
  const Node& table = graph.node(gather.input(0).node);
  if (!table.Is(OpRole::kConst) || !table.output().value) return false;
  return table.output().type == ElementType::kF32 && table.output().value->shape() == Shape{kQuantizedValues};
}

namespace {

// Returns whether quantized data and results of a node are NHWC.
bool ComputesImages(const Node& node) {
  return node.Is(Contraction::kConvolution) || node.Is(Contraction::kGroupConvolution) ||
         node.Is(Contraction::kConvolutionBackpropData) || node.Is(Pooling::kMax);
}

}  // namespace

// Follows the data to the producer: the results of convolutions and MaxPool are NHWC. All others count as
// row-major, though backends may store some in NHWC.
bool AreRowMajor(const Graph& graph, const Node& quantize) {
  constexpr int kMaxSteps = 16;
  const Node* node = &quantize;
  for (int step = 0; step < kMaxSteps && node->num_inputs() > 0; ++step) {
    if (ComputesImages(*node)) return false;
    const size_t data = node->num_inputs() > 1 && IsTableLookup(graph, graph.node(node->input(1).node));
    if (node->Is(OpRole::kComputation) && node->info().products != nullptr) return true;
    node = &graph.node(node->input(static_cast<int32_t>(data)).node);
  }
  return true;
}

namespace {

// Returns whether an axis of images, of rank 3 to 5, is that of the channels.
bool IsOfChannels(int64_t axis, const PartialShape& images) {
  constexpr int64_t kMinRank = 3, kMaxRank = 5;
  if (!images.rank_known() || images.rank() < kMinRank || images.rank() > kMaxRank) return false;
  return (axis < 0 ? axis + images.rank() : axis) == 1;
}

// Returns whether a convolution or MaxPool reads the result of a node as its data.
bool HasImageConsumer(const Graph& graph, const Node& node) {
  return llvm::any_of(node.uses(0), [&](const InputPort& use) {
    return use.index == 0 && ComputesImages(graph.node(use.node));
  });
}

}  // namespace

bool JoinsImages(const Graph& graph, const Node& concat) {
  constexpr int64_t kRankOfSequences = 3;
  const PartialShape& shape = concat.output().shape;
  if (!IsOfChannels(concat.Int("axis"), shape)) return false;
  const bool has_row_major_part = llvm::any_of(
      concat.inputs(), [&](OutputPort part) { return AreRowMajor(graph, graph.node(part.node)); });
  return !has_row_major_part || (shape.rank() > kRankOfSequences && HasImageConsumer(graph, concat));
}

bool SplitsImages(const Graph& graph, const Node& split) {
  if (!split.Is(Rearrangement::kSplit) || split.num_inputs() < 2) return false;
  const std::optional<TensorValue>& axis = graph.output(split.input(1)).value;
  return axis && axis->volume() == 1 &&
         IsOfChannels(axis->ElementAsInt(0), graph.output(split.input(0)).shape) &&
         llvm::all_of(split.outputs(), [](const Output& part) { return part.shape.known(); }) &&
         !AreRowMajor(graph, graph.node(split.input(0).node));
}

bool RepeatsPixels(const Graph& graph, const Node& resize) {
  const bool is_opset4 = graph.registry().Find("opset4", "Interpolate") == resize.op();
  if (!is_opset4 && graph.registry().Find("opset11", "Interpolate") != resize.op()) return false;
  const int32_t axes_input = is_opset4 ? 3 : 2;
  const std::optional<Shape> input = graph.output(resize.input(0)).shape.extents(),
                             output = resize.output().shape.extents();
  if (ReadInterpolationModes(resize).mode != "nearest" || resize.num_inputs() <= axes_input || !input ||
      !output || !IsOfChannels(1, resize.output().shape))
    return false;
  if (HasPads(resize)) return false;
  for (OutputPort operand : resize.inputs().drop_front()) {
    if (!graph.output(operand).value) return false;
  }
  const TensorValue& axes = *graph.output(resize.input(axes_input)).value;
  const bool has_sizes = resize.String("shape_calculation_mode") == "sizes";
  for (int64_t i = 0; i < axes.volume(); ++i) {
    const int64_t given = axes.ElementAsInt(i);
    const auto axis = static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(input->size()) : given);
    // A scale may move pixels even if the extent stays.
    if (axis < 2 && (!has_sizes || (*input)[axis] != (*output)[axis])) return false;
  }
  return !AreRowMajor(graph, graph.node(resize.input(0).node));
}

bool ExtendsChannels(const Graph& graph, const Node& pad) {
  if (!pad.Is(Rearrangement::kPad) || pad.String("pad_mode") != "constant") return false;
  const auto values_of = [&](int32_t input) {
    llvm::SmallVector<double, 8> values;
    const std::optional<TensorValue>& given = graph.output(pad.input(input)).value;
    for (int64_t i = 0; given && i < given->volume(); ++i) values.push_back(given->ElementAsDouble(i));
    return values;
  };
  const auto is_zero = [](double value) { return value == 0; };
  const llvm::SmallVector<double, 8> begin = values_of(1), end = values_of(2);
  if (!IsOfChannels(1, pad.output().shape) || static_cast<int64_t>(end.size()) != pad.output().shape.rank() ||
      begin.size() != end.size() || !llvm::all_of(begin, is_zero))
    return false;
  for (size_t axis = 0; axis < end.size(); ++axis) {
    if (axis == 1 ? !(end[axis] > 0) : end[axis] != 0) return false;
  }
  if (pad.num_inputs() > 3) {
    const llvm::SmallVector<double, 8> border = values_of(3);
    if (border.size() != 1 || border[0] != 0) return false;
  }
  return !AreRowMajor(graph, graph.node(pad.input(0).node));
}

std::optional<NodeId> SourceOfImage(const Graph& graph, OutputPort port,
                                    llvm::function_ref<bool(const Node&)> is_result) {
  constexpr int kMaxMoves = 16;
  for (int step = 0; step < kMaxMoves; ++step) {
    const Node& node = graph.node(port.node);
    if (is_result(node)) return node.id();
    const bool is_pooled = port.index == 0 && node.Is(Pooling::kMax);
    if (!is_pooled && !SplitsImages(graph, node) && !ExtendsChannels(graph, node) &&
        !RepeatsPixels(graph, node))
      return std::nullopt;
    port = node.input(0);
  }
  return std::nullopt;
}

namespace {

// Returns whether an operand is a constant f32 with one element, or one for each channel of images.
bool IsOfEachChannel(const Output& operand, llvm::ArrayRef<int64_t> images) {
  if (!operand.value || operand.type != ElementType::kF32) return false;
  const Shape& shape = operand.value->shape();
  if (operand.value->volume() == 1) return shape.size() <= images.size();
  const size_t axis = shape.size() - (images.size() - 1);
  return shape.size() >= images.size() - 1 && shape.size() <= images.size() &&
         operand.value->volume() == images[1] && shape[axis] == images[1];
}

}  // namespace

llvm::SmallVector<NodeId, 4> FunctionsOfConcat(const Graph& graph, const Node& concat) {
  if (!concat.Is(Rearrangement::kConcat) || !IsOfChannels(concat.Int("axis"), concat.output().shape))
    return {};
  const std::optional<Shape> images = concat.output().shape.extents();
  if (!images || Volume(*images).value_or(0) == 0) return {};
  constexpr ElementFunction kOrder[] = {ElementFunction::kMultiply, ElementFunction::kAdd,
                                        ElementFunction::kRelu};
  llvm::SmallVector<NodeId, 4> nodes;
  const Node* last = &concat;
  for (size_t next = 0;; ++next) {
    if (last->num_outputs() != 1 || last->uses(0).size() != 1) return {};
    const InputPort use = last->uses(0)[0];
    const Node& node = graph.node(use.node);
    if (node.num_outputs() != 1 || node.output().shape.extents() != images) return {};
    nodes.push_back(node.id());
    if (use.index == 0 && node.info().quantizer != Quantizer::kNone) break;
    while (next < std::size(kOrder) && !node.Is(kOrder[next])) ++next;
    if (next >= std::size(kOrder)) return {};
    if (!node.Is(ElementFunction::kRelu) &&
        !IsOfEachChannel(graph.output(node.input(1 - use.index)), *images))
      return {};
    last = &node;
  }
  return nodes.size() > 1 ? nodes : llvm::SmallVector<NodeId, 4>();
}

bool SubtractsZeroPoints(const Graph& graph, const Node& node) {
  if (!node.Is(ElementFunction::kSubtract) || node.uses(0).size() != 1 || node.uses(0)[0].index != 0)
    return false;
  const Output& zeros = graph.output(node.input(1));
  const Node& user = graph.node(node.uses(0)[0].node);
  if (!zeros.value || !zeros.shape.known() || !user.Is(Contraction::kGroupConvolution)) return false;
  const Shape shape = zeros.shape.known_extents();
  const std::optional<Shape> data = graph.output(node.input(0)).shape.extents();
  const std::optional<Shape> filter = graph.output(user.input(1)).shape.extents();
  if (!data || !filter || shape.size() != data->size() || filter->size() != data->size() + 1) return false;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != (axis == 1 ? (*data)[1] : 1)) return false;
  }
  return (*filter)[0] == (*data)[1] && (*filter)[1] == 1 && (*filter)[2] == 1;
}

namespace {

// Entries of rt_info. Those of files contain a slash.
constexpr std::string_view kQuantizedResult = "quantized_result";
constexpr std::string_view kFilterScales = "filter_scales";
constexpr std::string_view kFilterMagnitude = "filter_magnitude";
constexpr std::string_view kQuantizedOperands = "quantized_operands";  // scale and zero point of each
constexpr std::string_view kQuantizedData = "quantized_data";          // scale and zero point

}  // namespace

void MarkQuantizedResult(Graph& graph, NodeId node) {
  graph.SetRtInfo(node, kQuantizedResult, true);
}

bool HasQuantizedResult(const Node& node) {
  return node.rt_info().Find(kQuantizedResult) != nullptr;
}

void MarkQuantizedFilter(Graph& graph, NodeId node, const FilterQuantization& filter) {
  graph.SetRtInfo(node, kFilterScales, Attribute::Scalars(filter.scales.begin(), filter.scales.end()));
  graph.SetRtInfo(node, kFilterMagnitude, static_cast<double>(filter.max_magnitude));
}

std::optional<FilterQuantization> QuantizedFilterOf(const Node& node) {
  const Attribute* scales = node.rt_info().Find(kFilterScales);
  if (scales == nullptr) return std::nullopt;
  FilterQuantization filter;
  for (double scale : scales->AsDoubles()) filter.scales.push_back(static_cast<float>(scale));
  filter.max_magnitude = static_cast<float>(node.rt_info().Get(kFilterMagnitude).AsDouble());
  return filter;
}

void UnmarkQuantized(Graph& graph, NodeId node) {
  for (std::string_view name : {kQuantizedResult, kFilterScales, kFilterMagnitude})
    graph.EraseRtInfo(node, name);
}

void MarkQuantizedOperands(Graph& graph, NodeId node, const QuantizedOperands& operands) {
  const auto& [left, right] = operands;
  const std::array<double, 4> numbers = {left.scale, static_cast<double>(left.zero), right.scale,
                                         static_cast<double>(right.zero)};
  graph.SetRtInfo(node, kQuantizedOperands, Attribute::Scalars(numbers.begin(), numbers.end()));
}

std::optional<QuantizedOperands> QuantizedOperandsOf(const Node& node) {
  const Attribute* entry = node.rt_info().Find(kQuantizedOperands);
  if (entry == nullptr) return std::nullopt;
  const auto numbers = entry->AsDoubles();
  return QuantizedOperands{
      .left = {.scale = static_cast<float>(numbers[0]), .zero = static_cast<int>(numbers[1])},
      .right = {.scale = static_cast<float>(numbers[2]), .zero = static_cast<int>(numbers[3])}};
}

bool MultipliesQuantizedTensors(const Node& node) {
  return node.Is(Contraction::kMatMul) && QuantizedOperandsOf(node);
}

void MarkQuantizedData(Graph& graph, NodeId node, const QuantizedOperands::Operand& data) {
  const std::array<double, 2> numbers = {data.scale, static_cast<double>(data.zero)};
  graph.SetRtInfo(node, kQuantizedData, Attribute::Scalars(numbers.begin(), numbers.end()));
}

std::optional<QuantizedOperands::Operand> QuantizedDataOf(const Node& node) {
  const Attribute* entry = node.rt_info().Find(kQuantizedData);
  if (entry == nullptr) return std::nullopt;
  const auto numbers = entry->AsDoubles();
  return QuantizedOperands::Operand{.scale = static_cast<float>(numbers[0]),
                                    .zero = static_cast<int>(numbers[1])};
}

}  // namespace nnefc::ir::ops
