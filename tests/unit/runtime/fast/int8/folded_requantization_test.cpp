// Functions between the products of an 8-bit kernel and its quantized result, folded into a factor and a bias
// by channel, against the formula of one after the other.

#include <cmath>
#include <deque>

#include "runtime/fast/int8/quantization.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::fast::int8 {
namespace {

using Limits = std::optional<std::pair<float, float>>;

// The numbers of three channels: scales of products, summands and factors.
struct FoldedNumbers {
  std::vector<float> scales = {0.5F, 0.25F, 2};
  std::vector<float> added = {3, -4, 5};
  std::vector<float> factors = {1, 0.5F, 2};
  double min = -5, max = 100;  // of a Clamp
  float low = -10;             // the number of the quantized value 0; 255 is that of `low` + 255
  bool has_constants = true;
};

// Folds operations after products: `A` and `a` add numbers by channel, or the first one, `M` and `m` multiply
// by factors, `R` is a ReLU, `C` a Clamp and `T` a Tanh.
std::optional<FoldedRequantization> Fold(const std::string& posts, const FoldedNumbers& by = {}) {
  TestGraph g;
  const Shape images = {1, 3, 2, 2};
  ir::OutputPort y = g.Parameter("y", images);
  std::vector<kernels::PostOperation> operations;
  std::vector<kernels::ValueInfo> inputs(2, {.type = ElementType::kF32, .shape = images});
  std::deque<TensorValue> constants;
  for (const char post : posts) {
    std::vector<ir::OutputPort> operands = {y};
    const int first_operand = static_cast<int>(inputs.size());
    if (post == 'A' || post == 'a' || post == 'M' || post == 'm') {
      const std::vector<float>& numbers = post == 'A' || post == 'a' ? by.added : by.factors;
      const bool is_by_channel = post == 'A' || post == 'M';
      constants.push_back(is_by_channel ? TensorValue::FromFloats({1, 3, 1, 1}, numbers)
                                        : TensorValue::FromFloats({}, {numbers[0]}));
      const TensorValue& constant = constants.back();
      operands.push_back(g.Const(constant));
      inputs.push_back({.type = ElementType::kF32,
                        .shape = constant.shape(),
                        .constant = by.has_constants ? &constant : nullptr});
    }
    ir::AttributeMap limits;
    if (post == 'C') {
      limits.Set("min", by.min);
      limits.Set("max", by.max);
    }
    const char* const type = operands.size() == 2 ? (post == 'A' || post == 'a' ? "Add" : "Multiply")
                             : post == 'R'        ? "ReLU"
                             : post == 'C'        ? "Clamp"
                                                  : "Tanh";
    y = g.Op(type, operands, limits);
    operations.push_back({.node = &g.graph->node(y.node), .first_operand = first_operand});
  }
  const kernels::ValueInfo result{.type = ElementType::kF32, .shape = images};
  return FoldRequantization({.posts = operations, .inputs = inputs, .outputs = result},
                            {.low = by.low, .high = by.low + 255, .codes = {.scale = 1}}, by.scales, 1);
}

TEST(FoldedRequantizationTest, OrderOfFunctions) {
  struct Chain {
    const char* posts;
    bool is_folded;
    Limits limits = std::nullopt;
  };
  for (const Chain& chain : std::vector<Chain>{{"", true},
                                               {"A", true},
                                               {"a", true},
                                               {"M", true},
                                               {"m", true},
                                               {"AM", true},
                                               {"am", true},
                                               {"R", true, {{10, HUGE_VALF}}},
                                               {"AR", true, {{10, HUGE_VALF}}},
                                               {"RM", true, {{10, HUGE_VALF}}},
                                               {"ARM", true, {{10, HUGE_VALF}}},
                                               {"C", true, {{5, 110}}},
                                               {"AC", true, {{5, 110}}},
                                               {"Cm", true, {{5, 110}}},
                                               {"CM", false},  // other limits of each channel
                                               {"MA", false},
                                               {"MR", false},
                                               {"RA", false},
                                               {"AA", false},
                                               {"MM", false},
                                               {"RR", false},
                                               {"RC", false},
                                               {"T", false},
                                               {"AT", false},
                                               {"TM", false}}) {
    SCOPED_TRACE(chain.posts);
    const auto folded = Fold(chain.posts);
    ASSERT_EQ(folded.has_value(), chain.is_folded);
    if (!folded) continue;
    EXPECT_EQ(folded->limits, chain.limits);
    const FoldedNumbers by;
    const std::string posts = chain.posts;
    for (size_t channel = 0; channel < 3; ++channel) {
      for (const double sum : {-7.0, 0.0, 11.0}) {
        double number = double{by.scales[channel]} * sum;
        if (posts.find_first_of("Aa") != std::string::npos)
          number += by.added[posts.find('a') == std::string::npos ? channel : 0];
        if (posts.find_first_of("Mm") != std::string::npos)
          number *= by.factors[posts.find('m') == std::string::npos ? channel : 0];
        const double found = double{folded->scales[channel]} * (sum + double{folded->bias[channel]});
        EXPECT_NEAR(found, number + 10, 1e-5) << channel << " " << sum;
      }
    }
  }
}

// A factor must be positive, and products as well as biases finite.
TEST(FoldedRequantizationTest, NumbersThatCannotBeFolded) {
  constexpr float kDenormal = 1e-40F;
  for (size_t channel = 0; channel < 3; ++channel) {
    const auto is_folded = [&](std::vector<float> FoldedNumbers::*member, float number, const char* posts) {
      FoldedNumbers by;
      (by.*member)[channel] = number;
      return Fold(posts, by).has_value();
    };
    for (const float factor : {0.0F, -0.0F, -1.0F, kNan, kInfinity, kDenormal})
      EXPECT_FALSE(is_folded(&FoldedNumbers::factors, factor, "M")) << channel << " " << factor;
    EXPECT_TRUE(is_folded(&FoldedNumbers::factors, 1e-30F, "M")) << channel;
    for (const float scale : {0.0F, kNan, kInfinity, kDenormal})
      EXPECT_FALSE(is_folded(&FoldedNumbers::scales, scale, "")) << channel << " " << scale;
    for (const float added : {kNan, kInfinity, -kInfinity})
      EXPECT_FALSE(is_folded(&FoldedNumbers::added, added, "A")) << channel << " " << added;
  }
  for (const char* posts : {"A", "a", "M", "m"}) EXPECT_FALSE(Fold(posts, {.has_constants = false})) << posts;
}

// Limits outside of the quantized values are none. Those of each channel must be equal otherwise.
TEST(FoldedRequantizationTest, LimitsOfQuantizedValues) {
  const auto limits_of = [](const char* posts, double min, double max) {
    const auto folded = Fold(posts, {.min = min, .max = max});
    EXPECT_TRUE(folded.has_value()) << posts << " " << min << " " << max;
    return folded ? folded->limits : std::nullopt;
  };
  EXPECT_EQ(limits_of("C", -10, 245), std::nullopt);
  EXPECT_EQ(limits_of("C", -9, 245), Limits({1, 255}));
  EXPECT_EQ(limits_of("C", -10, 244), Limits({0, 254}));
  EXPECT_EQ(limits_of("C", 7, 7), Limits({17, 17}));
  // The factors are 1, 1/2 and 2: the lowest limits of channels round to the quantized value 0.
  EXPECT_EQ(limits_of("CM", -19.5, 1000), std::nullopt);
  EXPECT_FALSE(Fold("CM", {.min = -19, .max = 1000}).has_value());
  EXPECT_EQ(limits_of("CM", -100, 490), std::nullopt);
  EXPECT_FALSE(Fold("CM", {.min = -100, .max = 489}).has_value());
  EXPECT_EQ(limits_of("CM", 0, 1000), Limits({10, 1010}));
}

// Without biases, none are stored.
TEST(FoldedRequantizationTest, BiasesOfZero) {
  EXPECT_TRUE(Fold("M", {.low = 0})->bias.empty());
  EXPECT_TRUE(Fold("AM", {.added = {0, 0, 0}, .low = 0})->bias.empty());
  EXPECT_EQ(Fold("A", {.added = {0, 0, 1}, .low = 0})->bias, (std::vector<float>{0, 0, 0.5F}));
  EXPECT_EQ(Fold("", {})->bias, (std::vector<float>{20, 40, 5}));
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8
