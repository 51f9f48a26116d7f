// Lowerings of NNEF's up- and downsampling to OpenVINO operations.

#include <algorithm>

#include "compiler/ir/ops/opset/dims.h"
#include "compiler/ir/wording.h"
#include "compiler/lower/table.h"
#include "compiler/lower/windows/window.h"

namespace nnefc::lower {

namespace {

struct InterpolateSpec {
  std::string_view mode;
  std::string_view coordinates;
  std::vector<int64_t> factor;  // for the spatial dimensions
};

// Adds Interpolate-4 by integer factors along the dimensions after the second. Without such dimensions it
// returns `x`, since OpenVINO rejects an Interpolate without axes. It uses sizes where scales would lead to
// another extent: from a million elements, 2 leads to two million and one.
OutputPort Interpolate(NodeLowering& n, OutputPort x, const PartialShape& shape,
                       const InterpolateSpec& spec) {
  if (spec.factor.empty()) return x;
  std::vector<int64_t> sizes;
  std::vector<int64_t> axes;
  std::vector<float> scales;
  bool by_scales = true;
  for (size_t i = 0; i < spec.factor.size(); ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    axes.push_back(axis);
    scales.push_back(static_cast<float>(spec.factor[i]));
    sizes.push_back(shape[axis].known() ? shape[axis].value() * spec.factor[i] : spec.factor[i]);
    by_scales &=
        !shape[axis].known() || ir::ops::opset::Rescale(shape[axis], scales.back()) == ir::Dim(sizes.back());
  }
  const nnefc::Shape length{static_cast<int64_t>(scales.size())};
  return n.Add("opset4", "Interpolate",
               {x, n.ConstInts(sizes, "sizes"), n.Constant(TensorValue::FromFloats(length, scales), "scales"),
                n.ConstInts(axes, "axes")},
               Attributes({{"mode", spec.mode},
                           {"shape_calculation_mode", by_scales ? "scales" : "sizes"},
                           {"coordinate_transformation_mode", spec.coordinates},
                           {"nearest_mode", "floor"},
                           {"antialias", false},
                           {"pads_begin", Attribute::Integers{0}},
                           {"pads_end", Attribute::Integers{0}},
                           {"cube_coeff", -0.75}}));
}

bool HasModestFactors(NodeLowering& n, const std::vector<int64_t>& factor) {
  constexpr int64_t kLargest = 1 << 20;
  const PartialShape& shape = n.input_shape(0);
  bool modest = std::all_of(factor.begin(), factor.end(), [](int64_t f) { return f <= kLargest; });
  for (ir::Dim dim : shape.dims()) modest &= !dim.known() || dim.value() <= (int64_t{1} << 30);
  if (!modest)
    n.Error(kWindowTooLarge, "`factor` of `{}`, or the tensor it scales, is too large",
            ir::OperationName(n.node()));
  return modest;
}

// Repeats every element `factor` times along each spatial dimension.
void LowerNearestUpsample(NodeLowering& n) {
  const std::vector<int64_t> factor = n.Ints("factor");
  if (!HasModestFactors(n, factor)) return;
  n.SetOutput(Interpolate(n, n.input(0), n.input_shape(0), {"nearest", "asymmetric", factor}));
}

// Selects every `factor`-th element, starting with the first.
void LowerNearestDownsample(NodeLowering& n) {
  const std::vector<int64_t> factor = n.Ints("factor");
  if (factor.empty()) return n.SetOutput(n.input(0));  // OpenVINO rejects a Slice without axes
  std::vector<int64_t> axes;
  for (size_t i = 0; i < factor.size(); ++i) axes.push_back(static_cast<int64_t>(i) + 2);
  const std::vector<int64_t> start(factor.size(), 0);
  const std::vector<int64_t> stop(factor.size(), INT64_MAX);
  n.SetOutput(n.Add("opset8", "Slice",
                    {n.input(0), n.ConstInts(start, "start"), n.ConstInts(stop, "stop"),
                     n.ConstInts(factor, "step"), n.ConstInts(axes, "axes")}));
}

// multilinear_upsample (R 4.3.4). OpenVINO clamps at the border, like 'replicate'. For other borders the
// tensor is padded by one element, the reach of the interpolation, and the surplus is cropped. 'aligned'
// never leaves the tensor.
void LowerMultilinearUpsample(NodeLowering& n) {
  const std::string method = n.String("method");
  const std::string border = n.String("border");
  const std::vector<int64_t> factor = n.Ints("factor");
  if (!HasModestFactors(n, factor)) return;
  const int64_t rank = n.input_rank(0);
  OutputPort x = n.input(0);
  std::vector<int64_t> begin(static_cast<size_t>(rank), 0);
  std::vector<int64_t> end(static_cast<size_t>(rank), 0);
  const bool extended = border != "replicate" && method != "aligned";
  for (size_t i = 0; extended && i < factor.size(); ++i) {
    if (factor[i] == 1) continue;  // nothing is interpolated
    begin[i + 2] = method == "symmetric" ? 1 : 0;
    end[i + 2] = 1;
  }
  if (extended) x = Pad(n, x, begin, end, PadMode(border));
  const std::string_view coordinates = method == "symmetric"    ? "half_pixel"
                                       : method == "asymmetric" ? "asymmetric"
                                                                : "align_corners";
  const std::string_view mode = rank == 4 || rank == 5 ? "linear_onnx" : "linear";
  x = Interpolate(n, x, n.Shape(x, rank), {mode, coordinates, factor});
  for (size_t i = 0; i < factor.size(); ++i) {
    begin[i + 2] *= -factor[i];
    end[i + 2] *= -factor[i];
  }
  n.SetOutput(Pad(n, x, begin, end, "constant", 0.0, "crop"));
}

}  // namespace

void RegisterResampling(LoweringTable& table) {
  table["nearest_upsample"] = LowerNearestUpsample;
  table["nearest_downsample"] = LowerNearestDownsample;
  table["multilinear_upsample"] = LowerMultilinearUpsample;
}

}  // namespace nnefc::lower
