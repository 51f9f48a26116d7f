// Padding that windows can do themselves.

#include "compiler/transform/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform {
namespace middle {

namespace {

// What a Pad adds to spatial axes.
struct SpatialPads {
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
};

// The pads of a Pad by zeros that leaves batch and channels alone and takes
// nothing away; nothing of another.
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

// The pads that a window has, and more.
SpatialPads Sum(const Node& window, const SpatialPads& more) {
  SpatialPads sum = more;
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

// True if no window would stand in the padding alone; kernels ask for it.
bool IsWithin(const SpatialPads& pads, const std::vector<int64_t>& kernel) {
  if (kernel.size() != pads.begin.size()) return false;
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (pads.begin[i] >= kernel[i] || pads.end[i] >= kernel[i]) return false;
  }
  return true;
}

// The extents of a filter, or nothing where they are not known.
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
  static const ir::OpTable<bool> kPads(ir::StandardOps(), {{"Pad", true}});
  return kPads.Find(node.ir().op()) != nullptr;
}

// Moves a Pad by zeros into each window of an operation behind it that `may_take` it.
template <typename Takes>
void FusePads(Graph& graph, std::string_view operation, const Takes& may_take) {
  for (const Node& window : graph.GetOpNodes(operation)) {
    const Node pad = window.in_node(0);
    const std::string& own = window.ir().String("auto_pad");
    if (!IsPad(pad) || (own != "explicit" && own != "valid")) continue;
    const std::optional<SpatialPads> more = ZeroPads(pad);
    if (!more || !may_take(window, *more)) continue;
    const SpatialPads pads = Sum(window, *more);
    window.Set("auto_pad", "explicit");
    window.Set("pads_begin", pads.begin);
    window.Set("pads_end", pads.end);
    window.in_port(0).Connect(pad.in_port(0).GetSource());
  }
}

// True if no window of a pool, which rounds down, would stand in the padding alone.
bool IsWithinPool(const Node& window, const SpatialPads& more) {
  return window.ir().String("rounding_type") == "floor" &&
         IsWithin(Sum(window, more), window.ir().Ints("kernel"));
}

}  // namespace

class FusePadIntoConvolution : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A Convolution or GroupConvolution takes over the Pad by zeros before it. The sums have the same "
           "terms, but for zeros times a weight that is infinite or NaN.";
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
    for (std::string_view operation : {"Convolution", "GroupConvolution"}) {
      FusePads(graph, operation, [](const Node& window, const SpatialPads& more) {
        return IsWithin(more, FilterExtents(window, more.begin.size()));
      });
    }
  }
};

class FusePadIntoAvgPool : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "An AvgPool without padding of its own, or that counts it, takes over the Pad by zeros before it, "
           "and counts what that adds.";
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
    FusePads(graph, "AvgPool", [](const Node& window, const SpatialPads& more) {
      if (!IsWithinPool(window, more)) return false;
      const bool counts = !window.ir().Bool("exclude-pad");
      if (!counts && HasPads(window)) return false;
      if (!counts) window.Set("exclude-pad", false);
      return true;
    });
  }
};

class FusePadIntoMaxPool : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A MaxPool without padding of its own takes over the Pad by zeros before it, if what is padded is "
           "never below zero: behind ReLU, Clamp from zero on, and pools of these.";
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
    FusePads(graph, "MaxPool", [](const Node& window, const SpatialPads& more) {
      return window.num_out_ports() == 1 && !HasPads(window) && IsWithinPool(window, more) &&
             IsNeverBelowZero(window.in_node(0).in_port(0).GetSource());
    });
  }

 private:
  enum class Pool : uint8_t { kAverage, kMaximum };

  // Nor NaN, as far as the nodes before tell.
  static bool IsNeverBelowZero(Port port) {
    static const ir::OpTable<Pool> kPools(ir::StandardOps(),
                                          {{"AvgPool", Pool::kAverage}, {"MaxPool", Pool::kMaximum}});
    constexpr int kFarthest = 8;
    for (int level = 0; level < kFarthest; ++level) {
      const Node node = port.node();
      if (node.ir().Is(ir::ElementFunction::kRelu)) return true;
      if (node.ir().Is(ir::ElementFunction::kClamp)) return node.ir().Double("min") >= 0;
      const Pool* pool = kPools.Find(node.ir().op());
      if (pool == nullptr) return false;
      // The maximum over a window of padding alone is negative infinity.
      const std::string& own = node.ir().String("auto_pad");
      const bool has_pads = (own != "explicit" && own != "valid") || HasPads(node);
      if (*pool == Pool::kMaximum && has_pads) return false;
      port = node.in_port(0).GetSource();
    }
    return false;
  }
};

}  // namespace middle

void RegisterPadding(TransformationList& list) {
  list.Add<middle::FusePadIntoConvolution>();
  list.Add<middle::FusePadIntoAvgPool>();
  list.Add<middle::FusePadIntoMaxPool>();
}

}  // namespace nnefc::transform
