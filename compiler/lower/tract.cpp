// Lowerings of the primitives of tract's registries.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "compiler/ir/ops/opset/dims.h"
#include "compiler/lower/arithmetic/reduce.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"
#include "compiler/lower/tract_arithmetic.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lower {

namespace {

void LowerErf(NodeLowering& n) {
  n.SetOutput(n.Unary("Erf", n.input(0)));
}

void LowerRoundEven(NodeLowering& n) {
  n.SetOutput(n.Add("opset5", "Round", {n.input(0)}, Attributes({{"mode", "half_to_even"}})));
}

// Convert rounds toward zero, like tract.
void LowerToInteger(NodeLowering& n) {
  n.SetOutput(
      n.Add("opset1", "Convert", {n.input(0)}, Attributes({{"destination_type", ElementType::kI64}})));
}

// Labels of the result that no tensor has are new axes.
void LowerTractEinsum(NodeLowering& n) {
  std::vector<OutputPort> inputs;
  inputs.reserve(static_cast<size_t>(n.num_inputs()));
  for (int32_t i = 0; i < n.num_inputs(); ++i) inputs.push_back(n.input(i));
  const std::string expression = n.String("expr");
  const size_t arrow = expression.find("->");
  if (arrow == std::string::npos)
    return n.SetOutput(n.Add("opset7", "Einsum", inputs, Attributes({{"equation", expression}})));
  std::string equation = expression.substr(0, arrow + 2);
  std::vector<int64_t> added;
  int64_t axis = 0;
  for (const char label : expression.substr(arrow + 2)) {
    if (label == ' ') continue;
    if (expression.find(label) < arrow) {
      equation += label;
    } else {
      added.push_back(axis);
    }
    ++axis;
  }
  const OutputPort sum = n.Add("opset7", "Einsum", inputs, Attributes({{"equation", equation}}));
  n.SetOutput(added.empty() ? sum : n.Add("opset1", "Unsqueeze", {sum, n.ConstInts(added, "axes")}));
}

void LowerGatherElements(NodeLowering& n) {
  n.SetOutput(
      n.Add("opset6", "GatherElements", {n.input(0), n.input(1)}, Attributes({{"axis", n.Int("axis")}})));
}

// Returns OpenVINO's name for `reduction`.
std::string_view ReductionOf(NodeLowering& n) {
  static constexpr std::pair<std::string_view, std::string_view> kReductions[] = {
      {"none", "none"}, {"add", "sum"}, {"mul", "prod"}, {"min", "min"}, {"max", "max"}};
  const std::string reduction = n.String("reduction");
  return llvm::find_if(kReductions, [&](const auto& each) { return each.first == reduction; })->second;
}

void LowerScatterElements(NodeLowering& n) {
  n.SetOutput(n.Add("opset12", "ScatterElementsUpdate",
                    {n.input(0), n.input(1), n.input(2), n.ConstInt(n.Int("axis"), "axis")},
                    Attributes({{"reduction", ReductionOf(n)}, {"use_init_val", true}})));
}

struct BitOperation {
  std::string_view set, type;
};
constexpr BitOperation kBitwiseAnd{"opset13", "BitwiseAnd"}, kBitwiseOr{"opset13", "BitwiseOr"},
    kBitwiseXor{"opset13", "BitwiseXor"}, kBitwiseNot{"opset13", "BitwiseNot"},
    kLeftShift{"opset15", "BitwiseLeftShift"}, kRightShift{"opset15", "BitwiseRightShift"};

template <const BitOperation& kOperation>
void LowerBits(NodeLowering& n) {
  std::vector<OutputPort> inputs;
  int64_t rank = 0;
  for (int32_t i = 0; i < n.num_inputs(); ++i) rank = std::max(rank, n.input_rank(i));
  inputs.reserve(static_cast<size_t>(n.num_inputs()));
  for (int32_t i = 0; i < n.num_inputs(); ++i) inputs.push_back(n.Align(n.input(i), rank));
  n.SetOutput(n.Add(kOperation.set, kOperation.type, inputs));
}

void LowerGatherNd(NodeLowering& n) {
  n.SetOutput(n.Add("opset8", "GatherND", {n.input(0), n.input(1)},
                    Attributes({{"batch_dims", n.Int("batch_dims")}})));
}

void LowerScatterNd(NodeLowering& n) {
  const std::string_view reduction = ReductionOf(n);
  const std::vector<OutputPort> inputs = {n.input(0), n.input(1), n.input(2)};
  if (reduction == "none") return n.SetOutput(n.Add("opset4", "ScatterNDUpdate", inputs));
  n.SetOutput(n.Add("opset15", "ScatterNDUpdate", inputs, Attributes({{"reduction", reduction}})));
}

void LowerRange(NodeLowering& n) {
  n.SetOutput(n.Add("opset4", "Range", {n.input(0), n.input(1), n.input(2)},
                    Attributes({{"output_type", n.source_input(0).type}})));
}

void LowerCumSum(NodeLowering& n) {
  n.SetOutput(n.Add("opset3", "CumSum", {n.input(0), n.ConstInt(n.Int("axis"), "axis")},
                    Attributes({{"exclusive", n.Bool("exclusive")}, {"reverse", n.Bool("reverse")}})));
}

// Returns true if Interpolate samples at other points than tract. With aligned corners, it uses the whole
// extent, tract the extent before it is rounded down. OpenVINO's CPU plug-in ignores the scale of an extent
// that stays.
bool SamplesElsewhere(NodeLowering& n, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<double> scales) {
  if (scales.size() != sizes.size()) return false;
  const bool aligns_corners = n.String("coord_transformer") == "align_corners";
  for (size_t i = 0; i < sizes.size(); ++i) {
    const ir::Dim dim = n.input_shape(0)[static_cast<int64_t>(i)];
    if (!dim.known() || scales[i] == 1) continue;
    const float wanted = static_cast<float>(scales[i]) * static_cast<float>(dim.value());
    const bool is_rounded = wanted != static_cast<float>(sizes[i]);
    if (is_rounded && (aligns_corners || dim.value() == sizes[i])) return true;
  }
  return false;
}

// Sources of the extents of Interpolate.
enum class Leading {
  kByScales,
  kBySizes,  // there are no scales, or each extent is the exact product, and its quotient the scale
  kNeither,
};

// Interpolate counts a scale as slightly larger: from a million elements, 2 leads to two million and one.
Leading LeadingTo(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<double> scales, const PartialShape& input) {
  if (scales.size() != sizes.size()) return Leading::kBySizes;
  bool is_same = true, is_exact = true;
  for (size_t i = 0; i < scales.size(); ++i) {
    const ir::Dim dim = input[static_cast<int64_t>(i)];
    if (!dim.known()) continue;
    const auto scale = static_cast<float>(scales[i]);
    is_same &= ir::ops::opset::Rescale(dim, scale) == ir::Dim(sizes[i]);
    is_exact &= static_cast<double>(dim.value()) * scale == static_cast<double>(sizes[i]);
  }
  return is_same ? Leading::kByScales : is_exact ? Leading::kBySizes : Leading::kNeither;
}

// Axes with unchanged extents are omitted.
void LowerInterpolate(NodeLowering& n) {
  const std::vector<int64_t> sizes = n.Ints("sizes");
  const std::vector<double> scales = n.node().attribute("scales").AsDoubles();
  const PartialShape& shape = n.input_shape(0);
  const Leading leading = LeadingTo(sizes, scales, shape);
  const bool has_no_mode =
      n.String("coord_transformer") == "half_pixel_symmetric" || leading == Leading::kNeither;
  if (has_no_mode || SamplesElsewhere(n, sizes, scales)) {
    if (const std::optional<OutputPort> result = InterpolateInOrder(n)) return n.SetOutput(*result);
    if (has_no_mode) return n.UnknownExtent("`input` of `tract_core_resize`", 0);
  }
  std::vector<int64_t> axes, wanted;
  std::vector<float> factors;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const ir::Dim dim = shape[static_cast<int64_t>(i)];
    const bool is_scaled = i < scales.size() && scales[i] != 1;
    if (dim.known() && dim.value() == sizes[i] && !is_scaled) continue;
    axes.push_back(static_cast<int64_t>(i));
    wanted.push_back(sizes[i]);
    factors.push_back(i < scales.size() ? static_cast<float>(scales[i]) : 1);
  }
  if (axes.empty()) return n.SetOutput(n.input(0));
  const bool is_by_scales = leading == Leading::kByScales;
  const OutputPort extents =
      is_by_scales
          ? n.Constant(TensorValue::FromFloats({static_cast<int64_t>(factors.size())}, factors), "scales")
          : n.ConstInts(wanted, "sizes");
  const std::string interpolator = n.String("interpolator");
  n.SetOutput(n.Add("opset11", "Interpolate", {n.input(0), extents, n.ConstInts(axes, "axes")},
                    Attributes({{"mode", interpolator == "linear" ? "linear_onnx" : interpolator},
                                {"shape_calculation_mode", is_by_scales ? "scales" : "sizes"},
                                {"coordinate_transformation_mode", n.String("coord_transformer")},
                                {"nearest_mode", n.String("nearest_mode")},
                                {"antialias", false},
                                {"pads_begin", Attribute::Integers{0}},
                                {"pads_end", Attribute::Integers{0}},
                                {"cube_coeff", -0.75}})));
}

// Returns the matrix that transforms a row of `count` pairs (real, imaginary) to its spectrum.
TensorValue SpectrumMatrix(int64_t count, bool is_inverse) {
  const int64_t width = 2 * count;
  std::vector<float> items(static_cast<size_t>(width * width));
  for (int64_t t = 0; t < count; ++t) {
    for (int64_t k = 0; k < count; ++k) {
      const double turns = static_cast<double>(t * k % count) / static_cast<double>(count);
      const double angle = (is_inverse ? 2 : -2) * std::numbers::pi * turns;
      const auto cosine = static_cast<float>(std::cos(angle)), sine = static_cast<float>(std::sin(angle));
      float* const real = &items[static_cast<size_t>(2 * t * width + 2 * k)];
      real[0] = cosine;
      real[1] = sine;
      real[width] = -sine;
      real[width + 1] = cosine;
    }
  }
  return TensorValue::FromFloats({width, width}, items);
}

// Lowers the Fourier transform to a matrix multiplication along the second to last axis, since DFT operations
// are not supported by all readers of the IR.
void LowerFft(NodeLowering& n) {
  const int64_t rank = n.input_rank(0), axis = n.Int("axis");
  std::vector<int64_t> order, back(static_cast<size_t>(rank)), extents;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) order.push_back(i);
  }
  order.insert(order.end() - 1, axis);
  for (int64_t i = 0; i < rank; ++i) {
    const ir::Dim dim = n.input_shape(0)[order[static_cast<size_t>(i)]];
    if (!dim.known()) return n.UnknownExtent("`input` of `tract_core_fft`", order[static_cast<size_t>(i)]);
    back[static_cast<size_t>(order[static_cast<size_t>(i)])] = i;
    extents.push_back(dim.value());
  }
  const int64_t count = extents[extents.size() - 2];
  const bool is_in_place = axis == rank - 2;
  const OutputPort moved =
      is_in_place ? n.input(0) : n.Add("opset1", "Transpose", {n.input(0), n.ConstInts(order, "order")});
  const OutputPort rows = n.Reshape(moved, {-1, 2 * count}, "rows");
  const OutputPort product =
      n.Add("opset1", "MatMul", {rows, n.Constant(SpectrumMatrix(count, n.Bool("inverse")), "matrix")},
            Attributes({{"transpose_a", false}, {"transpose_b", false}}));
  const OutputPort pairs = n.Reshape(product, extents, "pairs");
  n.SetOutput(is_in_place ? pairs
                          : n.Add("opset1", "Transpose", {pairs, n.ConstInts(back, "back")}, {}, "moved"));
}

void LowerAddedMask(NodeLowering& n) {
  if (n.source_input(0).type != ElementType::kBoolean) {
    n.SetOutput(n.input(0));
    return;
  }
  const OutputPort zero = n.ConstFloat(0, "zero");
  const OutputPort lowest = n.ConstFloat(-std::numeric_limits<double>::infinity(), "lowest");
  n.SetOutput(n.Add("opset1", "Select", {n.input(0), zero, lowest}));
}

}  // namespace

void RegisterTract(LoweringTable& table) {
  table["tract_core_erf"] = LowerErf;
  table["tract_core_round_even"] = LowerRoundEven;
  table["tract_core_to_integer"] = LowerToInteger;
  table["tract_core_einsum"] = LowerTractEinsum;
  table["tract_core_gather_elements"] = LowerGatherElements;
  table["tract_core_scatter_elements"] = LowerScatterElements;
  table["tract_core_product_reduce"] = LowerReduction;
  table["tract_transformers_added_mask"] = LowerAddedMask;
  table["tract_core_bitand"] = LowerBits<kBitwiseAnd>;
  table["tract_core_bitor"] = LowerBits<kBitwiseOr>;
  table["tract_core_bitxor"] = LowerBits<kBitwiseXor>;
  table["tract_core_bitnot"] = LowerBits<kBitwiseNot>;
  table["tract_shl"] = LowerBits<kLeftShift>;
  table["tract_shr"] = LowerBits<kRightShift>;
  table["tract_core_gather_nd"] = LowerGatherNd;
  table["tract_core_scatter_nd"] = LowerScatterNd;
  table["tract_core_range"] = LowerRange;
  table["tract_core_cumsum"] = LowerCumSum;
  table["tract_core_interpolate"] = LowerInterpolate;
  table["tract_core_fft"] = LowerFft;
}

}  // namespace nnefc::lower
