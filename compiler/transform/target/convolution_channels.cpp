// Convolutions with other numbers of channels, whose kernels are faster: grouped ones with a channel per
// group, and transposed ones with few outputs.

#include <algorithm>
#include <span>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

namespace {

using Extents = std::vector<int64_t>;

// --- several outputs of each input channel ---------------------------------------------

// Repeats the channels of the images of a GroupConvolution [groups, outputs, 1, ...], so that each output has
// its own.
void RepeatChannels(Graph& graph, const Node& convolution) {
  const TensorValue* constant = ConstantF32(graph.ir(), convolution.ir().input(1));
  if (constant == nullptr) return;
  const TensorValue filter = *constant;  // a copy: new nodes may move the constant
  Shape shape = filter.shape();
  const int64_t groups = shape[0], outputs = shape[1];
  if (groups == 1 || outputs == 1 || shape[2] != 1) return;
  Extents channels;
  for (int64_t i = 0; i < groups * outputs; ++i) channels.push_back(i / outputs);
  shape[0] = groups * outputs;
  shape[1] = 1;
  const Port axis = graph.CreateConst(TensorValue::FromInts({}, {1}), convolution.name()).out_port(0);
  const Port repeated = MakePart(
      graph, convolution, "/channels", "opset1.Gather",
      {convolution.in_port(0).GetSource(), MakeInts(graph, convolution, "/repeated", channels), axis});
  const Port own = graph.CreateConst(filter.Reshaped(shape), convolution.name()).out_port(0);
  convolution.in_port(0).Connect(repeated);
  convolution.in_port(1).Connect(own);
}

// --- few outputs of transposed convolutions --------------------------------------------

// The results of a transposed convolution along an axis whose positions have the same remainder by the
// stride: result `stride * b + phase` is the sum over t of input[b + shift - t] * filter[first + stride * t].
struct SubpixelPhase {
  int64_t first, shift, taps;
};

// An axis of a transposed convolution as a convolution with one output per phase, whose filter has room for
// the taps of all phases: of input[b + begin] and so on.
struct SubpixelAxis {
  int64_t stride, size;
  std::vector<SubpixelPhase> phases;
  int64_t begin, taps;
  int64_t pad_end;

  static SubpixelAxis Of(int64_t stride, int64_t size, int64_t pad, int64_t input, int64_t results) {
    SubpixelAxis axis{.stride = stride, .size = size, .phases = {}, .begin = 0, .taps = 0};
    int64_t end = 0;
    for (int64_t phase = 0; phase < stride; ++phase) {
      const int64_t first = (phase + pad) % stride, shift = (phase + pad) / stride;
      const int64_t taps = first < size ? (size - first + stride - 1) / stride : 0;
      axis.phases.push_back({first, shift, taps});
      const int64_t begin = shift - std::max<int64_t>(taps, 1) + 1;
      axis.begin = phase == 0 ? begin : std::min(axis.begin, begin);
      end = std::max(end, shift + 1);
    }
    axis.taps = end - axis.begin;
    axis.pad_end = results / stride - 1 + end - input;
    return axis;
  }
  int64_t pad_begin() const { return -begin; }
  // Returns the tap of the transposed convolution for a tap of a phase; nothing if it is 0.
  std::optional<int64_t> TapOf(int64_t phase, int64_t tap) const {
    const SubpixelPhase& of = phases[static_cast<size_t>(phase)];
    const int64_t t = of.shift - begin - tap;
    return t >= 0 && t < of.taps ? std::optional(of.first + stride * t) : std::nullopt;
  }
};

// Splits an index into digits of a mixed base, the last one first.
Extents Digits(int64_t index, llvm::ArrayRef<int64_t> bases) {
  Extents digits(bases.size());
  for (size_t i = bases.size(); i-- > 0; index /= bases[i]) digits[i] = index % bases[i];
  return digits;
}

// Returns [phases * outputs, inputs, taps...] from [inputs, outputs, sizes...].
TensorValue SubpixelFilter(const TensorValue& filter, llvm::ArrayRef<SubpixelAxis> axes) {
  const int64_t inputs = filter.shape()[0], outputs = filter.shape()[1];
  Extents phases, taps, sizes;
  for (const SubpixelAxis& axis : axes) {
    phases.push_back(axis.stride);
    taps.push_back(axis.taps);
    sizes.push_back(axis.size);
  }
  const int64_t count = *Volume(phases), row = *Volume(taps), window = *Volume(sizes);
  Shape shape = {count * outputs, inputs};
  shape.append(taps.begin(), taps.end());
  const TensorValue from = filter.Loaded().Aligned(alignof(float));
  const std::span<const float> numbers = from.elements<float>();
  return TensorValue::Make<float>(ElementType::kF32, shape, [&](std::span<float> out) {
    std::fill(out.begin(), out.end(), 0.0F);
    for (int64_t phase = 0; phase < count; ++phase) {
      const Extents of_phase = Digits(phase, phases);
      for (int64_t tap = 0; tap < row; ++tap) {
        const Extents of_tap = Digits(tap, taps);
        int64_t place = 0;
        bool is_zero = false;
        for (size_t i = 0; i < axes.size(); ++i) {
          const std::optional<int64_t> own = axes[i].TapOf(of_phase[i], of_tap[i]);
          is_zero = is_zero || !own;
          place = place * axes[i].size + own.value_or(0);
        }
        if (is_zero) continue;
        for (int64_t output = 0; output < outputs; ++output) {
          for (int64_t input = 0; input < inputs; ++input)
            out[static_cast<size_t>(((phase * outputs + output) * inputs + input) * row + tap)] =
                numbers[static_cast<size_t>((input * outputs + output) * window + place)];
        }
      }
    }
  });
}

// Returns whether a convolution with these axes has clearly fewer products than a transposed one, both with
// whole vectors of outputs.
bool IsFaster(int64_t outputs, llvm::ArrayRef<SubpixelAxis> axes) {
  constexpr int64_t kVector = 16, kFifths = 5, kClearly = 4;
  const auto in_vectors = [](int64_t count) { return (count + kVector - 1) / kVector; };
  int64_t phases = 1, taps = 1, sizes = 1;
  for (const SubpixelAxis& axis : axes) {
    phases *= axis.stride;
    taps *= axis.taps;
    sizes *= axis.size;
  }
  return kFifths * in_vectors(outputs * phases) * taps <= kClearly * in_vectors(outputs) * sizes;
}

// Replaces a transposed convolution by a convolution whose channels are the pixels of each block of results.
void ConvolveSubpixels(Graph& graph, const Node& node) {
  const TensorValue* filter = ConstantF32(graph.ir(), node.ir().input(1));
  const std::optional<Shape> input = node.in_port(0).shape().extents(),
                             result = node.out_port(0).shape().extents();
  if (filter == nullptr || !input || !result || node.num_in_ports() > 2) return;
  if (node.ir().String("auto_pad") != "explicit") return;
  const size_t spatial = input->size() - 2;
  const Extents strides = node.ir().Ints("strides", spatial),
                dilations = node.ir().Ints("dilations", spatial),
                pads = node.ir().Ints("pads_begin", spatial);
  if (!llvm::is_splat(strides) || strides[0] == 1) return;
  std::vector<SubpixelAxis> axes;
  bool overlaps = false;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t results = (*result)[i + 2], size = filter->shape()[i + 2];
    // Fewer taps than phases would leave phases without any; their number is bounded by that of the taps.
    if (dilations[i] != 1 || pads[i] < 0 || results % strides[i] != 0 || strides[i] > size) return;
    axes.push_back(SubpixelAxis::Of(strides[i], size, pads[i], (*input)[i + 2], results));
    if (axes.back().pad_begin() < 0 || axes.back().pad_end < 0) return;
    overlaps = overlaps || size > strides[i];
  }
  // Windows that do not overlap are a matrix multiplication.
  const int64_t outputs = filter->shape()[1];
  if (!overlaps || !IsFaster(outputs, axes)) return;
  const Extents ones(spatial, 1);
  Extents before, after;
  for (const SubpixelAxis& axis : axes) {
    before.push_back(axis.pad_begin());
    after.push_back(axis.pad_end);
  }
  ir::AttributeMap window;
  window.Set("strides", ones);
  window.Set("dilations", ones);
  window.Set("pads_begin", before);
  window.Set("pads_end", after);
  const Port phases = graph.CreateConst(SubpixelFilter(*filter, axes), node.name()).out_port(0);
  const Port pixels = MakePart(graph, node, "/subpixels", "opset1.Convolution",
                               {node.in_port(0).GetSource(), phases}, std::move(window));
  Graph::Spec spec{.name = node.name(), .origin = node.ir().origin()};
  spec.attributes.Set("mode", "blocks_first");
  spec.attributes.Set("block_size", strides[0]);
  TakePlace(graph, node, graph.CreateNode("opset1.DepthToSpace", {pixels}, std::move(spec)));
  graph.Remove(node);
}

}  // namespace

class RepeatGroupChannels : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A GroupConvolution with one input channel and several outputs per group reads a repeated channel "
           "for each output, since kernels for one filter per channel are the fastest.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,3]} : f32[1,2,3]
%1 = opset1.Const "w" : f32[2,2,1,2] = dense<f32[2,2,1,2]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0>
%2 = opset1.GroupConvolution "c" (%0, %1) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : f32[1,4,2]
opset1.Result "y" (%2)
)";
  }
  Names RunAfter() const override { return {"TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetOpNodes("opset1.GroupConvolution")) RepeatChannels(graph, node);
  }
};

class ConvolveSubpixelPhases : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A strided ConvolutionBackpropData with few outputs becomes a Convolution with an output for each "
           "pixel of a block of the result, and DepthToSpace, where its outputs would waste most of a "
           "vector.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,3]} : f32[1,2,3]
%1 = opset1.Const "w" : f32[2,1,4] = dense<f32[2,1,4]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0>
%2 = opset1.ConvolutionBackpropData "d" (%0, %1) {strides = [2], dilations = [1], pads_begin = [1], pads_end = [1]} : f32[1,1,6]
opset1.Result "y" (%2)
)";
  }
  Names RunAfter() const override { return {"TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetOpNodes("opset1.ConvolutionBackpropData"))
      ConvolveSubpixels(graph, node);
  }
};

void RegisterConvolutionChannels(TransformationList& list) {
  list.Add<target::RepeatGroupChannels>();
  list.Add<target::ConvolveSubpixelPhases>();
}

}  // namespace nnefc::transform::target
