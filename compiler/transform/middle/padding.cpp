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

void AddPads(const Node& window, const SpatialPads& pads) {
  const auto sum = [&](std::string_view name, const std::vector<int64_t>& more) {
    std::vector<int64_t> all = window.ir().Ints(name, more.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] += more[i];
    window.Set(name, std::move(all));
  };
  sum("pads_begin", pads.begin);
  sum("pads_end", pads.end);
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

bool IsExplicit(const Node& window) {
  const std::string& padding = window.ir().String("auto_pad");
  return padding == "explicit" || padding == "notset";
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
    for (const char* operation : {"Convolution", "GroupConvolution"}) {
      for (const Node& window : graph.GetOpNodes(operation)) {
        const Node pad = window.in_node(0);
        if (!IsPad(pad) || !IsExplicit(window)) continue;
        const std::optional<SpatialPads> pads = ZeroPads(pad);
        if (!pads || !IsWithin(*pads, FilterExtents(window, pads->begin.size()))) continue;
        AddPads(window, *pads);
        window.in_port(0).Connect(pad.in_port(0).GetSource());
      }
    }
  }

  static bool IsPad(const Node& node) {
    static const ir::OpTable<bool> kPads(ir::StandardOps(), {{"Pad", true}});
    return kPads.Find(node.ir().op()) != nullptr;
  }
};

class FusePadIntoAvgPool : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "An AvgPool without padding of its own takes over the Pad by zeros before it, and counts what it "
           "adds.";
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
    for (const Node& window : graph.GetOpNodes("AvgPool")) {
      const Node pad = window.in_node(0);
      if (!FusePadIntoConvolution::IsPad(pad) || !IsExplicit(window)) continue;
      if (window.ir().String("rounding_type") != "floor") continue;
      const std::optional<SpatialPads> pads = ZeroPads(pad);
      if (!pads || HasPads(window, "pads_begin") || HasPads(window, "pads_end")) continue;
      if (!IsWithin(*pads, window.ir().Ints("kernel"))) continue;
      AddPads(window, *pads);
      window.Set("exclude-pad", false);
      window.in_port(0).Connect(pad.in_port(0).GetSource());
    }
  }

 private:
  static bool HasPads(const Node& window, std::string_view name) {
    return llvm::any_of(window.ir().Ints(name), [](int64_t count) { return count != 0; });
  }
};

}  // namespace middle

void RegisterPadding(TransformationList& list) {
  list.Add<middle::FusePadIntoConvolution>();
  list.Add<middle::FusePadIntoAvgPool>();
}

}  // namespace nnefc::transform
