// The operations that have each trait of a row, by the descriptions of NNEF and of OpenVINO's sets.

#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/named_rows.h"

namespace nnefc::ir {
namespace {

template <typename T>
Names OpsetNames(T OpInfo::*trait, T value) {
  return NamesOf(false, [&](const OpInfo& row) { return row.*trait == value; });
}
template <typename T>
Names NnefNames(T OpInfo::*trait, T value) {
  return NamesOf(true, [&](const OpInfo& row) { return row.*trait == value; });
}

TEST(TraitsOfRowsTest, Contractions) {
  const auto of = [](Contraction value) { return OpsetNames(&OpInfo::contraction, value); };
  EXPECT_EQ(of(Contraction::kConvolution), Names{"Convolution"});
  EXPECT_EQ(of(Contraction::kGroupConvolution), Names{"GroupConvolution"});
  EXPECT_EQ(of(Contraction::kConvolutionBackpropData), Names{"ConvolutionBackpropData"});
  EXPECT_EQ(of(Contraction::kGroupConvolutionBackpropData), Names{"GroupConvolutionBackpropData"});
  EXPECT_EQ(of(Contraction::kMatMul), Names{"MatMul"});
  EXPECT_EQ(NamesOf(true, [](const OpInfo& row) { return row.contraction != Contraction::kNone; }), Names{});
}

TEST(TraitsOfRowsTest, PoolingsAndNormalizations) {
  EXPECT_EQ(OpsetNames(&OpInfo::pooling, Pooling::kMax), Names{"MaxPool"});
  EXPECT_EQ(OpsetNames(&OpInfo::pooling, Pooling::kAverage), Names{"AvgPool"});
  EXPECT_EQ(OpsetNames(&OpInfo::is_batch_normalization, true), Names{"BatchNormInference"});
}

TEST(TraitsOfRowsTest, Rearrangements) {
  const auto of = [](Rearrangement value) { return OpsetNames(&OpInfo::rearrangement, value); };
  EXPECT_EQ(of(Rearrangement::kBroadcast), Names{"Broadcast"});
  EXPECT_EQ(of(Rearrangement::kConcat), Names{"Concat"});
  EXPECT_EQ(of(Rearrangement::kGather), Names{"Gather"});
  EXPECT_EQ(of(Rearrangement::kPad), Names{"Pad"});
  EXPECT_EQ(of(Rearrangement::kReshape), Names{"Reshape"});
  EXPECT_EQ(of(Rearrangement::kShuffleChannels), Names{"ShuffleChannels"});
  EXPECT_EQ(of(Rearrangement::kSlice), Names{"Slice"});
  EXPECT_EQ(of(Rearrangement::kSplit), (Names{"Split", "VariadicSplit"}));
  EXPECT_EQ(of(Rearrangement::kTile), Names{"Tile"});
  EXPECT_EQ(of(Rearrangement::kTranspose), Names{"Transpose"});
}

TEST(TraitsOfRowsTest, Quantizers) {
  EXPECT_EQ(OpsetNames(&OpInfo::quantizer, Quantizer::kFakeQuantize), Names{"FakeQuantize"});
  EXPECT_EQ(NamesOf(false, [](const OpInfo& row) { return row.quantizer != Quantizer::kNone; }),
            Names{"FakeQuantize"});
  const auto of = [](Quantizer value) { return NnefNames(&OpInfo::quantizer, value); };
  EXPECT_EQ(of(Quantizer::kLinear), Names{"linear_quantize"});
  EXPECT_EQ(of(Quantizer::kLogarithmic), Names{"logarithmic_quantize"});
  EXPECT_EQ(of(Quantizer::kMinMaxLinear), Names{"min_max_linear_quantize"});
  EXPECT_EQ(of(Quantizer::kZeroPointLinear), Names{"zero_point_linear_quantize"});
  EXPECT_EQ(of(Quantizer::kFakeQuantize), Names{});
}

TEST(TraitsOfRowsTest, CostsOfFunctions) {
  EXPECT_EQ(OpsetNames(&OpInfo::function_cost, FunctionCost::kLow),
            (Names{"Abs", "Clamp", "Negative", "PReLU", "ReLU"}));
  EXPECT_EQ(OpsetNames(&OpInfo::function_cost, FunctionCost::kHigh),
            (Names{"Elu", "Erf", "Exp", "Floor", "Gelu", "HSigmoid", "HSwish", "HardSigmoid", "Log", "Mish",
                   "Selu", "Sigmoid", "SoftPlus", "SoftSign", "Sqrt", "Swish", "Tanh"}));
}

TEST(TraitsOfRowsTest, ResultsForIntegers) {
  EXPECT_EQ(NnefNames(&OpInfo::integers, IntegerResult::kWhole),
            (Names{"abs", "ceil", "floor", "max_reduce", "min_reduce", "neg", "pad", "relu", "round", "sign",
                   "sqr", "sum_reduce", "tract_core_cumsum", "tract_core_einsum", "tract_core_product_reduce",
                   "tract_core_scatter_elements", "tract_core_scatter_nd", "tract_core_topk",
                   "tract_core_topk_by"}));
  EXPECT_EQ(NnefNames(&OpInfo::integers, IntegerResult::kQuotient), (Names{"div", "mean_reduce"}));
  EXPECT_EQ(NnefNames(&OpInfo::integers, IntegerResult::kPower), Names{"pow"});
}

TEST(TraitsOfRowsTest, NarrowIntegers) {
  EXPECT_EQ(NnefNames(&OpInfo::narrow, NarrowIntegers::kReduced),
            (Names{"abs", "add", "div", "mul", "neg", "pow", "sqr", "sub", "sum_reduce", "tract_core_bitnot",
                   "tract_core_cumsum", "tract_core_product_reduce", "tract_shl"}));
  EXPECT_EQ(
      NnefNames(&OpInfo::narrow, NarrowIntegers::kReplaced),
      (Names{"argmax_reduce", "argmin_reduce", "cast", "conv", "deconv", "external", "linear", "matmul",
             "tract_core_einsum", "tract_core_to_integer", "tract_core_to_width", "tract_core_to_width_of"}));
}

// An equivalent exists, has no other row, and has as many inputs; reductions have their axes as an attribute.
// The distribution of random variables at each input.
TEST(TraitsOfRowsTest, RolesOfData) {
  const auto of = [](DataRole role) {
    Names found;
    const OpRegistry& registry = StandardOps();
    for (size_t i = 0; i < registry.size(); ++i) {
      const OpInfo& row = registry.Info(OpId(static_cast<int32_t>(i)));
      for (const InputInfo& input : row.inputs) {
        if (row.set == kNnefSet && input.data == role) found.insert(row.name + " " + input.name);
      }
    }
    return found;
  };
  EXPECT_EQ(of(DataRole::kFilter),
            (Names{"batch_normalization input", "conv input", "conv filter", "deconv input", "deconv filter",
                   "separable_conv input", "separable_conv plane_filter", "separable_conv point_filter",
                   "separable_deconv input", "separable_deconv plane_filter", "separable_deconv point_filter",
                   "linear input", "linear filter", "matmul A", "matmul B"}));
  EXPECT_EQ(of(DataRole::kBias), (Names{"conv bias", "deconv bias", "separable_conv bias",
                                        "separable_deconv bias", "linear bias"}));
  EXPECT_EQ(of(DataRole::kMean), Names{"batch_normalization mean"});
  EXPECT_EQ(of(DataRole::kVariance), Names{"batch_normalization variance"});
  EXPECT_EQ(of(DataRole::kOffset), Names{"batch_normalization offset"});
  EXPECT_EQ(of(DataRole::kScale), Names{"batch_normalization scale"});
}

TEST(TraitsOfRowsTest, Equivalents) {
  Names names;
  const OpRegistry& registry = StandardOps();
  for (size_t i = 0; i < registry.size(); ++i) {
    const OpInfo& row = registry.Info(OpId(static_cast<int32_t>(i)));
    if (row.equivalent.empty()) continue;
    EXPECT_EQ(row.set, kNnefSet) << row.name;
    EXPECT_TRUE(names.insert(row.equivalent).second) << row.equivalent;
    const OpId equivalent = registry.FindNewest(row.equivalent);
    ASSERT_TRUE(equivalent.valid()) << row.equivalent;
    const OpInfo& found = registry.Info(equivalent);
    const bool is_reduction = row.FindAttribute("axes") != nullptr;
    EXPECT_EQ(found.inputs.size(), row.inputs.size() + (is_reduction ? 1 : 0)) << row.name;
    EXPECT_EQ(found.is_elementwise, row.is_elementwise) << row.name;
  }
  EXPECT_EQ(names.size(), 44U);
}

}  // namespace
}  // namespace nnefc::ir
