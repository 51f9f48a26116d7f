// Raising of OpenVINO's convolutions and their backward operations to NNEF's conv and deconv.

#include <algorithm>

#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"
#include "compiler/raise/windows/window.h"

namespace nnefc::raise {

namespace {

struct Filter {
  OutputPort
      port;  // [outputs, inputs / groups, ..], of a transposed convolution [inputs, outputs / groups, ..]
  Integers size;
  int64_t groups = 1;
};

// Returns the constant filter times a scale for each of its outputs, the leading axes of the filter.
TensorValue Scaled(const TensorValue& filter, llvm::ArrayRef<double> scales) {
  const TensorValue from = filter.AlignedToElements();
  const size_t taps = static_cast<size_t>(filter.volume()) / scales.size();
  return TensorValue::Make<float>(ElementType::kF32, filter.shape(), [&](std::span<float> to) {
    const llvm::ArrayRef<float> elements = from.elements<float>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(elements[i] * scales[i / taps]);
  });
}

// Joins the first two axes of a grouped filter [groups, .., .., spatial..].
template <bool kIsGrouped>
Filter ReadFilter(NodeRaising& n) {
  const nnefc::Shape shape = n.input_shape(1);
  Filter filter{.size = Integers(shape.begin() + (kIsGrouped ? 3 : 2), shape.end())};
  nnefc::Shape joined = shape;
  if (kIsGrouped) {
    filter.groups = shape[0];
    joined.erase(joined.begin());
    joined[0] *= filter.groups;
  }
  const llvm::ArrayRef<double> scales = n.AbsorbedScales();
  filter.port = scales.empty() ? n.WithShape(1, joined)
                               : n.ConstantInput(1, Scaled(*n.Value(1), scales).Reshaped(joined));
  return filter;
}

std::vector<OutputPort> Operands(NodeRaising& n, const Filter& filter) {
  std::vector<OutputPort> operands{n.input(0), filter.port};
  const std::optional<OutputPort> bias = n.AbsorbedBias();
  operands.push_back(bias ? *bias : n.Literal(0.0));
  return operands;
}

// One group for each channel is the number 0.
void SetGroups(ir::AttributeMap& attributes, int64_t groups, bool is_depthwise) {
  attributes.Set("groups", groups > 1 && is_depthwise ? 0 : groups);
}

template <bool kIsGrouped>
void RaiseConvolution(NodeRaising& n) {
  n.RequireScalars();
  const Filter filter = ReadFilter<kIsGrouped>(n);
  const Integers input = Spatial(n.input_shape(0));
  const Integers output = Spatial(n.output_shape());
  ir::AttributeMap attributes = WindowAttributes(ReadWindow(n, filter.size, input, output), input, output, 0);
  SetGroups(attributes, filter.groups, filter.groups == n.input_shape(0)[1]);
  n.SetOutput(n.Add("conv", Operands(n, filter), std::move(attributes)));
}

// Resolves the padding of a transposed convolution: an output shape determines it, otherwise automatic
// padding is none. Declines explicit padding that differs at the begin: by its definition, the operation
// ignores it, but OpenVINO's CPU plug-in crops the result by it.
void ResolvePadding(NodeRaising& n, Window& window, const Integers& input, const Integers& output) {
  const std::string& mode = n.node().String("auto_pad");
  if (!n.has_input(2)) {
    if (mode == "explicit") return;
    window.pad_begin.assign(window.rank(), 0);
    window.pad_end.assign(window.rank(), 0);
    return;
  }
  const Integers extra = n.node().Ints("output_padding", window.rank());
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t total = window.stride[i] * (input[i] - 1) + window.reach(i) - output[i] + extra[i];
    // A result that extends beyond the windows grows at its end.
    const int64_t cropped = std::max<int64_t>(total, 0);
    const int64_t begin = mode == "same_upper" ? cropped - cropped / 2 : cropped / 2;
    if (begin != window.pad_begin[i] && (mode == "explicit" || mode == "valid"))
      n.Decline("its output shape implies {} elements of padding before axis {}, and its attributes {}",
                begin, i + 2, window.pad_begin[i]);
    window.pad_begin[i] = begin;
    window.pad_end[i] = total - begin;
  }
}

// True if tract computes a transposed convolution with automatic padding: each window overlaps the next.
bool OverlapsNext(const Window& window) {
  for (size_t i = 0; i < window.rank(); ++i) {
    if (window.reach(i) <= window.stride[i]) return false;
  }
  return true;
}

template <bool kIsGrouped>
void RaiseBackpropData(NodeRaising& n) {
  n.RequireScalars();
  const Filter filter = ReadFilter<kIsGrouped>(n);
  const Integers input = Spatial(n.input_shape(0));
  const Integers output = Spatial(n.output_shape());
  Window window = ReadWindow(n, filter.size, input, output);
  ResolvePadding(n, window, input, output);
  // The window slides over the result. Automatic padding implies an extent of input * stride.
  bool is_natural = true;
  bool is_scaled = true;
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t natural =
        (input[i] - 1) * window.stride[i] + window.reach(i) - window.pad_begin[i] - window.pad_end[i];
    is_natural = is_natural && natural == output[i];
    is_scaled = is_scaled && output[i] == input[i] * window.stride[i];
  }
  ir::AttributeMap attributes = WindowAttributes(window, output, input, 0);
  const bool is_automatic =
      is_scaled && attributes.Get("padding").ListSize() == 0 && (!IsForTract(n) || OverlapsNext(window));
  if (!is_automatic) {
    std::vector<std::pair<int64_t, int64_t>> padding;
    for (size_t i = 0; i < window.rank(); ++i) padding.emplace_back(window.pad_begin[i], window.pad_end[i]);
    attributes.Set("padding", ir::PairList(padding));
  }
  if (!is_natural && !is_automatic) {
    const nnefc::Shape shape = n.output_shape();
    attributes.Set("output_shape", Integers(shape.begin(), shape.end()));
  }
  SetGroups(attributes, filter.groups,
            filter.groups == n.output_shape()[1] && filter.groups == n.input_shape(0)[1]);
  n.SetOutput(n.Add("deconv", Operands(n, filter), std::move(attributes)));
}

}  // namespace

std::vector<RaiseEntry> ConvolutionEntries() {
  return {{"Convolution", RaiseConvolution<false>},
          {"GroupConvolution", RaiseConvolution<true>},
          {"ConvolutionBackpropData", RaiseBackpropData<false>},
          {"GroupConvolutionBackpropData", RaiseBackpropData<true>}};
}

}  // namespace nnefc::raise
