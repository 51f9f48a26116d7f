// Primitives of tract's registries (stdlib/tract) that standard operations cannot express.

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arithmetic/broadcast.h"
#include "compiler/ir/ops/opset/arithmetic/equation.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"
#include "fmt/format.h"

namespace nnefc::ir::ops {

namespace {

constexpr std::string_view kReductions[] = {"none", "add", "mul", "min", "max"};
constexpr std::string_view kNarrowIntegers[] = {"i8", "i16", "i32", "u8", "u16", "u32"};
constexpr std::string_view kInterpolators[] = {"nearest", "linear", "cubic"};
constexpr std::string_view kCoordinates[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                             "align_corners", "asymmetric"};
constexpr std::string_view kNearest[] = {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"};
constexpr std::string_view kGridModes[] = {"bilinear", "nearest", "bicubic"};
constexpr std::string_view kGridPadding[] = {"zeros", "border", "reflection"};
// The maximum extent of a spectrum. It is computed by a matrix of twice as many rows.
constexpr int64_t kMaxSpectrum = 4096;

void InferToInteger(InferContext& context) {
  Produce(context, 0, ElementType::kI64, context.input(0).shape);
}

// tract_type.width
void InferToWidth(InferContext& context) {
  if (!CheckChoice(context, kTractWidth, "datum_type", kNarrowIntegers)) return;
  InferToInteger(context);
}

// tract_einsum.labels: one label per axis, and one extent per label. A label of the result alone is a new
// axis.
void InferTractEinsum(InferContext& context) {
  const std::string& text = context.attribute("expr").AsString();
  const std::optional<opset::Equation> equation = opset::ReadEquation(text);
  if (!equation || equation->operands.size() != static_cast<size_t>(context.num_inputs())) {
    context.Error(kTractEinsum, "{} is `{}`; expected labels for {} tensors", Describe(context, "expr"),
                  text.substr(0, 60), context.num_inputs());
    return;
  }
  std::array<std::optional<Dim>, 128> extents;
  for (int32_t i = 0; i < context.num_inputs(); ++i) {
    const std::string& labels = equation->operands[static_cast<size_t>(i)];
    const PartialShape& shape = context.input(i).shape;
    if (!shape.rank_known()) return Produce(context, 0, context.input(0).type, PartialShape());
    if (shape.rank() != static_cast<int64_t>(labels.size())) {
      context.Error(kTractEinsum, "{} has rank {}; expected {} by `{}`",
                    Describe(context, 0, static_cast<size_t>(i)), shape.rank(), labels.size(), labels);
      return;
    }
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      std::optional<Dim>& extent = extents[static_cast<size_t>(labels[axis])];
      const Dim actual = shape[static_cast<int64_t>(axis)];
      const std::optional<Dim> merged = extent ? Merge(*extent, actual) : actual;
      if (!merged) {
        context.Error(kTractEinsum, "the label `{}` of {} has two extents", labels[axis],
                      Describe(context, "expr"));
        return;
      }
      extent = *merged;
    }
  }
  llvm::SmallVector<Dim, 4> dims;
  for (char label : equation->result) {
    dims.push_back(extents[static_cast<size_t>(label)].value_or(Dim(1)));
  }
  Produce(context, 0, context.input(0).type, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

// tract_gather.shape: equal extents along the other axes.
void InferGatherElements(InferContext& context) {
  const PartialShape &input = context.input(0).shape, &indices = context.input(1).shape;
  const int64_t axis = context.attribute("axis").AsInt();
  if (!input.rank_known() || !indices.rank_known())
    return Produce(context, 0, context.input(0).type, indices);
  if (!CheckAxis(context, "axis", axis, input.rank())) return;
  bool fits = indices.rank() == input.rank();
  for (int64_t i = 0; fits && i < input.rank(); ++i) fits = i == axis || input[i].Compatible(indices[i]);
  if (!fits) {
    context.Error(kTractGather, "{} has shape {}; expected that of {}, {}, but along axis {}",
                  Describe(context, 1), ToString(indices), Describe(context, 0), ToString(input), axis);
    return;
  }
  Produce(context, 0, context.input(0).type, indices);
}

// tract_gather.shape: one update for each index.
void InferScatterElements(InferContext& context) {
  const PartialShape &input = context.input(0).shape, &indices = context.input(1).shape;
  const PartialShape& updates = context.input(2).shape;
  if (input.rank_known() && !CheckAxis(context, "axis", context.attribute("axis").AsInt(), input.rank()))
    return;
  if (!CheckChoice(context, kTractReduction, "reduction", kReductions)) return;
  if (!Merge(indices, updates) ||
      (input.rank_known() && indices.rank_known() && input.rank() != indices.rank())) {
    context.Error(kTractGather, "{} has shape {} and {} has shape {}; expected one shape, of the rank of {}",
                  Describe(context, 1), ToString(indices), Describe(context, 2), ToString(updates),
                  Describe(context, 0));
    return;
  }
  ProduceLikeInput(context);
}

void InferProductReduce(InferContext& context) {
  PartialShape shape = context.input(0).shape;
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  if (shape.rank_known()) {
    if (!CheckAxes(context, "axes", axes, shape.rank())) return;
    for (int64_t axis : axes) shape.set(axis, Dim(1));
  }
  Produce(context, 0, context.input(0).type, shape);
}

// tract_topk.k: at most the extent of the axis.
void InferTractTopK(InferContext& context) {
  PartialShape shape = context.input(0).shape;
  const int64_t axis = context.attribute("axis").AsInt(), k = context.attribute("k").AsInt();
  if (shape.rank_known()) {
    if (!CheckAxis(context, "axis", axis, shape.rank())) return;
    if (k < 1 || k > shape[axis].max) {
      context.Error(kTractTopK, "{} is {}; expected 1 to the extent of axis {} of {}, shape {}",
                    Describe(context, "k"), k, axis, Describe(context, 0), ToString(shape));
      return;
    }
    shape.set(axis, Dim(k));
  }
  Produce(context, 0, context.input(0).type, shape);
  Produce(context, 1, ElementType::kI64, shape);
}

// The extent of the axis is known only with `k`.
void InferTractTopKBy(InferContext& context) {
  PartialShape shape = context.input(0).shape;
  const int64_t axis = context.attribute("axis").AsInt();
  if (shape.rank_known()) {
    if (!CheckAxis(context, "axis", axis, shape.rank())) return;
    shape.set(axis, Dim(0, shape[axis].max));
  }
  Produce(context, 0, context.input(0).type, shape);
  Produce(context, 1, ElementType::kI64, shape);
}

// tract_gru.shape: [batch, steps, inputs], weights for three gates, and one state per batch item.
void InferGruLayer(InferContext& context) {
  const PartialShape& x = context.input(0).shape;
  const int64_t hidden = context.attribute("hidden").AsInt();
  const auto fits = [&](int32_t input, std::initializer_list<Dim> expected) {
    const PartialShape& shape = context.input(input).shape;
    if (Merge(shape, PartialShape(llvm::ArrayRef<Dim>(expected.begin(), expected.size())))) return true;
    context.Error(kTractGru, "{} has shape {}; expected {} for {} hidden values and {} of shape {}",
                  Describe(context, input), ToString(shape),
                  ToString(PartialShape(llvm::ArrayRef<Dim>(expected.begin(), expected.size()))), hidden,
                  Describe(context, 0), ToString(x));
    return false;
  };
  if (!fits(0, {Dim(), Dim(), Dim()})) return;
  const Dim batch = x.rank_known() ? x[0] : Dim(), steps = x.rank_known() ? x[1] : Dim();
  const Dim inputs = x.rank_known() ? x[2] : Dim();
  if (hidden < 1 || hidden > (int64_t{1} << 40)) {
    context.Error(kTractGru, "{} is {}; expected 1 to 2^40", Describe(context, "hidden"), hidden);
    return;
  }
  if (!fits(1, {Dim(3 * hidden), inputs}) || !fits(2, {Dim(3 * hidden), Dim(hidden)}) ||
      !fits(3, {Dim(6 * hidden)}) || !fits(4, {batch, Dim(1), Dim(hidden)}))
    return;
  const llvm::SmallVector<Dim, 3> all = {batch, steps, Dim(hidden)}, last = {batch, Dim(1), Dim(hidden)};
  Produce(context, 0, context.input(0).type, PartialShape(llvm::ArrayRef<Dim>(all)));
  Produce(context, 1, context.input(0).type, PartialShape(llvm::ArrayRef<Dim>(last)));
}

void InferBits(InferContext& context) {
  ProduceBroadcast(context, context.input(0).type, {0, 1});
}

// Appends the dimensions [first, last) of `shape`.
void Append(llvm::SmallVectorImpl<Dim>& dims, const PartialShape& shape, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) dims.push_back(shape[i]);
}

// tract_nd.tuples: a tuple along the last axis of `indices` has at most one item for each indexed axis.
// Returns nothing if its length is unknown or invalid.
std::optional<int64_t> TupleLength(InferContext& context, int64_t batch) {
  const PartialShape &input = context.input(0).shape, &indices = context.input(1).shape;
  if (!input.rank_known() || !indices.rank_known()) return std::nullopt;
  const bool has_tuples = batch >= 0 && indices.rank() > batch && input.rank() > batch;
  const Dim last = has_tuples ? indices[indices.rank() - 1] : Dim();
  if (has_tuples && !last.known()) return std::nullopt;
  if (has_tuples && last.value() >= 1 && last.value() <= input.rank() - batch) return last.value();
  context.Error(kTractTuples, "{} has shape {}; expected tuples of at most {} items along its last axis",
                Describe(context, 1), ToString(indices),
                std::max<int64_t>(input.rank() - std::max<int64_t>(batch, 0), 0));
  return std::nullopt;
}

// Returns the shape of indexed elements: the extents of the indices, then those of the unindexed axes.
PartialShape ShapeByTuples(InferContext& context, int64_t skipped) {
  const PartialShape &input = context.input(0).shape, &indices = context.input(1).shape;
  llvm::SmallVector<Dim, 4> dims;
  Append(dims, indices, 0, indices.rank() - 1);
  Append(dims, input, skipped, input.rank());
  return PartialShape(llvm::ArrayRef<Dim>(dims));
}

void InferGatherNd(InferContext& context) {
  const int64_t batch = context.attribute("batch_dims").AsInt();
  const std::optional<int64_t> length = TupleLength(context, batch);
  if (context.failed()) return;
  if (!length) return Produce(context, 0, context.input(0).type, PartialShape());
  for (int64_t i = 0; i < batch; ++i) {
    if (context.input(0).shape[i].Compatible(context.input(1).shape[i])) continue;
    context.Error(kTractTuples, "{} has shape {}; expected the first {} extents of {}, shape {}",
                  Describe(context, 1), ToString(context.input(1).shape), batch, Describe(context, 0),
                  ToString(context.input(0).shape));
    return;
  }
  Produce(context, 0, context.input(0).type, ShapeByTuples(context, batch + *length));
}

void InferScatterNd(InferContext& context) {
  if (!CheckChoice(context, kTractReduction, "reduction", kReductions)) return;
  const std::optional<int64_t> length = TupleLength(context, 0);
  if (context.failed()) return;
  if (length) {
    const PartialShape expected = ShapeByTuples(context, *length);
    if (!Merge(expected, context.input(2).shape)) {
      context.Error(kTractTuples, "{} has shape {}; expected {} by {} and {}", Describe(context, 2),
                    ToString(context.input(2).shape), ToString(expected), Describe(context, 0),
                    Describe(context, 1));
      return;
    }
  }
  ProduceLikeInput(context);
}

// Returns the extent of the last axis of a vector of integers, if it is known.
std::optional<int64_t> LengthOf(const PartialShape& vector) {
  const bool is_known = vector.rank_known() && vector.rank() == 1 && vector[0].known();
  return is_known ? std::optional(vector[0].value()) : std::nullopt;
}

void InferExtent(InferContext& context) {
  const PartialShape& shape = context.input(0).shape;
  if (shape.rank_known() && !CheckAxis(context, "axis", context.attribute("axis").AsInt(), shape.rank()))
    return;
  Produce(context, 0, ElementType::kI64, PartialShape(llvm::ArrayRef<Dim>()));
}

void InferReshapeBy(InferContext& context) {
  constexpr int64_t kMaxRank = 64;  // the rank of a longer vector's tensor is left open
  std::optional<int64_t> rank = LengthOf(context.input(1).shape);
  if (rank && *rank > kMaxRank) rank.reset();
  Produce(context, 0, context.input(0).type, rank ? PartialShape::OfRank(*rank) : PartialShape());
}

void InferTileBy(InferContext& context) {
  const PartialShape& shape = context.input(0).shape;
  Produce(context, 0, context.input(0).type,
          shape.rank_known() ? PartialShape::OfRank(shape.rank()) : PartialShape());
}

void InferSliceBy(InferContext& context) {
  PartialShape shape = context.input(0).shape;
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  if (shape.rank_known()) {
    if (!CheckAxes(context, "axes", axes, shape.rank())) return;
    for (int64_t axis : axes) shape.set(axis, Dim(0, shape[axis].max));
  }
  Produce(context, 0, context.input(0).type, shape);
}

// Its bounds are those of a run; expansion replaces the others by a constant.
void InferRange(InferContext& context) {
  if (context.segment(2).empty())
    return context.Error(kArity, "`step` of `tract_core_range` is given no tensor; expected one");
  const llvm::SmallVector<Dim, 1> dims = {Dim()};
  Produce(context, 0, context.input(0).type, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

void InferCumSum(InferContext& context) {
  const PartialShape& shape = context.input(0).shape;
  if (shape.rank_known() && !CheckAxis(context, "axis", context.attribute("axis").AsInt(), shape.rank()))
    return;
  ProduceLikeInput(context);
}

// Returns true if each scale leads to the extent of its axis, or if there are no scales.
bool LeadTo(const Attribute::Integers& sizes, const std::vector<double>& scales, const PartialShape& input) {
  if (scales.empty()) return true;
  if (scales.size() != sizes.size()) return false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Dim dim = input.rank_known() ? input[static_cast<int64_t>(i)] : Dim();
    if (!dim.known()) continue;
    const auto scale = static_cast<float>(scales[i]);
    const double scaled = scale == std::trunc(scale)
                              ? static_cast<double>(dim.value()) * double{scale}
                              : double{std::trunc(static_cast<float>(dim.value()) * scale)};
    if (scaled != static_cast<double>(sizes[i])) return false;
  }
  return true;
}

// tract_sampling.choice: one extent for each axis, scales that lead to it, and supported sampling modes.
void InferInterpolate(InferContext& context) {
  const PartialShape& shape = context.input(0).shape;
  const Attribute::Integers sizes = context.attribute("sizes").AsInts();
  if (!CheckChoice(context, kTractSampling, "interpolator", kInterpolators)) return;
  if (!CheckChoice(context, kTractSampling, "coord_transformer", kCoordinates)) return;
  if (!CheckChoice(context, kTractSampling, "nearest_mode", kNearest)) return;
  const bool fits = !shape.rank_known() || shape.rank() == static_cast<int64_t>(sizes.size());
  if (!fits || std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 1; })) {
    context.Error(kTractSampling, "{} is [{}]; expected an extent for each axis of {}, shape {}",
                  Describe(context, "sizes"), fmt::join(sizes, ","), Describe(context, 0), ToString(shape));
    return;
  }
  const std::vector<double> scales = context.attribute("scales").AsDoubles();
  if (!LeadTo(sizes, scales, shape)) {
    context.Error(kTractSampling,
                  "{} is [{}] and {} is [{}]; expected scales that lead to these extents, or none",
                  Describe(context, "sizes"), fmt::join(sizes, ","), Describe(context, "scales"),
                  fmt::join(scales, ","));
    return;
  }
  llvm::SmallVector<Dim, 4> dims;
  for (int64_t size : sizes) dims.push_back(Dim(size));
  Produce(context, 0, context.input(0).type, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

// tract_sampling.grid: [batch, channels, height, width] and [batch, .., .., 2], or the same with a depth.
void InferGridSample(InferContext& context) {
  const PartialShape &input = context.input(0).shape, &grid = context.input(1).shape;
  if (!CheckChoice(context, kTractSampling, "mode", kGridModes)) return;
  if (!CheckChoice(context, kTractSampling, "padding_mode", kGridPadding)) return;
  if (!input.rank_known() || !grid.rank_known())
    return Produce(context, 0, context.input(0).type, PartialShape());
  const int64_t axes = input.rank() - 2;
  const bool is_volume = axes == 3;
  if ((axes != 2 && !is_volume) || grid.rank() != input.rank() || !grid[axes + 1].Compatible(Dim(axes)) ||
      !input[0].Compatible(grid[0])) {
    context.Error(
        kTractGrid,
        "{} has shape {} and {} has shape {}; expected [n,c,h,w] and [n,..,..,2], or [n,c,d,h,w] and "
        "[n,..,..,..,3]",
        Describe(context, 0), ToString(input), Describe(context, 1), ToString(grid));
    return;
  }
  if (is_volume && context.attribute("mode").AsString() == "bicubic") {
    context.Error(kTractSampling, "{} is 'bicubic'; expected 'bilinear' or 'nearest' for volumes",
                  Describe(context, "mode"));
    return;
  }
  llvm::SmallVector<Dim, 5> dims = {input[0], input[1]};
  for (int64_t i = 1; i <= axes; ++i) dims.push_back(grid[i]);
  Produce(context, 0, context.input(0).type, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

// tract_fft.shape: real and imaginary parts along the last axis; the transformed axis is another one.
void InferFft(InferContext& context) {
  const PartialShape& shape = context.input(0).shape;
  const int64_t axis = context.attribute("axis").AsInt();
  if (!shape.rank_known()) return ProduceLikeInput(context);
  if (!CheckAxis(context, "axis", axis, shape.rank())) return;
  if (axis == shape.rank() - 1 || !shape[shape.rank() - 1].Compatible(Dim(2))) {
    context.Error(kTractSpectrum,
                  "{} has shape {}; expected an extent of 2 along the last axis, behind axis {}",
                  Describe(context, 0), ToString(shape), axis);
    return;
  }
  if (shape[axis].known() && (shape[axis].value() < 1 || shape[axis].value() > kMaxSpectrum)) {
    context.Error(kTractSpectrum, "{} has shape {}; expected 1 to {} elements along axis {}",
                  Describe(context, 0), ToString(shape), kMaxSpectrum, axis);
    return;
  }
  ProduceLikeInput(context);
}

void InferAddedMask(InferContext& context) {
  Produce(context, 0, ElementType::kF32, context.input(0).shape);
}

// A placeholder for operations that expansion replaces.
void InferReplaced(InferContext& context) {
  for (int32_t i = 0; i < context.node().num_outputs(); ++i)
    Produce(context, i, ElementType::kF32, PartialShape());
}

}  // namespace

void RegisterTract(OpRegistry& registry) {
  ops::AddRows(registry, {"tract_core_erf", "tract_core_round_even"},
               {.infer = ops::ProduceLikeInput, .is_elementwise = true});
  ops::AddRow(registry, {.name = "tract_core_to_integer",
                         .infer = ops::InferToInteger,
                         .is_elementwise = true,
                         .narrow = NarrowIntegers::kReplaced});
  ops::AddRow(registry, {.name = "tract_core_to_width",
                         .infer = ops::InferToWidth,
                         .is_elementwise = true,
                         .narrow = NarrowIntegers::kReplaced});
  ops::AddRow(registry, {.name = "tract_core_einsum",
                         .infer = ops::InferTractEinsum,
                         .integers = IntegerResult::kWhole,
                         .narrow = NarrowIntegers::kReplaced});
  ops::AddRow(registry, {.name = "tract_core_gather_elements", .infer = ops::InferGatherElements});
  ops::AddRow(registry, {.name = "tract_core_scatter_elements",
                         .infer = ops::InferScatterElements,
                         .integers = IntegerResult::kWhole});
  ops::AddRow(registry, {.name = "tract_core_product_reduce",
                         .infer = ops::InferProductReduce,
                         .integers = IntegerResult::kWhole,
                         .equivalent = "ReduceProd",
                         .narrow = NarrowIntegers::kReduced});
  ops::AddRow(registry,
              {.name = "tract_core_topk", .infer = ops::InferTractTopK, .integers = IntegerResult::kWhole});
  ops::AddRow(
      registry,
      {.name = "tract_core_topk_by", .infer = ops::InferTractTopKBy, .integers = IntegerResult::kWhole});
  ops::AddRow(registry, {.name = "tract_core_gru_layer", .infer = ops::InferGruLayer});
  ops::AddRows(registry, {"tract_core_bitand", "tract_core_bitor", "tract_core_bitxor"},
               {.infer = ops::InferBits, .is_elementwise = true, .is_commutative = true});
  ops::AddRow(registry, {.name = "tract_shl",
                         .infer = ops::InferBits,
                         .is_elementwise = true,
                         .narrow = NarrowIntegers::kReduced});
  ops::AddRow(registry, {.name = "tract_shr", .infer = ops::InferBits, .is_elementwise = true});
  ops::AddRow(registry, {.name = "tract_core_bitnot",
                         .infer = ops::ProduceLikeInput,
                         .is_elementwise = true,
                         .narrow = NarrowIntegers::kReduced});
  ops::AddRow(registry, {.name = "tract_core_gather_nd", .infer = ops::InferGatherNd});
  ops::AddRow(
      registry,
      {.name = "tract_core_scatter_nd", .infer = ops::InferScatterNd, .integers = IntegerResult::kWhole});
  ops::AddRow(registry, {.name = "tract_core_extent", .infer = ops::InferExtent});
  ops::AddRow(registry, {.name = "tract_core_reshape_by", .infer = ops::InferReshapeBy});
  ops::AddRow(registry, {.name = "tract_core_tile_by", .infer = ops::InferTileBy});
  ops::AddRow(registry, {.name = "tract_core_slice_by", .infer = ops::InferSliceBy});
  ops::AddRow(registry, {.name = "tract_core_range", .infer = ops::InferRange});
  ops::AddRow(registry, {.name = "tract_core_cumsum",
                         .infer = ops::InferCumSum,
                         .integers = IntegerResult::kWhole,
                         .narrow = NarrowIntegers::kReduced});
  ops::AddRow(registry, {.name = "tract_core_interpolate", .infer = ops::InferInterpolate});
  ops::AddRow(registry, {.name = "tract_core_grid_sample", .infer = ops::InferGridSample});
  ops::AddRow(registry, {.name = "tract_core_fft", .infer = ops::InferFft});
  ops::AddRow(
      registry,
      {.name = "tract_transformers_added_mask", .infer = ops::InferAddedMask, .is_elementwise = true});
  ops::AddRows(registry,
               {"tract_core_of_width", "tract_core_products", "tract_core_aligned", "tract_core_matmul"},
               {.infer = ops::InferReplaced});
  ops::AddRow(
      registry,
      {.name = "tract_core_to_width_of", .infer = ops::InferReplaced, .narrow = NarrowIntegers::kReplaced});
  // Expansion replaces these by a constant, a loop or other operations, so no document's graph contains them.
  for (const auto& [name, output] :
       {std::pair("tract_core_scan", "outputs[]"), std::pair("tract_core_submodel", "outputs[]")}) {
    registry.Add(
        {.set = std::string(kNnefSet), .name = name, .outputs = {output}, .infer = ops::InferReplaced});
  }
}

}  // namespace nnefc::ir::ops
