// Fusion of padding and slicing into windows, and removal of redundant padding.

#include <algorithm>
#include <array>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

namespace {

// The elements that a Pad adds at the spatial axes.
struct SpatialPads {
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
};

// Returns the pads of a zero Pad that does not change batch and channels and has no negative pads; otherwise
// nothing.
std::optional<SpatialPads> ZeroPads(const Node& pad) {
  if (pad.ir().String("pad_mode") != "constant") return std::nullopt;
  if (pad.num_in_ports() > 3 && KnownNumber(pad.in_port(3)) != 0) return std::nullopt;
  const auto begin = KnownInts(pad.in_port(1));
  const auto end = KnownInts(pad.in_port(2));
  if (!begin || !end || begin->size() < 3 || begin->size() != end->size()) return std::nullopt;
  for (const std::vector<int64_t>* pads : {&*begin, &*end}) {
    const bool is_spatial = (*pads)[0] == 0 && (*pads)[1] == 0;
    if (!is_spatial || llvm::any_of(*pads, [](int64_t count) { return count < 0; })) return std::nullopt;
  }
  return SpatialPads{{begin->begin() + 2, begin->end()}, {end->begin() + 2, end->end()}};
}

// Returns the sum of a window's pads and `added`.
SpatialPads Sum(const Node& window, const SpatialPads& added) {
  SpatialPads sum = added;
  if (window.ir().String("auto_pad") == "valid") return sum;
  const auto add = [&](std::string_view name, std::vector<int64_t>& to) {
    const std::vector<int64_t> own = window.ir().Ints(name, to.size());
    for (size_t i = 0; i < to.size(); ++i) to[i] += own[i];
  };
  add("pads_begin", sum.begin);
  add("pads_end", sum.end);
  return sum;
}

bool HasPads(const Node& window) {
  if (window.ir().String("auto_pad") == "valid") return false;
  return llvm::any_of(std::initializer_list<std::string_view>{"pads_begin", "pads_end"}, [&](auto name) {
    return llvm::any_of(window.ir().Ints(name), [](int64_t count) { return count != 0; });
  });
}

// Returns true if no window would be entirely in the padding, a requirement of the kernels.
bool IsWithin(const SpatialPads& pads, const std::vector<int64_t>& kernel) {
  if (kernel.size() != pads.begin.size()) return false;
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (pads.begin[i] >= kernel[i] || pads.end[i] >= kernel[i]) return false;
  }
  return true;
}

// Returns the dilated extents of a filter; empty if unknown.
std::vector<int64_t> FilterExtents(const Node& convolution, size_t axes) {
  const ir::PartialShape& filter = convolution.in_port(1).shape();
  const std::vector<int64_t> dilations = convolution.ir().Ints("dilations", axes);
  std::vector<int64_t> extents;
  if (!filter.rank_known() || filter.rank() < static_cast<int64_t>(axes)) return extents;
  for (size_t i = 0; i < axes; ++i) {
    const ir::Dim extent = filter[filter.rank() - static_cast<int64_t>(axes - i)];
    if (!extent.known()) return {};
    extents.push_back((extent.value() - 1) * dilations[i] + 1);
  }
  return extents;
}

bool IsPad(const Node& node) {
  return node.ir().Is(ir::Rearrangement::kPad);
}

// Merges a zero Pad into each window operation after it that satisfies `may_take`.
template <typename Takes>
void FusePads(Graph& graph, std::string_view operation, const Takes& may_take) {
  for (const Node& window : graph.GetOpNodes(operation)) {
    const Node pad = window.in_node(0);
    const std::string& auto_pad = window.ir().String("auto_pad");
    if (!IsPad(pad) || (auto_pad != "explicit" && auto_pad != "valid")) continue;
    const std::optional<SpatialPads> added = ZeroPads(pad);
    if (!added || !may_take(window, *added)) continue;
    const SpatialPads pads = Sum(window, *added);
    window.Set("auto_pad", "explicit");
    window.Set("pads_begin", pads.begin);
    window.Set("pads_end", pads.end);
    window.in_port(0).Connect(pad.in_port(0).GetSource());
  }
}

// Returns true if no window of a pool with floor rounding would be entirely in the padding.
bool IsWithinPool(const Node& window, const SpatialPads& added) {
  return window.ir().String("rounding_type") == "floor" &&
         IsWithin(Sum(window, added), window.ir().Ints("kernel"));
}

}  // namespace

class FusePadIntoConvolution : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A Pad by zeros becomes the padding of the Convolution or GroupConvolution after it. Results "
           "differ only if a weight is infinite or NaN, because its product with a zero is then not added.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,8,8]} : f32[1,2,8,8]
%1 = opset1.Const "p" : i64[4] = dense<i64[4]: 0, 0, 1, 1>
%2 = opset1.Pad "pad" (%0, %1, %1) {pad_mode = "constant"} : f32[1,2,10,10]
%3 = opset1.Parameter "w" {element_type = f32, shape = shape[3,2,3,3]} : f32[3,2,3,3]
%4 = opset1.Convolution "c" (%2, %3) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : f32[1,3,8,8]
opset1.Result "y" (%4)
)";
  }
  void FindAndReplacePattern(Graph& graph) override {
    for (std::string_view operation : {"opset.Convolution", "opset.GroupConvolution"}) {
      FusePads(graph, operation, [](const Node& window, const SpatialPads& added) {
        return IsWithin(added, FilterExtents(window, added.begin.size()));
      });
    }
  }
};

class FusePadIntoAvgPool : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A Pad by zeros becomes the padding of the AvgPool after it, which then includes it in its "
           "averages. The AvgPool must have no padding, or already include it.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,8,8]} : f32[1,2,8,8]
%1 = opset1.Const "p" : i64[4] = dense<i64[4]: 0, 0, 1, 1>
%2 = opset1.Pad "pad" (%0, %1, %1) {pad_mode = "constant"} : f32[1,2,10,10]
%3 = opset1.AvgPool "c" (%2) {strides = [2, 2], kernel = [3, 3], pads_begin = [0, 0], pads_end = [0, 0], exclude-pad = true, rounding_type = "floor"} : f32[1,2,4,4]
opset1.Result "y" (%3)
)";
  }
  void FindAndReplacePattern(Graph& graph) override {
    FusePads(graph, "opset.AvgPool", [](const Node& window, const SpatialPads& added) {
      if (!IsWithinPool(window, added)) return false;
      const bool includes_padding = !window.ir().Bool("exclude-pad");
      if (!includes_padding && HasPads(window)) return false;
      if (!includes_padding) window.Set("exclude-pad", false);
      return true;
    });
  }
};

class FusePadIntoMaxPool : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A Pad by zeros becomes the padding of the MaxPool after it, if the MaxPool has no padding "
           "and the padded tensor is non-negative: the result of ReLU, of Clamp with a minimum of at least "
           "0, or of pools of these.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,8,8]} : f32[1,2,8,8]
%1 = opset1.ReLU "r" (%0) : f32[1,2,8,8]
%2 = opset1.Const "p" : i64[4] = dense<i64[4]: 0, 0, 1, 1>
%3 = opset1.Pad "pad" (%1, %2, %2) {pad_mode = "constant"} : f32[1,2,10,10]
%4 = opset1.MaxPool "m" (%3) {strides = [2, 2], kernel = [3, 3], pads_begin = [0, 0], pads_end = [0, 0], rounding_type = "floor"} : f32[1,2,4,4]
opset1.Result "y" (%4)
)";
  }
  void FindAndReplacePattern(Graph& graph) override {
    FusePads(graph, "opset.MaxPool", [](const Node& window, const SpatialPads& added) {
      return window.num_out_ports() == 1 && !HasPads(window) && IsWithinPool(window, added) &&
             IsNonNegative(window.in_node(0).in_port(0).GetSource());
    });
  }

 private:
  // Returns true if the preceding nodes guarantee neither negative values nor NaN.
  static bool IsNonNegative(Port port) {
    constexpr int kFarthest = 8;
    for (int level = 0; level < kFarthest; ++level) {
      const Node node = port.node();
      if (node.ir().Is(ir::ElementFunction::kRelu)) return true;
      if (node.ir().Is(ir::ElementFunction::kClamp)) return node.ir().Double("min") >= 0;
      if (node.ir().Is(ir::Pooling::kNone)) return false;
      // The maximum over a window of only padding is negative infinity.
      const std::string& auto_pad = node.ir().String("auto_pad");
      const bool has_pads = (auto_pad != "explicit" && auto_pad != "valid") || HasPads(node);
      if (node.ir().Is(ir::Pooling::kMax) && has_pads) return false;
      port = node.in_port(0).GetSource();
    }
    return false;
  }
};

class FuseSliceIntoConvolution : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A Convolution or GroupConvolution does not compute results that a Slice along a spatial axis "
           "drops: its padding is reduced instead. Frameworks export causal convolutions as such a pair: the "
           "padding is at both ends, and the Slice drops one of them.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,8]} : f32[1,2,8]
%1 = opset1.Parameter "w" {element_type = f32, shape = shape[3,2,3]} : f32[3,2,3]
%2 = opset1.Convolution "c" (%0, %1) {strides = [1], dilations = [1], pads_begin = [2], pads_end = [2]} : f32[1,3,10]
%3 = opset1.Const "start" : i64[1] = dense<i64[1]: 0>
%4 = opset1.Const "stop" : i64[1] = dense<i64[1]: -2>
%5 = opset1.Const "step" : i64[1] = dense<i64[1]: 1>
%6 = opset1.Const "axis" : i64[1] = dense<i64[1]: 2>
%7 = opset8.Slice "s" (%2, %3, %4, %5, %6) : f32[1,3,8]
opset1.Result "y" (%7)
)";
  }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& slice : graph.GetOpNodes("opset8.Slice")) Fuse(graph, slice);
  }

 private:
  // The results of a convolution along one axis that a Slice selects.
  struct SelectedRange {
    int64_t axis, first, count;
  };

  static void Fuse(Graph& graph, const Node& slice) {
    const std::optional<SelectedRange> range = RangeOf(slice);
    if (!range) return;
    Node window = slice.in_node(0);
    std::optional<Node> add;
    if (window.ir().Is(ir::ElementFunction::kAdd)) {
      add = window;
      const int32_t input = IsConvolution(add->in_node(0)) ? 0 : 1;
      window = add->in_node(input);
      const ir::PartialShape& result = add->in_port(input).shape();
      // Leading axes of the other term would move the axis of the range.
      if (!result.rank_known() || result.rank() != add->out_port(0).shape().rank()) return;
      if (!IsConstantAlong(add->in_port(1 - input).shape(), add->out_port(0).shape(), *range)) return;
      if (!OnlyDestination(add->out_port(0))) return;
    }
    if (!IsConvolution(window) || !OnlyDestination(window.out_port(0))) return;
    const std::optional<SpatialPads> pads = PadsOf(window, *range);
    if (!pads) return;
    ir::AttributeMap attributes = window.ir().attributes();
    attributes.Set("auto_pad", "explicit");
    attributes.Set("pads_begin", ir::Attribute::Integers(pads->begin.begin(), pads->begin.end()));
    attributes.Set("pads_end", ir::Attribute::Integers(pads->end.begin(), pads->end.end()));
    const std::array<Port, 2> inputs = {window.in_port(0).GetSource(), window.in_port(1).GetSource()};
    Node made = graph.CreateNode(fmt::format("{}.{}", window.ir().set(), window.ir().type()), inputs,
                                 {.name = add ? window.name() : std::string(),
                                  .attributes = std::move(attributes),
                                  .origin = window.ir().origin()});
    if (add) {
      std::array<Port, 2> terms = {add->in_port(0).GetSource(), add->in_port(1).GetSource()};
      for (Port& term : terms) {
        if (term.node() == window) term = made.out_port(0);
      }
      made = graph.CreateNode("opset1.Add", terms, {.origin = add->ir().origin()});
    }
    TakePlace(graph, slice, made);
    if (add) {
      RemoveNodes(graph, {slice, *add, window});
    } else {
      RemoveNodes(graph, {slice, window});
    }
  }

  static bool IsConvolution(const Node& node) {
    return node.ir().Is(ir::Contraction::kConvolution) || node.ir().Is(ir::Contraction::kGroupConvolution);
  }

  // Returns nothing unless the Slice has step 1 and drops a known number of results along one spatial axis.
  static std::optional<SelectedRange> RangeOf(const Node& slice) {
    const ir::PartialShape &before = slice.in_port(0).shape(), &after = slice.out_port(0).shape();
    if (slice.num_in_ports() != 5 || !before.rank_known() || !after.rank_known()) return std::nullopt;
    const auto start = KnownInts(slice.in_port(1)), step = KnownInts(slice.in_port(3)),
               axes = KnownInts(slice.in_port(4));
    if (!start || !step || !axes || axes->size() != 1 || *step != std::vector<int64_t>{1})
      return std::nullopt;
    const int64_t axis = (*axes)[0] + ((*axes)[0] < 0 ? before.rank() : 0);
    if (axis < 2 || axis >= before.rank() || !before[axis].known() || !after[axis].known())
      return std::nullopt;
    const int64_t extent = before[axis].value();
    const int64_t first = (*start)[0] + ((*start)[0] < 0 ? extent : 0);
    const SelectedRange range = {
        .axis = axis, .first = std::max<int64_t>(first, 0), .count = after[axis].value()};
    return range.count > 0 && range.count < extent ? std::optional<SelectedRange>(range) : std::nullopt;
  }

  // Returns whether a term of the sum is constant along the axis of the range.
  static bool IsConstantAlong(const ir::PartialShape& term, const ir::PartialShape& sum,
                              const SelectedRange& range) {
    if (!term.rank_known() || !sum.rank_known()) return false;
    const int64_t axis = range.axis - (sum.rank() - term.rank());
    return axis < 0 || (term[axis].known() && term[axis].value() == 1);
  }

  // Returns pads with which the convolution computes only the results in the range; nothing if there are
  // none.
  static std::optional<SpatialPads> PadsOf(const Node& window, const SelectedRange& range) {
    const ir::PartialShape& input = window.in_port(0).shape();
    const std::string& auto_pad = window.ir().String("auto_pad");
    if (!input.rank_known() || !input[range.axis].known() || (auto_pad != "explicit" && auto_pad != "valid"))
      return std::nullopt;
    const auto axes = static_cast<size_t>(input.rank() - 2), axis = static_cast<size_t>(range.axis - 2);
    const std::vector<int64_t> filter_extents = FilterExtents(window, axes);
    if (filter_extents.empty()) return std::nullopt;
    const int64_t stride = window.ir().Ints("strides", axes)[axis];
    SpatialPads pads = Sum(window, {std::vector<int64_t>(axes), std::vector<int64_t>(axes)});
    pads.begin[axis] -= range.first * stride;
    const int64_t extent = input[range.axis].value() + pads.begin[axis];
    const int64_t last = (range.count - 1) * stride + filter_extents[axis];  // the end of the last window
    pads.end[axis] = std::max<int64_t>(last - extent, 0);
    // Otherwise further windows would follow.
    if (pads.begin[axis] < 0 || extent + pads.end[axis] - last >= stride) return std::nullopt;
    return pads;
  }
};

void RegisterPadding(TransformationList& list) {
  list.Add<FusePadIntoConvolution>();
  list.Add<FusePadIntoAvgPool>();
  list.Add<FusePadIntoMaxPool>();
  list.Add<FuseSliceIntoConvolution>();
}

}  // namespace nnefc::transform::middle
