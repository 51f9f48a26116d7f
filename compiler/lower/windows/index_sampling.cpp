// Lowerings of NNEF's pooling with indices, sample and desample, to OpenVINO operations.

#include <algorithm>

#include "compiler/ir/ops/opset/dims.h"
#include "compiler/ir/ops/windows/sliding_window.h"
#include "compiler/ir/wording.h"
#include "compiler/lower/table.h"
#include "compiler/lower/windows/pooling.h"
#include "compiler/lower/windows/window.h"

namespace nnefc::lower {

namespace {

OutputPort IntBinary(NodeLowering& n, std::string_view type, OutputPort x, int64_t y,
                     std::string_view suffix) {
  return n.Binary(type, x, n.ConstInt(y, fmt::format("{}_value", suffix)), suffix);
}

// Returns the strides of a row-major index: for each item the product of the later ones.
std::vector<int64_t> Strides(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t i = extents.size(); i > 1; --i) {
    strides[i - 2] = ir::ops::opset::SaturatingMultiply(strides[i - 1], extents[i - 1]);
  }
  return strides;
}

// Returns coordinate `i` of a row-major index within `extents`.
OutputPort Digit(NodeLowering& n, OutputPort index, const std::vector<int64_t>& extents, size_t i) {
  const int64_t stride = Strides(extents)[i];
  if (stride != 1) index = IntBinary(n, "Divide", index, stride, "row");
  const bool outermost = std::all_of(extents.begin(), extents.begin() + static_cast<int64_t>(i),
                                     [](int64_t extent) { return extent == 1; });
  return outermost ? index : IntBinary(n, "FloorMod", index, extents[i], "column");
}

// Returns the window size that the node's indices refer to.
std::vector<int64_t> IndexSize(NodeLowering& n) {
  const ir::Attribute* size = n.node().attributes().Find(ir::ops::kIndexSize);
  return size == nullptr ? n.Ints("size") : size->AsInts();
}

// Converts row-major indices in the node's window to indices in the larger window of IndexSize.
OutputPort Renumbered(NodeLowering& n, OutputPort index) {
  const std::vector<int64_t> size = n.Ints("size");
  const std::vector<int64_t> strides = Strides(IndexSize(n));
  if (size == IndexSize(n)) return index;
  OutputPort sum;
  for (size_t i = 0; i < size.size(); ++i) {
    if (size[i] == 1) continue;
    OutputPort place = Digit(n, index, size, i);
    if (strides[i] != 1) place = IntBinary(n, "Multiply", place, strides[i], "renumbered");
    sum = sum.valid() ? n.Binary("Add", sum, place, "renumbered_index") : place;
  }
  return sum.valid() ? sum : index;
}

// Enlarges a window to IndexSize; the additional elements are padding.
void WidenToIndex(NodeLowering& n, Window& window) {
  const std::vector<int64_t> size = IndexSize(n);
  for (size_t i = 0; i < window.rank(); ++i) {
    window.pad_end[i] += (size[i] - window.size[i]) * window.dilation[i];
    window.size[i] = size[i];
  }
}

// Returns the values whose indices are within the node's own window, and zeros elsewhere.
OutputPort WithinWindow(NodeLowering& n, OutputPort values, OutputPort index) {
  const std::vector<int64_t> size = n.Ints("size");
  const std::vector<int64_t> numbered = IndexSize(n);
  OutputPort inside;
  for (size_t i = 0; i < size.size(); ++i) {
    if (numbered[i] == size[i]) continue;
    const OutputPort fits =
        n.Binary("Less", Digit(n, index, numbered, i), n.ConstInt(size[i], "size"), "fits");
    inside = inside.valid() ? n.Binary("LogicalAnd", inside, fits, "inside") : fits;
  }
  if (!inside.valid()) return values;
  return n.Add("opset1", "Select", {inside, values, n.ConstFloat(0, "outside")},
               Attributes({{"auto_broadcast", "numpy"}}), "within");
}

// Returns a tensor [1, .., places, .., 1] of `start + place * step`.
OutputPort Ramp(NodeLowering& n, size_t rank, size_t axis, int64_t places, int64_t start, int64_t step) {
  nnefc::Shape shape(rank, 1);
  shape[axis] = places;
  std::vector<int64_t> values;
  for (int64_t place = 0; place < places; ++place) values.push_back(start + place * step);
  return n.Constant(TensorValue::FromInts(shape, values), "starts");
}

// Returns the extents. They must be known, at most kMaxPlaces each, and of a representable volume.
std::optional<std::vector<int64_t>> KnownExtents(NodeLowering& n, const PartialShape& shape, size_t from) {
  std::vector<int64_t> extents;
  for (int64_t i = static_cast<int64_t>(from); i < shape.rank(); ++i) {
    if (!shape[i].known()) {
      n.UnknownExtent("a tensor that is sampled by index", i);
      return std::nullopt;
    }
    extents.push_back(shape[i].value());
  }
  const bool small = std::all_of(extents.begin(), extents.end(), [](int64_t x) { return x <= kMaxPlaces; });
  if (!small || !Volume(extents)) {
    n.Error(kWindowTooLarge, "a tensor that `{}` indexes has more than {} elements along an axis",
            ir::OperationName(n.node()), kMaxPlaces);
    return std::nullopt;
  }
  return extents;
}

// Converts a maximum's index in the tensor (OpenVINO) to its index in the window (NNEF, R 4.3.3). Both are
// row-major over the spatial dimensions.
OutputPort PlaceInWindow(NodeLowering& n, OutputPort flat, const SpatialView& view) {
  const Window& window = view.window;
  const auto extents = KnownExtents(n, view.input, 2);
  const auto places = KnownExtents(n, view.output, 2);
  if (!extents || !places) return flat;
  const std::vector<int64_t> strides = Strides(window.size);
  OutputPort sum;
  for (size_t i = 0; i < window.rank(); ++i) {
    if (window.size[i] == 1) continue;
    const OutputPort starts =
        Ramp(n, window.rank() + 2, i + 2, (*places)[i], -window.pad_begin[i], window.stride[i]);
    OutputPort place = n.Binary("Subtract", Digit(n, flat, *extents, i), starts, "offset");
    if (window.dilation[i] != 1) place = IntBinary(n, "Divide", place, window.dilation[i], "place");
    if (strides[i] != 1) place = IntBinary(n, "Multiply", place, strides[i], "weighted");
    sum = sum.valid() ? n.Binary("Add", sum, place, "index") : place;
  }
  return sum.valid() ? sum : n.Binary("Subtract", flat, flat, "index");  // a window of one element
}

// Returns the maximum and its window index under a window over spatial dimensions.
std::vector<OutputPort> SpatialMaxWithIndex(NodeLowering& n, const SpatialView& view) {
  ir::AttributeMap attributes = PoolAttributes(view.window);
  attributes.Set("dilations", view.window.dilation);
  attributes.Set("index_element_type", ElementType::kI64);
  attributes.Set("axis", 2);
  const ir::NodeId pool = n.AddNode("opset8", "MaxPool", view.x, attributes, 2);
  return {{pool, 0}, PlaceInWindow(n, {pool, 1}, view)};
}

// Returns maximum and index. A window along more than three dimensions has no OpenVINO form: calls Keep and
// returns nothing.
std::optional<std::vector<OutputPort>> MaxWithIndex(NodeLowering& n) {
  const PartialShape& shape = n.input_shape(0);
  std::optional<Window> window = ReadWindow(n, {.size = n.Ints("size"), .extents = shape});
  if (!window) return std::nullopt;
  OutputPort x = CropBeforehand(n, PadByLowest(n, n.input(0), *window), *window, 0);
  if (window->border != "ignore") x = PadBeforehand(n, x, *window, 0);
  const Sliding sliding{x, n.Shape(x, shape.rank()), n.output_shape(), *window};
  std::vector<OutputPort> results =
      SlideOnce(n, sliding, [&](const SpatialView& view) { return SpatialMaxWithIndex(n, view); });
  if (results.size() == 2) return results;
  if (!n.state().failed) n.Keep();
  return std::nullopt;
}

void LowerArgmaxPool(NodeLowering& n) {
  const auto results = MaxWithIndex(n);
  if (results) n.SetOutput(Renumbered(n, results->back()));
}

void LowerMaxPoolWithIndex(NodeLowering& n) {
  const auto results = MaxWithIndex(n);
  if (!results) return;
  n.SetOutput(0, results->front());
  n.SetOutput(1, Renumbered(n, results->back()));
}

// Common data of `sample` and `desample`. The window slides over a tensor reshaped to [rows, elements]; the
// rows are the leading dimensions that the window does not move along.
struct Sampling {
  size_t leading = 0;
  std::vector<int64_t> lead_extents;
  std::vector<int64_t> scaled;  // extents of the padded, up-scaled tensor
  std::vector<int64_t> places;  // extents of the down-scaled tensor

  static int64_t Product(const std::vector<int64_t>& extents) { return *Volume(extents); }
  std::vector<int64_t> Rows(const std::vector<int64_t>& extents) const {
    return {Product(lead_extents), Product(extents)};
  }
};

std::optional<Sampling> MakeSampling(NodeLowering& n, const PartialShape& scaled, const PartialShape& places,
                                     const Window& window) {
  Sampling sampling;
  while (sampling.leading < window.rank() && window.IsTrivial(sampling.leading)) ++sampling.leading;
  const auto all = KnownExtents(n, places, 0);
  const auto scaled_extents = KnownExtents(n, scaled, sampling.leading);
  if (!all || !scaled_extents) return std::nullopt;
  const auto middle = all->begin() + static_cast<int64_t>(sampling.leading);
  sampling.lead_extents.assign(all->begin(), middle);
  sampling.places.assign(middle, all->end());
  sampling.scaled = *scaled_extents;
  return sampling;
}

// Returns the flat position in the up-scaled tensor of each window index.
OutputPort FlatPosition(NodeLowering& n, OutputPort index, const Sampling& sampling, const Window& window) {
  const std::vector<int64_t> strides = Strides(sampling.scaled);
  OutputPort sum;
  bool has_digit = false;  // `sum` has the index's shape; ramps alone are smaller
  for (size_t i = sampling.leading; i < window.rank(); ++i) {
    const size_t axis = i - sampling.leading;
    OutputPort position =
        Ramp(n, window.rank(), i, sampling.places[axis], 0, window.stride[i] * strides[axis]);
    if (window.size[i] > 1) {
      has_digit = true;
      const OutputPort digit = Digit(n, index, window.size, i);
      const int64_t weight = window.dilation[i] * strides[axis];
      position = n.Binary("Add", weight == 1 ? digit : IntBinary(n, "Multiply", digit, weight, "moved"),
                          position, "position");
    }
    sum = sum.valid() ? n.Binary("Add", sum, position, "positions") : position;
  }
  if (has_digit) return sum;
  return n.Binary("Add", sum, n.Binary("Multiply", index, n.ConstInt(0, "zero"), "zeros"), "positions");
}

// `sample(input, index, size = ..)`: gathers the elements at the indices.
void LowerSample(NodeLowering& n) {
  std::optional<Window> window = ReadWindow(n, {.size = n.Ints("size"), .extents = n.input_shape(0)});
  if (!window) return;
  WidenToIndex(n, *window);
  const OutputPort x = PadBeforehand(n, n.input(0), *window, 0);
  const auto sampling = MakeSampling(n, n.Shape(x, n.input_rank(0)), n.output_shape(), *window);
  if (!sampling) return;
  if (sampling->leading == window->rank()) {
    n.SetOutput(x);
    return;
  }
  const OutputPort flat = FlatPosition(n, n.input(1), *sampling, *window);
  const OutputPort chosen = n.Add("opset6", "GatherElements",
                                  {n.Reshape(x, sampling->Rows(sampling->scaled), "rows"),
                                   n.Reshape(flat, sampling->Rows(sampling->places), "position_rows")},
                                  Attributes({{"axis", 1}}));
  n.SetOutput(n.Reshape(chosen, n.output_shape().known_extents()));
}

// `desample(input, index, size = ..)`: adds the elements at the indices to zeros and crops the padding.
void LowerDesample(NodeLowering& n) {
  std::optional<Window> window = ReadWindow(n, {.size = n.Ints("size"),
                                                .extents = n.input_shape(0),
                                                .backward = true,
                                                .output_shape = n.Ints("output_shape")});
  if (!window) return;
  WidenToIndex(n, *window);
  PartialShape padded = n.output_shape();
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  for (size_t i = 0; i < window->rank(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    begin.push_back(-window->pad_begin[i]);
    end.push_back(-window->pad_end[i]);
    if (padded[axis].known()) padded.set(axis, padded[axis].value() - begin.back() - end.back());
  }
  const auto sampling = MakeSampling(n, padded, n.input_shape(0), *window);
  if (!sampling) return;
  if (sampling->leading == window->rank()) {
    n.SetOutput(n.input(0));
    return;
  }
  const OutputPort flat = FlatPosition(n, n.input(1), *sampling, *window);
  const OutputPort zeros =
      n.Add("opset3", "Broadcast",
            {n.ConstFloat(0, "zero"), n.ConstInts(sampling->Rows(sampling->scaled), "rows_shape")},
            Attributes({{"mode", "numpy"}}), "zero_rows");
  const OutputPort sums =
      n.Add("opset12", "ScatterElementsUpdate",
            {zeros, n.Reshape(flat, sampling->Rows(sampling->places), "position_rows"),
             n.Reshape(WithinWindow(n, n.input(0), n.input(1)), sampling->Rows(sampling->places), "rows"),
             n.ConstInt(1, "axis")},
            Attributes({{"reduction", "sum"}, {"use_init_val", true}}));
  n.SetOutput(Pad(n, n.Reshape(sums, padded.known_extents()), begin, end, "constant", 0.0, "crop"));
}

}  // namespace

void RegisterIndexSampling(LoweringTable& table) {
  table["argmax_pool"] = LowerArgmaxPool;
  table["max_pool_with_index"] = LowerMaxPoolWithIndex;
  table["sample"] = LowerSample;
  table["desample"] = LowerDesample;
}

}  // namespace nnefc::lower
