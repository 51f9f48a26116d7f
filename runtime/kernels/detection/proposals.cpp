// Proposal, GenerateProposals, and the ExperimentalDetectron operations GenerateProposalsSingleImage,
// PriorGridGenerator and TopKROIs.

#include "compiler/ir/ops/opset/detection/proposals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/detection/floats.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels::detection {

namespace {

// Writes numbers starting at element `at`.
template <typename T>
void Store(const tensor::MutableTensorView& output, int64_t at, llvm::ArrayRef<float> numbers) {
  for (float number : numbers) output.mutable_data<T>()[at++] = T(static_cast<ComputeType<T>>(number));
}

template <typename T>
void StoreRegions(const ReferenceRun& run,
                  llvm::ArrayRef<ir::ops::opset::detection::ProposedRegion> regions) {
  int64_t i = 0;
  for (const ir::ops::opset::detection::ProposedRegion& region : regions) {
    Store<T>(run.output(), 4 * i, region.corners);
    if (run.num_outputs() > 1) Store<T>(run.output(1), i, region.score);
    ++i;
  }
}

Fault TooManyRegions() {
  return KernelFault("too many regions compete");
}

FaultOr<Success> GenerateProposals(const ReferenceRun& run) {
  const tensor::TensorView& scores = run.input(3);
  const auto found =
      ir::ops::opset::detection::GenerateProposals(run.node, {.info = Floats(run.input(0)),
                                                              .anchors = Floats(run.input(1)),
                                                              .deltas = Floats(run.input(2)),
                                                              .scores = Floats(scores),
                                                              .images = scores.extent(0),
                                                              .count = scores.extent(1),
                                                              .cells = scores.extent(2) * scores.extent(3)});
  if (!found) return TooManyRegions();
  const auto count = static_cast<int64_t>(found->regions.size());
  if (run.output().extent(0) != count)
    return KernelFault("{} regions remain; expected {}", count, run.output().extent(0));
  const bool known =
      VisitFloatType(scores.type(), [&]<typename T>(TypeTag<T>) { StoreRegions<T>(run, found->regions); });
  if (!known) return UnsupportedType(run);
  for (size_t i = 0; run.num_outputs() > 2 && i < found->per_image.size(); ++i) {
    if (run.output(2).type() == ElementType::kI32) {
      run.output(2).mutable_data<int32_t>()[i] = static_cast<int32_t>(found->per_image[i]);
    } else {
      run.output(2).mutable_data<int64_t>()[i] = found->per_image[i];
    }
  }
  return Success();
}

void FillZeros(const ReferenceRun& run) {
  for (size_t i = 0; i < run.num_outputs(); ++i)
    std::fill_n(run.output(i).mutable_bytes(), run.output(i).byte_size(), std::byte{0});
}

// Writes the regions of one image, padded with zeros.
FaultOr<Success> SingleImage(const ReferenceRun& run) {
  const tensor::TensorView& scores = run.input(3);
  const std::vector<float> info = Floats(run.input(0)), anchors = Floats(run.input(1)),
                           deltas = Floats(run.input(2)), probabilities = Floats(scores);
  const auto smallest = static_cast<float>(run.node.Double("min_size"));
  std::vector<ir::ops::opset::detection::ProposedRegion> regions =
      ir::ops::opset::detection::MoveAnchors({.anchors = anchors,
                                              .deltas = deltas,
                                              .scores = probabilities,
                                              .count = scores.extent(0),
                                              .cells = scores.extent(1) * scores.extent(2),
                                              .image = {info[0], info[1]},
                                              .smallest = {smallest, smallest},
                                              .extent = 1});
  // Regions that are too small compete with score 0.
  for (ir::ops::opset::detection::ProposedRegion& region : regions) {
    if (!region.is_large) region.score = 0;
    region.is_large = true;
  }
  const auto kept = ir::ops::opset::detection::KeepBestRegions(
      std::move(regions), {.candidates = run.node.Int("pre_nms_count"),
                           .most = run.node.Int("post_nms_count"),
                           .threshold = static_cast<float>(run.node.Double("nms_threshold")),
                           .extent = 0});
  if (!kept) return TooManyRegions();
  FillZeros(run);
  if (!VisitFloatType(scores.type(), [&]<typename T>(TypeTag<T>) { StoreRegions<T>(run, *kept); }))
    return UnsupportedType(run);
  return Success();
}

// ---- Proposal ----

// Returns the boxes around the first cell, one for each combination of aspect ratio and scale.
std::vector<std::array<float, 4>> MakeAnchors(const ir::Node& node, bool is_tensorflow) {
  const float extent = is_tensorflow ? 0.0F : 1.0F;
  const auto size = static_cast<float>(node.Int("base_size"));
  const float center = 0.5F * (size - extent) - (is_tensorflow ? 0.5F * size : 0.0F);
  std::vector<std::array<float, 4>> anchors;
  for (double ratio : node.Doubles("ratio")) {
    float width = std::sqrt(size * size / static_cast<float>(ratio));
    if (!is_tensorflow) width = std::round(width);
    float height = width * static_cast<float>(ratio);
    if (!is_tensorflow) height = std::round(height);
    for (double scale : node.Doubles("scale")) {
      const float x = 0.5F * (width * static_cast<float>(scale) - extent);
      const float y = 0.5F * (height * static_cast<float>(scale) - extent);
      anchors.push_back({center - x, center - y, center + x, center + y});
    }
  }
  return anchors;
}

struct ProposalForm {
  bool is_tensorflow, clips_before, clips_after, normalizes;
  float coordinate_scale, size_scale, stride;
  float height, width;            // size of the image
  std::array<float, 2> smallest;  // width, height

  float extent() const { return is_tensorflow ? 0.0F : 1.0F; }
};

ir::ops::opset::detection::ProposedRegion MoveAnchor(const ProposalForm& form, std::array<float, 4> box,
                                                     const std::array<float, 4>& deltas, float score) {
  ir::ops::opset::detection::ProposedRegion region{.corners = {}, .score = score};
  const std::array<float, 2> image = {form.width, form.height};
  for (size_t i = 0; i < 2; ++i) {  // along the width, then the height
    const auto clip = [&](float x, float most) { return std::max(0.0F, std::min(x, most)); };
    if (form.is_tensorflow) {
      box[i] = clip(box[i], image[i]);
      box[i + 2] = clip(box[i + 2], image[i]);
    }
    const float size = box[i + 2] - box[i] + form.extent();
    const float center = box[i] + 0.5F * size + deltas[i] / form.coordinate_scale * size;
    const float half = 0.5F * std::exp(deltas[i + 2] / form.size_scale) * size;
    region.corners[i] = center - half;
    region.corners[i + 2] = center + half;
    if (form.clips_before) {
      region.corners[i] = clip(region.corners[i], image[i] - form.extent());
      region.corners[i + 2] = clip(region.corners[i + 2], image[i] - form.extent());
    }
    if (region.corners[i + 2] - region.corners[i] + form.extent() < form.smallest[i]) region.score = 0;
  }
  return region;
}

FaultOr<Success> Proposal(const ReferenceRun& run) {
  const tensor::TensorView& scores = run.input(0);
  const std::vector<float> probabilities = Floats(scores), deltas = Floats(run.input(1)),
                           info = Floats(run.input(2));
  const auto number = [&](std::string_view name) { return static_cast<float>(run.node.Double(name)); };
  const auto smallest = static_cast<float>(run.node.Int("min_size"));
  // TensorFlow's first coordinate is along the height.
  const bool is_tensorflow = run.node.String("framework") == "tensorflow";
  const ProposalForm form{.is_tensorflow = is_tensorflow,
                          .clips_before = run.node.Bool("clip_before_nms"),
                          .clips_after = run.node.Bool("clip_after_nms"),
                          .normalizes = run.node.Bool("normalize"),
                          .coordinate_scale = number("box_coordinate_scale"),
                          .size_scale = number("box_size_scale"),
                          .stride = static_cast<float>(run.node.Int("feat_stride")),
                          .height = info[is_tensorflow ? 1 : 0],
                          .width = info[is_tensorflow ? 0 : 1],
                          .smallest = {smallest * info.back(), smallest * info[2]}};
  const auto anchors = MakeAnchors(run.node, form.is_tensorflow);
  const int64_t height = scores.extent(2), width = scores.extent(3), cells = height * width;
  const auto count = static_cast<int64_t>(anchors.size());
  const int64_t most = run.node.Int("post_nms_topn");
  FillZeros(run);
  for (int64_t image = 0; image < scores.extent(0); ++image) {
    std::vector<ir::ops::opset::detection::ProposedRegion> regions;
    for (int64_t cell = 0; cell < cells; ++cell) {
      float x = static_cast<float>(cell % width) * form.stride,
            y = static_cast<float>(cell / width) * form.stride;
      if (form.is_tensorflow) std::swap(x, y);
      for (int64_t i = 0; i < count; ++i) {
        std::array<float, 4> box = anchors[static_cast<size_t>(i)], moved;
        box = {box[0] + x, box[1] + y, box[2] + x, box[3] + y};
        for (int64_t k = 0; k < 4; ++k)
          moved[static_cast<size_t>(k)] =
              deltas[static_cast<size_t>(((image * count + i) * 4 + k) * cells + cell)];
        // Scores of the background come first.
        const auto score = probabilities[static_cast<size_t>(((2 * image + 1) * count + i) * cells + cell)];
        regions.push_back(MoveAnchor(form, box, moved, score));
      }
    }
    const auto kept = ir::ops::opset::detection::KeepBestRegions(std::move(regions),
                                                                 {.candidates = run.node.Int("pre_nms_topn"),
                                                                  .most = most,
                                                                  .threshold = number("nms_thresh"),
                                                                  .extent = form.extent()});
    if (!kept) return TooManyRegions();
    const bool known = VisitFloatType(scores.type(), [&]<typename T>(TypeTag<T>) {
      int64_t row = image * most;
      for (const ir::ops::opset::detection::ProposedRegion& region : *kept) {
        std::array<float, 4> box = region.corners;
        for (size_t i = 0; i < 4; ++i) {
          const float limit = i % 2 == 0 ? form.width : form.height;
          if (form.clips_after) box[i] = std::max(0.0F, std::min(box[i], limit));
          if (form.normalizes) box[i] /= limit;
        }
        Store<T>(run.output(), 5 * row, static_cast<float>(image));
        Store<T>(run.output(), 5 * row + 1, box);
        if (run.num_outputs() > 1) Store<T>(run.output(1), row, region.score);
        ++row;
      }
      // The batch index -1 marks the end of an image's regions.
      if (row < (image + 1) * most) Store<T>(run.output(), 5 * row, -1.0F);
    });
    if (!known) return UnsupportedType(run);
  }
  return Success();
}

// ---- Detectron ----

// out[cell, prior] = prior + the center of the cell.
FaultOr<Success> PriorGrid(const ReferenceRun& run) {
  const tensor::TensorView &features = run.input(1), &image = run.input(2);
  const auto extent = [&](std::string_view name, int64_t axis) {
    return run.node.Int(name) != 0 ? run.node.Int(name) : features.extent(axis);
  };
  const int64_t height = extent("h", 2), width = extent("w", 3);
  const auto step = [&](std::string_view name, int64_t axis, int64_t cells) {
    const auto given = static_cast<float>(run.node.Double(name));
    return given != 0 ? given : static_cast<float>(image.extent(axis)) / static_cast<float>(cells);
  };
  const std::array<float, 2> steps = {step("stride_x", 3, width), step("stride_y", 2, height)};
  const std::vector<float> priors = Floats(run.input(0));
  const bool known = VisitFloatType(run.output().type(), [&]<typename T>(TypeTag<T>) {
    int64_t at = 0;
    for (int64_t cell = 0; cell < height * width; ++cell) {
      const std::array<float, 2> center = {(static_cast<float>(cell % width) + 0.5F) * steps[0],
                                           (static_cast<float>(cell / width) + 0.5F) * steps[1]};
      for (size_t i = 0; i < priors.size(); ++i) Store<T>(run.output(), at++, priors[i] + center[i % 2]);
    }
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

// Writes the regions by decreasing score, padded with zeros.
FaultOr<Success> TopKRois(const ReferenceRun& run) {
  const std::vector<float> scores = Floats(run.input(1)), regions = Floats(run.input(0));
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  order.resize(std::min(order.size(), static_cast<size_t>(run.output().extent(0))));
  FillZeros(run);
  const bool known = VisitFloatType(run.output().type(), [&]<typename T>(TypeTag<T>) {
    int64_t at = 0;
    for (size_t region : order) {
      Store<T>(run.output(), at, llvm::ArrayRef<float>(regions).slice(4 * region, 4));
      at += 4;
    }
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterProposals(KernelRegistry& registry) {
  registry.AddReference({"opset9"}, "GenerateProposals", GenerateProposals);
  registry.AddReference({"opset6"}, "ExperimentalDetectronGenerateProposalsSingleImage", SingleImage);
  registry.AddReference({"opset1", "opset4"}, "Proposal", Proposal);
  registry.AddReference({"opset6"}, "ExperimentalDetectronPriorGridGenerator", PriorGrid);
  registry.AddReference({"opset6"}, "ExperimentalDetectronTopKROIs", TopKRois);
}

}  // namespace nnefc::runtime::kernels::detection
