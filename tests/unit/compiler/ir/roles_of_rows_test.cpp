// The operations with each role in a graph and each property of their results, by the specification of NNEF
// and the documentation of OpenVINO's sets.

#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/named_rows.h"

namespace nnefc::ir {
namespace {

// max(x, y) is non-negative if one operand is; the sum and the product if both are; a difference never.
TEST(RolesOfRows, SignsOfResults) {
  const auto of = [](SignRule rule) {
    return NamesOf(true, [&](const OpInfo& row) { return row.sign == rule; });
  };
  EXPECT_EQ(of(SignRule::kNonNegative),
            (Names{"abs", "exp", "relu", "rms_pool", "sigmoid", "softmax", "softplus", "sqr", "sqrt"}));
  EXPECT_EQ(of(SignRule::kNonNegativeIfFirst), (Names{"area_downsample",
                                                      "avg_pool",
                                                      "box",
                                                      "copy",
                                                      "copy_n",
                                                      "gather",
                                                      "max_pool",
                                                      "max_pool_with_index",
                                                      "max_reduce",
                                                      "mean_reduce",
                                                      "min_reduce",
                                                      "multilinear_upsample",
                                                      "nearest_downsample",
                                                      "nearest_upsample",
                                                      "reshape",
                                                      "slice",
                                                      "split",
                                                      "squeeze",
                                                      "sum_reduce",
                                                      "tile",
                                                      "transpose",
                                                      "unsqueeze",
                                                      "unstack"}));
  EXPECT_EQ(of(SignRule::kNonNegativeIfAll), (Names{"add", "add_n", "concat", "min", "mul", "stack"}));
  EXPECT_EQ(of(SignRule::kNonNegativeIfAny), Names{"max"});
  EXPECT_EQ(NamesOf(false, [](const OpInfo& row) { return row.sign != SignRule::kUnknown; }), Names{});
}

TEST(RolesOfRows, OperandsThatMayBeSwapped) {
  const auto is_commutative = [](const OpInfo& row) { return row.is_commutative; };
  EXPECT_EQ(NamesOf(true, is_commutative), (Names{"add", "and", "eq", "mul", "ne", "or", "tract_core_bitand",
                                                  "tract_core_bitor", "tract_core_bitxor"}));
  EXPECT_EQ(NamesOf(false, is_commutative),
            (Names{"Add", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "LogicalAnd", "LogicalOr",
                   "LogicalXor", "Multiply", "NotEqual", "SquaredDifference", "Xor"}));
}

TEST(RolesOfRows, ElementwiseOperations) {
  const auto is_elementwise = [](const OpInfo& row) { return row.is_elementwise; };
  EXPECT_EQ(NamesOf(true, is_elementwise), (Names{"abs",
                                                  "acos",
                                                  "acosh",
                                                  "add",
                                                  "and",
                                                  "asin",
                                                  "asinh",
                                                  "atan",
                                                  "atanh",
                                                  "ceil",
                                                  "clamp",
                                                  "copy",
                                                  "cos",
                                                  "cosh",
                                                  "div",
                                                  "elu",
                                                  "eq",
                                                  "exp",
                                                  "floor",
                                                  "ge",
                                                  "gelu",
                                                  "gt",
                                                  "le",
                                                  "leaky_relu",
                                                  "log",
                                                  "log2",
                                                  "lt",
                                                  "max",
                                                  "min",
                                                  "mul",
                                                  "ne",
                                                  "neg",
                                                  "not",
                                                  "or",
                                                  "pow",
                                                  "prelu",
                                                  "rcp",
                                                  "relu",
                                                  "round",
                                                  "rsqr",
                                                  "rsqrt",
                                                  "select",
                                                  "selu",
                                                  "sigmoid",
                                                  "sign",
                                                  "silu",
                                                  "sin",
                                                  "sinh",
                                                  "softplus",
                                                  "sqr",
                                                  "sqrt",
                                                  "sub",
                                                  "tan",
                                                  "tanh",
                                                  "tract_core_bitand",
                                                  "tract_core_bitnot",
                                                  "tract_core_bitor",
                                                  "tract_core_bitxor",
                                                  "tract_core_erf",
                                                  "tract_core_round_even",
                                                  "tract_core_to_integer",
                                                  "tract_core_to_width",
                                                  "tract_shl",
                                                  "tract_shr",
                                                  "tract_transformers_added_mask"}));
  EXPECT_EQ(NamesOf(false, is_elementwise), (Names{"Abs",
                                                   "Acos",
                                                   "Acosh",
                                                   "Add",
                                                   "Asin",
                                                   "Asinh",
                                                   "Atan",
                                                   "Atanh",
                                                   "BitwiseAnd",
                                                   "BitwiseLeftShift",
                                                   "BitwiseNot",
                                                   "BitwiseOr",
                                                   "BitwiseRightShift",
                                                   "BitwiseXor",
                                                   "Ceiling",
                                                   "Clamp",
                                                   "Convert",
                                                   "Cos",
                                                   "Cosh",
                                                   "Divide",
                                                   "Equal",
                                                   "Erf",
                                                   "Exp",
                                                   "Floor",
                                                   "FloorMod",
                                                   "Greater",
                                                   "GreaterEqual",
                                                   "IsFinite",
                                                   "IsInf",
                                                   "IsNaN",
                                                   "Less",
                                                   "LessEqual",
                                                   "Log",
                                                   "LogicalAnd",
                                                   "LogicalNot",
                                                   "LogicalOr",
                                                   "LogicalXor",
                                                   "Maximum",
                                                   "Minimum",
                                                   "Mod",
                                                   "Multiply",
                                                   "Negative",
                                                   "NotEqual",
                                                   "Power",
                                                   "Round",
                                                   "Select",
                                                   "Sign",
                                                   "Sin",
                                                   "Sinh",
                                                   "Sqrt",
                                                   "SquaredDifference",
                                                   "Subtract",
                                                   "Tan",
                                                   "Tanh",
                                                   "Xor"}));
}

TEST(RolesOfRows, RolesInGraphs) {
  const auto of = [](bool is_nnef, OpRole role) {
    return NamesOf(is_nnef, [&](const OpInfo& row) { return row.role == role; });
  };
  EXPECT_EQ(of(true, OpRole::kExternal), Names{"external"});
  EXPECT_EQ(of(true, OpRole::kConstant), Names{"constant"});
  EXPECT_EQ(of(true, OpRole::kVariable), Names{"variable"});
  EXPECT_EQ(of(true, OpRole::kUpdate), Names{"update"});
  EXPECT_EQ(of(true, OpRole::kNnefView), (Names{"reshape", "squeeze", "unsqueeze"}));
  EXPECT_EQ(of(false, OpRole::kParameter), Names{"Parameter"});
  EXPECT_EQ(of(false, OpRole::kConst), Names{"Const"});
  EXPECT_EQ(of(false, OpRole::kResult), Names{"Result"});
  EXPECT_EQ(of(false, OpRole::kReadValue), Names{"ReadValue"});
  EXPECT_EQ(of(false, OpRole::kAssign), Names{"Assign"});
  EXPECT_EQ(of(false, OpRole::kIf), Names{"If"});
  EXPECT_EQ(of(false, OpRole::kTensorIterator), Names{"TensorIterator"});
  EXPECT_EQ(of(false, OpRole::kLoop), Names{"Loop"});
  EXPECT_EQ(of(false, OpRole::kView), (Names{"Reshape", "Squeeze", "Unsqueeze"}));
  size_t others = 0;
  const OpRegistry& registry = StandardOps();
  for (size_t i = 0; i < registry.size(); ++i)
    others += registry.Info(OpId(static_cast<int32_t>(i))).role != OpRole::kComputation ? 1 : 0;
  EXPECT_EQ(others, 7U + 14U);  // ReadValue, Assign and Squeeze have two versions

  const auto is_source = [](const OpInfo& row) { return row.is_source; };
  EXPECT_EQ(NamesOf(true, is_source), (Names{"constant", "external", "variable"}));
  EXPECT_EQ(NamesOf(false, is_source), (Names{"Const", "Parameter"}));
  const auto is_sink = [](const OpInfo& row) { return row.is_sink; };
  EXPECT_EQ(NamesOf(true, is_sink), (Names{"tract_pulse_keep", "update"}));
  EXPECT_EQ(NamesOf(false, is_sink), Names{"Assign"});
}

TEST(RolesOfRows, ElementFunctions) {
  const auto of = [](ElementFunction function) {
    return NamesOf(false, [&](const OpInfo& row) { return row.function == function; });
  };
  using enum ElementFunction;
  const std::pair<ElementFunction, const char*> functions[] = {
      {kAbs, "Abs"},           {kAdd, "Add"},         {kClamp, "Clamp"},       {kConvert, "Convert"},
      {kDivide, "Divide"},     {kElu, "Elu"},         {kGelu, "Gelu"},         {kHSwish, "HSwish"},
      {kMaximum, "Maximum"},   {kMinimum, "Minimum"}, {kMish, "Mish"},         {kMultiply, "Multiply"},
      {kPRelu, "PReLU"},       {kRelu, "ReLU"},       {kSelect, "Select"},     {kSigmoid, "Sigmoid"},
      {kSoftPlus, "SoftPlus"}, {kSqrt, "Sqrt"},       {kSubtract, "Subtract"}, {kSwish, "Swish"},
      {kTanh, "Tanh"}};
  for (const auto& [function, name] : functions) EXPECT_EQ(of(function), Names{name});
  EXPECT_EQ(NamesOf(true, [](const OpInfo& row) { return row.function != kOther; }), Names{});
}

// Operations that are run only if their results are used: those with dot products, and those that search,
// transform or sample.
TEST(RolesOfRows, Work) {
  EXPECT_EQ(NamesOf(false, [](const OpInfo& row) { return row.work == Work::kNone; }),
            (Names{"Const", "Parameter", "Reshape", "Result", "ShapeOf", "Squeeze", "Unsqueeze"}));
  EXPECT_EQ(
      NamesOf(false, [](const OpInfo& row) { return row.work == Work::kHeavy; }),
      (Names{"DFT", "ExperimentalDetectronDetectionOutput",
             "ExperimentalDetectronGenerateProposalsSingleImage", "GenerateProposals", "IDFT", "IRDFT",
             "ISTFT", "Interpolate", "Inverse", "MatrixNms", "MulticlassNms", "Proposal", "RDFT", "STFT"}));
  EXPECT_EQ(NamesOf(false, [](const OpInfo& row) { return row.products != nullptr; }),
            (Names{"Convolution", "ConvolutionBackpropData", "DeformableConvolution", "Einsum", "GRUCell",
                   "GRUSequence", "GroupConvolution", "GroupConvolutionBackpropData", "LSTMCell",
                   "LSTMSequence", "MatMul", "RNNCell", "RNNSequence", "ScaledDotProductAttention"}));
}

TEST(RolesOfRows, Windows) {
  const auto of = [](WindowKind kind) {
    return NamesOf(true, [&](const OpInfo& row) { return row.window == kind; });
  };
  EXPECT_EQ(of(WindowKind::kFilter), Names{"conv"});
  EXPECT_EQ(of(WindowKind::kScatter), Names{"deconv"});
  EXPECT_EQ(of(WindowKind::kSum), Names{"box"});
  EXPECT_EQ(of(WindowKind::kMax), (Names{"argmax_pool", "max_pool", "max_pool_with_index"}));
  EXPECT_EQ(of(WindowKind::kAverage), (Names{"avg_pool", "rms_pool"}));
}

TEST(RolesOfRows, NumbersOfResults) {
  const auto of = [](ResultCount count) {
    return NamesOf(true, [&](const OpInfo& row) { return row.results == count; });
  };
  EXPECT_EQ(of(ResultCount::kRatios), Names{"split"});
  EXPECT_EQ(of(ResultCount::kExtent), Names{"unstack"});
  EXPECT_EQ(of(ResultCount::kTimes), Names{"copy_n"});
}

TEST(RolesOfRows, FormsOfProvisionalArguments) {
  const auto of = [](ProvisionalForm form) {
    return NamesOf(true, [&](const OpInfo& row) { return row.provisional == form; });
  };
  EXPECT_EQ(of(ProvisionalForm::kBox),
            (Names{"argmax_pool", "avg_pool", "box", "debox", "desample", "local_contrast_normalization",
                   "local_mean_normalization", "local_response_normalization", "local_variance_normalization",
                   "max_pool", "max_pool_with_index", "rms_pool", "sample"}));
  EXPECT_EQ(of(ProvisionalForm::kConv), (Names{"conv", "deconv", "separable_conv", "separable_deconv"}));
  EXPECT_EQ(of(ProvisionalForm::kFactor),
            (Names{"area_downsample", "multilinear_upsample", "nearest_downsample", "nearest_upsample"}));
  EXPECT_EQ(of(ProvisionalForm::kAxes),
            (Names{"l1_normalization", "l2_normalization", "max_reduce", "mean_reduce", "min_reduce",
                   "moments", "softmax", "sum_reduce"}));
  EXPECT_EQ(of(ProvisionalForm::kAxis), Names{"split"});
  EXPECT_EQ(of(ProvisionalForm::kConcat), Names{"concat"});
  EXPECT_EQ(of(ProvisionalForm::kPerm), Names{"transpose"});
  EXPECT_EQ(of(ProvisionalForm::kReshape), Names{"reshape"});
  EXPECT_EQ(of(ProvisionalForm::kMatmul), (Names{"linear", "matmul"}));
  EXPECT_EQ(of(ProvisionalForm::kUpdate), Names{"update"});
  EXPECT_EQ(of(ProvisionalForm::kSelect), Names{"select"});
  EXPECT_EQ(of(ProvisionalForm::kMinMax), (Names{"max", "min"}));
  EXPECT_EQ(of(ProvisionalForm::kClamp), Names{"clamp"});
}

// The inputs whose values adjust the result of an operation.
TEST(RolesOfRows, AdjustingInputs) {
  const auto of = [](Adjusts adjusts) {
    Names found;
    const OpRegistry& registry = StandardOps();
    for (size_t i = 0; i < registry.size(); ++i) {
      const OpInfo& row = registry.Info(OpId(static_cast<int32_t>(i)));
      for (const InputInfo& input : row.inputs) {
        if (input.adjusts == adjusts) found.insert(row.name + " " + input.name);
      }
    }
    return found;
  };
  EXPECT_EQ(of(Adjusts::kChannels),
            (Names{"batch_normalization mean", "batch_normalization offset", "batch_normalization scale",
                   "batch_normalization variance", "conv bias", "deconv bias", "prelu alpha",
                   "separable_conv bias", "separable_deconv bias"}));
  EXPECT_EQ(of(Adjusts::kColumns), Names{"linear bias"});
  EXPECT_EQ(of(Adjusts::kAnyExtent),
            (Names{"clamp a", "clamp b", "linear_quantize max", "linear_quantize min",
                   "logarithmic_quantize max", "min_max_linear_quantize max", "min_max_linear_quantize min",
                   "zero_point_linear_quantize scale", "zero_point_linear_quantize zero_point"}));
}

}  // namespace
}  // namespace nnefc::ir
