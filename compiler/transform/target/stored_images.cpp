// Marks on the convolutions of a plan with bf16 multiplication whose images are stored in f32.

#include "compiler/ir/ops/arithmetic/stored_images.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/min_cut.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

namespace {

bool IsImageConvolution(const ir::Node& node) {
  return node.Is(ir::Contraction::kConvolution) || node.Is(ir::Contraction::kGroupConvolution);
}

// The choice for each image as a minimum cut: those on the first side are stored in f32.
class ImageCosts {
 public:
  ImageCosts(const ir::Graph& graph, const ir::ImageTimes& times)
      : graph_(graph),
        times_(times),
        interpolations_{graph.registry().Find("opset4", "Interpolate"),
                        graph.registry().Find("opset11", "Interpolate")},
        cut_(FindImages()) {
    for (ir::NodeId id : graph_.nodes()) {
      if (items_.count(id) > 0) AddNode(graph_.node(id));
    }
  }

  // Returns the convolutions whose results are stored in f32.
  std::vector<ir::NodeId> Solve() {
    const std::vector<bool> is_f32 = cut_.Solve();
    std::vector<ir::NodeId> convolutions;
    for (ir::NodeId id : graph_.nodes()) {
      const auto item = items_.find(id);
      if (item != items_.end() && is_f32[static_cast<size_t>(item->second)] &&
          IsImageConvolution(graph_.node(id)))
        convolutions.push_back(id);
    }
    return convolutions;
  }

 private:
  // Numbers the nodes whose results are images. Returns their count.
  int32_t FindImages() {
    constexpr size_t kMinRank = 3, kMaxRank = 5;
    for (ir::NodeId id : graph_.nodes()) {
      const ir::Node& node = graph_.node(id);
      if (node.num_inputs() == 0 || node.num_outputs() != 1 || node.output().type != ElementType::kF32)
        continue;
      const std::optional<Shape> shape = node.output().shape.extents();
      if (!shape || shape->size() < kMinRank || shape->size() > kMaxRank) continue;
      if (IsImageConvolution(node) || node.info().function != ir::ElementFunction::kOther ||
          node.info().pooling != ir::Pooling::kNone || node.Is(ir::Rearrangement::kConcat) ||
          IsResampled(node))
        items_[id] = static_cast<int32_t>(items_.size());
    }
    return static_cast<int32_t>(items_.size());
  }

  // Returns whether a node has kernels for f32 images in blocks of channels, but none for bf16.
  bool IsResampled(const ir::Node& node) const {
    return node.Is(ir::Rearrangement::kPad) || llvm::is_contained(interpolations_, node.op());
  }

  double ElementsOf(ir::OutputPort port) const {
    const std::optional<Shape> shape = graph_.output(port).shape.extents();
    return shape ? static_cast<double>(Volume(*shape).value_or(0)) : 0;
  }

  void AddNode(const ir::Node& node) {
    const int32_t item = items_.lookup(node.id());
    const double elements = ElementsOf(node.port());
    const auto add = [&](const ir::ImageTimes::Element& times) {
      cut_.AddCosts(item, elements * times.in_f32, elements * times.in_bf16);
    };
    if (IsImageConvolution(node)) {
      AddConvolution(node, item);
    } else if (node.info().pooling != ir::Pooling::kNone) {
      add(times_.pool);
    } else if (node.Is(ir::Rearrangement::kConcat)) {
      add(times_.concat);
    } else if (node.Is(ir::ElementFunction::kPRelu)) {
      if (ElementsOf(node.input(1)) > 1) add(times_.slope);
    } else if (IsResampled(node)) {
      constexpr double kNever = 1e12;
      cut_.AddCosts(item, 0, kNever);
    } else if (ImagesOf(node) > 1) {
      add(times_.function);
    }
    for (ir::OutputPort port : node.inputs()) AddConversion(port, item);
  }

  void AddConvolution(const ir::Node& node, int32_t item) {
    const std::optional<Shape> data = graph_.output(node.input(0)).shape.extents(),
                               filter = graph_.output(node.input(1)).shape.extents(),
                               result = node.output().shape.extents();
    if (!data || !filter || !result) return;
    // A value that is no image is converted to bf16, or read by a step with f32 images.
    const double convert =
        items_.count(node.input(0).node) > 0 ? 0 : ElementsOf(node.input(0)) * times_.convert;
    cut_.AddCosts(item, times_.product(node, *data, *filter, *result, true),
                  times_.product(node, *data, *filter, *result, false) + convert);
  }

  int64_t ImagesOf(const ir::Node& node) const {
    int64_t count = 0;
    for (ir::OutputPort port : node.inputs()) count += static_cast<int64_t>(items_.count(port.node));
    return count;
  }

  // Adds the cost of reading an image that is stored in another type.
  void AddConversion(ir::OutputPort port, int32_t item) {
    const auto from = items_.find(port.node);
    if (from == items_.end()) return;
    const double cost = ElementsOf(port) * times_.convert;
    cut_.AddSeparation(from->second, item, cost);
    cut_.AddSeparation(item, from->second, cost);
  }

  const ir::Graph& graph_;
  const ir::ImageTimes& times_;
  const std::array<ir::OpId, 2> interpolations_;
  llvm::DenseMap<ir::NodeId, int32_t> items_;
  MinCut cut_;
};

}  // namespace

class StoreImagesInF32 : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Convolutions of a plan with bf16 multiplication are marked if their images are stored in f32, "
           "because the steps of the graph and the conversions between them take less time so, by the times "
           "that the backend states. Without times, all are marked.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,8,8]} : f32[1,2,8,8]
%1 = opset1.Const "w" : f32[1,2,1,1] = dense<f32[1,2,1,1]: 1.0, 1.0>
%2 = opset1.Convolution "c" (%0, %1) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1], auto_pad = "explicit"} : f32[1,1,8,8]
opset1.Result "y" (%2)
)";
  }
  Names RunAfter() const override {
    return {"target.UnmarkSlowRegions", "target.ResampleImages", "target.ConvertVectorsToMatrices",
            "TargetStart"};
  }
  void FindAndReplacePattern(Graph& graph) override {
    const ir::StepTimes* times = graph.plan() == nullptr ? nullptr : graph.plan()->times;
    if (times == nullptr) return MarkAll(graph);
    // The time of a cut grows with the square of the nodes or worse.
    constexpr size_t kMaxNodes = 16'384;
    if (times->images == nullptr || graph.ir().nodes().size() > kMaxNodes) return;
    for (ir::NodeId id : ImageCosts(graph.ir(), *times->images).Solve())
      ir::ops::MarkF32Images(graph.Raw(), id);
  }

 private:
  static void MarkAll(Graph& graph) {
    for (ir::NodeId id : graph.ir().nodes()) {
      if (IsImageConvolution(graph.ir().node(id))) ir::ops::MarkF32Images(graph.Raw(), id);
    }
  }
};

void RegisterStoredImages(TransformationList& list) {
  list.Add<target::StoreImagesInF32>();
}

}  // namespace nnefc::transform::target
