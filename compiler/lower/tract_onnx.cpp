// Lowerings of the primitives of tract's registry tract_onnx.

#include <cmath>
#include <limits>

#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// The largest number of boxes: no limit for OpenVINO.
constexpr int64_t kNoLimit = std::numeric_limits<int32_t>::max();

void LowerNonZero(NodeLowering& n) {
  n.SetOutput(n.Add("opset3", "NonZero", {n.input(0)}, Attributes({{"output_type", ElementType::kI64}})));
}

// Returns the maximum number of boxes of a class, where 0 is no limit.
OutputPort MaxBoxes(NodeLowering& n) {
  const OutputPort given = n.input(2);
  if (const std::optional<double> known = n.ScalarValue(given))
    return n.ConstInt(*known == 0 ? kNoLimit : static_cast<int64_t>(*known), "limit");
  const OutputPort is_zero = n.Binary("Equal", given, n.ConstInt(0, "zero"));
  return n.Add("opset1", "Select", {is_zero, n.ConstInt(kNoLimit, "none"), given}, {}, "limit");
}

void LowerNonMaxSuppression(NodeLowering& n) {
  const bool is_center = n.Int("center_point_box") == 1;
  const ir::NodeId selected =
      n.AddNode("opset9", "NonMaxSuppression", {n.input(0), n.input(1), MaxBoxes(n), n.input(3), n.input(4)},
                Attributes({{"box_encoding", is_center ? "center" : "corner"},
                            {"sort_result_descending", false},
                            {"output_type", ElementType::kI64}}),
                3);
  n.SetOutput({selected, 0});
}

// Returns a non-negative seed of the attribute, not 0: OpenVINO draws other numbers in each run for that.
int64_t SeedOf(NodeLowering& n) {
  const double seed = std::fmod(std::abs(n.Double("seed")), static_cast<double>(kNoLimit));
  return static_cast<int64_t>(seed) + 1;
}

void LowerUniform(NodeLowering& n) {
  n.SetOutput(
      n.Add("opset8", "RandomUniform",
            {n.ConstInts(n.Ints("shape"), "shape"), n.ConstFloat(0, "low"), n.ConstFloat(1, "high")},
            Attributes({{"output_type", ElementType::kF32}, {"global_seed", 1}, {"op_seed", SeedOf(n)}})));
}

void LowerMultinomial(NodeLowering& n) {
  n.SetOutput(n.Add("opset13", "Multinomial", {n.input(0), n.ConstInts({n.Int("sample_size")}, "samples")},
                    Attributes({{"convert_type", ElementType::kI64},
                                {"with_replacement", true},
                                {"log_probs", true},
                                {"global_seed", 1},
                                {"op_seed", SeedOf(n)}})));
}

}  // namespace

void RegisterTractOnnx(LoweringTable& table) {
  table["tract_onnx_non_zero"] = LowerNonZero;
  table["tract_onnx_non_max_suppression"] = LowerNonMaxSuppression;
  table["tract_onnx_uniform"] = LowerUniform;
  table["tract_onnx_multinomial"] = LowerMultinomial;
}

}  // namespace nnefc::lower
