// Raising of OpenVINO's pooling operations to NNEF operations.

#include <algorithm>

#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"
#include "compiler/raise/windows/window.h"

namespace nnefc::raise {

namespace {

constexpr size_t kLeading = 2;  // batch and channels

Integers FullSize(const Window& window) {
  Integers size(kLeading, 1);
  size.insert(size.end(), window.size.begin(), window.size.end());
  return size;
}

// Returns the padding at the end with which the extent of the result, rounded down, is `output`. Other than
// the node's, it covers the last window where the node rounds up.
Integers CoveringEnd(const Window& window, const Integers& input, const Integers& output) {
  Integers end = window.pad_end;
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t places =
        (input[i] + window.pad_begin[i] + window.pad_end[i] - window.reach(i)) / window.stride[i] + 1;
    if (places != output[i])
      end[i] = (output[i] - 1) * window.stride[i] + window.reach(i) - input[i] - window.pad_begin[i];
  }
  return end;
}

OutputPort Pool(NodeRaising& n, std::string_view operation, const Window& window, bool ignores_border,
                std::string_view suffix = {}) {
  const Integers input = Spatial(n.input_shape(0));
  const Integers output = Spatial(n.output_shape());
  ir::AttributeMap attributes = WindowAttributes(window, input, output, kLeading);
  attributes.Set("size", FullSize(window));
  // Without padding the border does not matter, and the default is written.
  attributes.Set("border", ignores_border && window.IsPadded() ? "ignore" : "constant");
  return n.Add(operation, n.input(0), std::move(attributes), suffix);
}

Window ReadPooling(const NodeRaising& n) {
  return ReadWindow(n, n.node().Ints("kernel"), Spatial(n.input_shape(0)), Spatial(n.output_shape()));
}

// MaxPool never selects padding, like the border 'ignore'.
void RaiseMaxPool(NodeRaising& n) {
  n.RequireScalars();
  if (n.is_used(1))
    n.Decline("its indices are positions in the tensor, and those of NNEF positions in the window");
  Window window = ReadPooling(n);
  window.pad_end = CoveringEnd(window, Spatial(n.input_shape(0)), Spatial(n.output_shape()));
  n.SetOutput(Pool(n, "max_pool", window, /*ignores_border=*/true));
  if (n.node().num_outputs() > 1) n.Finish();
}

void RaiseAvgPool(NodeRaising& n) {
  n.RequireScalars();
  Window window = ReadPooling(n);
  const Integers end = CoveringEnd(window, Spatial(n.input_shape(0)), Spatial(n.output_shape()));
  const bool excludes = n.node().Bool("exclude-pad");
  for (size_t i = 0; i < window.rank(); ++i) {
    // Windows that extend beyond the padding average fewer elements, as no border of NNEF does.
    if (end[i] > window.pad_end[i] && !excludes && window.IsPadded())
      n.Decline("its last window extends beyond the padding, which is averaged");
  }
  // Without padding, elements beyond the tensor are not averaged in either case.
  const bool ignores = excludes || !window.IsPadded();
  window.pad_end = end;
  n.SetOutput(Pool(n, "avg_pool", window, ignores));
}

// An adaptive pooling whose sections have equal sizes is a pooling with their size and stride.
Window EqualSections(NodeRaising& n) {
  const Integers input = Spatial(n.input_shape(0));
  const Integers output = Spatial(n.output_shape());
  Window window;
  for (size_t i = 0; i < input.size(); ++i) {
    if (output[i] == 0 || input[i] % output[i] != 0) n.Decline("its sections have different sizes");
    window.size.push_back(input[i] / output[i]);
  }
  window.stride = window.size;
  window.dilation.assign(input.size(), 1);
  window.pad_begin.assign(input.size(), 0);
  window.pad_end.assign(input.size(), 0);
  return window;
}

void RaiseAdaptiveAvgPool(NodeRaising& n) {
  n.RequireScalars();
  const Window window = EqualSections(n);
  const nnefc::Shape shape = n.output_shape();
  if (std::all_of(shape.begin() + kLeading, shape.end(), [](int64_t extent) { return extent == 1; })) {
    Integers axes;
    for (int64_t axis = kLeading; axis < n.output_rank(); ++axis) axes.push_back(axis);
    return n.SetOutput(n.Add("mean_reduce", n.input(0), Attributes({{"axes", axes}})));
  }
  n.SetOutput(Pool(n, "avg_pool", window, false));
}

void RaiseAdaptiveMaxPool(NodeRaising& n) {
  n.RequireScalars();
  if (n.is_used(1))
    n.Decline("its indices are positions in the tensor, and those of NNEF positions in the window");
  n.SetOutput(Pool(n, "max_pool", EqualSections(n), false));
  n.Finish();
}

}  // namespace

std::vector<RaiseEntry> PoolingEntries() {
  return {{"MaxPool", RaiseMaxPool},
          {"AvgPool", RaiseAvgPool},
          {"AdaptiveAvgPool", RaiseAdaptiveAvgPool},
          {"AdaptiveMaxPool", RaiseAdaptiveMaxPool}};
}

}  // namespace nnefc::raise
