// Prior boxes: PriorBox and PriorBoxClustered.

#include "compiler/ir/ops/opset/boxes/prior_box.h"

#include <algorithm>
#include <set>

#include "compiler/ir/ops/opset/op_context.h"
#include "fmt/format.h"

namespace nnefc::ir::ops::opset {

std::vector<float> AspectRatios(const Node& node) {
  constexpr float kSame = 1e-6F;
  std::vector<float> ratios{1};
  std::set<float> known{1};
  const bool flip = node.Bool("flip");
  for (double item : node.Doubles("aspect_ratio")) {
    const auto ratio = static_cast<float>(item);
    const auto near = known.lower_bound(ratio - kSame);
    if (near != known.end() && *near < ratio + kSame) continue;
    for (float one : {ratio, 1 / ratio}) {
      ratios.push_back(one);
      known.insert(one);
      if (!flip) break;
    }
  }
  return ratios;
}

namespace {

bool CheckVariance(OpContext& op) {
  const size_t count = op.node().Doubles("variance").size();
  if (count == 0 || count == 1 || count == 4) return true;
  op.Error(kOpsetAttributeValue, "`variance` of `{}` has {} items; expected none, 1 or 4", op.node().type(),
           count);
  return false;
}

// Sets the output [2, 4 * height * width * boxes]: corners, then variances.
void SetBoxes(OpContext& op, int64_t boxes) {
  for (int32_t input : {0, 1}) {
    const std::optional<int64_t> count = op.shape(input).volume();
    if (!count || *count == 2) continue;
    op.Error(kOpsetExtent, "{} has the shape {}; expected 2 items, a height and a width", op.InputName(input),
             ToString(op.shape(input)));
    return;
  }
  const std::optional<std::vector<int64_t>> size = op.Integers(0);
  if (!size) return op.Set(ElementType::kF32, PartialShape{Dim(2), Dim()});
  if (size->size() != 2 || size->front() < 0 || size->back() < 0) {
    op.Error(kOpsetConstantInput, "{} is [{}]; expected a height and a width", op.InputName(0),
             fmt::join(*size, ","));
    return;
  }
  std::optional<Dim> extent = Multiply(Dim(size->front()), Dim(size->back()));
  if (extent) extent = Multiply(*extent, Dim(boxes));
  if (extent) extent = Multiply(*extent, Dim(4));
  if (!extent) {
    op.Error(kOpsetExtent, "{} boxes at each of {} x {} places are more than fit an extent", boxes,
             size->front(), size->back());
    return;
  }
  op.Set(ElementType::kF32, PartialShape{Dim(2), *extent});
}

constexpr double kHighestDensity = 1 << 15;

// Returns the number of boxes of fixed sizes per cell: a square of boxes by the density of each size, for
// each ratio. Nothing if attributes do not fit.
std::optional<int64_t> CountFixedBoxes(OpContext& op, int64_t ratios) {
  const std::vector<double> densities = op.node().Doubles("density");
  const size_t sizes = op.node().Doubles("fixed_size").size();
  const auto fixed_ratios = static_cast<int64_t>(op.node().Doubles("fixed_ratio").size());
  if (densities.size() != sizes) {
    op.Error(kOpsetAttributeValue,
             "`density` of `PriorBox` has {} items; expected one for each of {} of `fixed_size`",
             densities.size(), sizes);
    return std::nullopt;
  }
  if (sizes != 0 && fixed_ratios != 0 && fixed_ratios != ratios) {
    // OpenVINO computes a box for each of the former but allocates one for each of the latter.
    op.Error(kOpsetAttributeValue,
             "`fixed_ratio` of `PriorBox` has {} items; expected {}, the aspect ratios with 1", fixed_ratios,
             ratios);
    return std::nullopt;
  }
  int64_t count = 0;
  for (double density : densities) {
    if (!(density >= 1 && density <= kHighestDensity)) {
      op.Error(kOpsetAttributeValue, "`density` of `PriorBox` has the item {}; expected 1 to {}", density,
               kHighestDensity);
      return std::nullopt;
    }
    const auto side = static_cast<int64_t>(density);
    count = SaturatingAdd(count, SaturatingMultiply(side * side, ratios));
  }
  return count;
}

// PriorBox-1 and -8: boxes of `fixed_size`, or of `min_size`, each with one of `max_size`.
void InferPriorBox(OpContext& op) {
  if (!CheckVariance(op)) return;
  const size_t fixed = op.node().Doubles("fixed_size").size();
  const auto least = static_cast<int64_t>(op.node().Doubles("min_size").size());
  const auto largest = static_cast<int64_t>(op.node().Doubles("max_size").size());
  const auto ratios = static_cast<int64_t>(AspectRatios(op.node()).size());
  if (fixed != 0 && (least != 0 || largest != 0)) {
    op.Error(kOpsetAttributeValue, "`PriorBox` has `fixed_size` and `{}`; expected one of them",
             least != 0 ? "min_size" : "max_size");
    return;
  }
  const bool scale_all = op.Bool("scale_all_sizes");
  if (scale_all && largest > least) {
    op.Error(kOpsetAttributeValue,
             "`max_size` of `PriorBox` has {} items; expected at most {}, those of `min_size`", largest,
             least);
    return;
  }
  if (!scale_all && fixed == 0 && least == 0 && ratios > 1) {
    op.Error(kOpsetAttributeValue,
             "`min_size` of `PriorBox` is empty; expected the size of the boxes by `aspect_ratio`, where "
             "`scale_all_sizes` is false");
    return;
  }
  const std::optional<int64_t> of_fixed_size = CountFixedBoxes(op, ratios);
  if (!of_fixed_size) return;
  const int64_t with_ratios = scale_all ? least : std::min<int64_t>(least, 1);
  const int64_t with_largest = scale_all ? largest : 0;
  SetBoxes(op, *of_fixed_size + least + with_largest + SaturatingMultiply(with_ratios, ratios - 1));
}

// PriorBoxClustered-1: a box for each pair of extents.
void InferPriorBoxClustered(OpContext& op) {
  if (!CheckVariance(op)) return;
  const size_t widths = op.node().Doubles("width").size();
  const size_t heights = op.node().Doubles("height").size();
  if (widths != heights) {
    op.Error(kOpsetAttributeValue,
             "`PriorBoxClustered` has {} items of `width` and {} of `height`; expected as many", widths,
             heights);
    return;
  }
  SetBoxes(op, static_cast<int64_t>(widths));
}

AttributeInfo Numbers(std::string_view name, Attribute::Scalars fallback = {}) {
  return Positive({std::string(name), AttributeKind::kDoubles, Attribute(std::move(fallback))});
}

OpInfo PriorBoxRow(std::string_view set, std::vector<AttributeInfo> more,
                   std::vector<AttributeInfo> implied) {
  std::vector<AttributeInfo> attributes = {Numbers("min_size"),
                                           Numbers("max_size"),
                                           Numbers("aspect_ratio"),
                                           Numbers("density"),
                                           Numbers("fixed_ratio"),
                                           Numbers("fixed_size"),
                                           {"clip", AttributeKind::kBool, false},
                                           {"flip", AttributeKind::kBool, false},
                                           {"step", AttributeKind::kDouble, 0.0},
                                           {"offset", AttributeKind::kDouble},
                                           Numbers("variance"),
                                           {"scale_all_sizes", AttributeKind::kBool, true}};
  attributes.insert(attributes.end(), more.begin(), more.end());
  return MakeRow({.set = set,
                  .name = "PriorBox",
                  .inputs = {"output_size: integer 1", "image_size: integer 1"},
                  .attributes = std::move(attributes),
                  .implied = std::move(implied),
                  .infer = Infer<InferPriorBox>});
}

}  // namespace

std::vector<OpInfo> PriorBoxRows() {
  const AttributeInfo order{"min_max_aspect_ratios_order", AttributeKind::kBool, true};
  return {
      PriorBoxRow("opset1", {}, {order}),
      PriorBoxRow("opset8", {order}, {}),
      MakeRow({.set = "opset1",
               .name = "PriorBoxClustered",
               .inputs = {"output_size: integer 1", "image_size: integer 1"},
               .attributes = {{"step", AttributeKind::kDouble, 0.0},
                              {"step_w", AttributeKind::kDouble, 0.0},
                              {"step_h", AttributeKind::kDouble, 0.0},
                              Numbers("width", {1.0}),
                              Numbers("height", {1.0}),
                              {"clip", AttributeKind::kBool, true},
                              {"offset", AttributeKind::kDouble},
                              Numbers("variance")},
               .infer = Infer<InferPriorBoxClustered>}),
  };
}

}  // namespace nnefc::ir::ops::opset
