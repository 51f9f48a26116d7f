// Arguments that lenient mode converts to their declared form: the statements of the strict document, and the
// deviations.

#include <gtest/gtest.h>

#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::vendor {
namespace {

constexpr std::string_view kExternals = R"(
    x = external(shape = [2,3,4]);
    v = external(shape = [4,4]);
    u = external(shape = [4]);
    i = external<integer>(shape = [2,3,4]);
    c = external<logical>(shape = [2,3,4]);
)";

// Returns the statements of the strict document, then the messages.
std::string Strict(std::string_view statements) {
  Expansion expansion("version 1.0;\ngraph g( x, v, u, i, c ) -> ( y )\n{" + std::string(kExternals) +
                          std::string(statements) +
                          "\n"
                          "}\n",
                      {}, {}, semantics::Leniency::kLenient);
  return StatementsOf(expansion);
}

TEST(LenientTest, NumbersAndArraysForTensors) {
  ExpectRows({{"y = add(v, []);",
               "an array is not a tensor: items of equal lengths are expected [value.type]\n"
               "`y` of `add` is an array; expected a tensor [lenient.array-for-tensor]\n"},
              {"y = concat(1.0, axis = 0);",
               "`axis` of `concat` is 0; expected at least 0 and less than 0 [axis.range]\n"
               "`values` of `concat` is one item; expected an array of tensors [lenient.single-item]\n"},
              {"y = add_n(1.0);",
               "y = add_n([1.0]);\n"
               "`x` of `add_n` is one item; expected an array of tensors [lenient.single-item]\n"},
              {"y = add_n(1);",
               "y = add_n([1.0]);\n"
               "`x` of `add_n` is one item; expected an array of tensors [lenient.single-item]\n"
               "`x` of `add_n` is a whole number; expected `tensor<scalar>[]` [lenient.number-type]\n"},
              {"y = add_n([1.0]);", "y = add_n([1.0]);\n"},
              {"[y] = unstack(1.0, axis = 0);",
               "`axis` of `unstack` is 0; expected at least 0 and less than 0 [axis.range]\n"},
              {"y = concat(v, axis = 0);",
               "y = concat([v], axis = 0);\n"
               "`values` of `concat` is one tensor; expected an array of tensors [lenient.single-item]\n"}},
             Strict);
}

// The border value of integers is truncated toward zero.
TEST(LenientTest, BorderValuesOfIntegers) {
  const std::string cast = "y_cast = cast<scalar>(i);\n", back = "y = cast<integer>(y_pad);\n";
  const std::string type =
      "`input` of `pad` is a tensor of type integer; expected scalar [lenient.data-type]\n";
  const auto pad = [](std::string_view input, std::string_view value) {
    return fmt::format("pad({}, padding = [(1, 0), (0, 0), (0, 0)], value = {});\n", input, value);
  };
  for (const auto& [value, used] :
       {std::pair("1.75", "1.0"), std::pair("-1.75", "-1.0"), std::pair("2.0", "2.0")}) {
    EXPECT_EQ(Strict("y = " + pad("i", value)),
              fmt::format("{}y_pad = {}{}{}", cast, pad("y_cast", used), back, type));
    EXPECT_EQ(Strict("y = " + pad("x", value)), "y = " + pad("x", value));
  }
  EXPECT_EQ(Strict("y = " + pad("i", "2")),
            cast + "y_pad = " + pad("y_cast", "2.0") + back + type +
                "`value` of `pad` is a whole number; expected `scalar` [lenient.number-type]\n");
}

TEST(LenientTest, AxesFromTheEnd) {
  ExpectRows(
      {{"y = softmax(x, axes = [0,2]);", "y = softmax(x, axes = [0, 2]);\n"},
       {"y = softmax(x, axes = [-1]);",
        "y = softmax(x, axes = [2]);\n"
        "`axes` of `softmax` counts from the end [lenient.negative-axis]\n"},
       {"y = softmax(x, axes = [1,-3]);",
        "y = softmax(x, axes = [1, 0]);\n"
        "`axes` of `softmax` counts from the end [lenient.negative-axis]\n"},
       {"y = softmax(x, axes = [-4]);",
        "`axes[0]` of `softmax` is -4; expected at least 0 and less than 3 [axis.range]\n"},
       {"y = concat([x,x], axis = -3);",
        "y = concat([x, x], axis = 0);\n"
        "`axis` of `concat` counts from the end [lenient.negative-axis]\n"},
       {"y = concat([x,x], axis = -4);",
        "`axis` of `concat` is -4; expected at least 0 and less than 3 [axis.range]\n"},
       {"y = concat([], axis = -1);",
        "nothing determines the type that `?` of `concat` stands for [generic.undeduced]\n"},
       {"y = stack([v,v], axis = -3);",
        "y = stack([v, v], axis = 0);\n"
        "`axis` of `stack` counts from the end [lenient.negative-axis]\n"},
       {"y = stack([v,v], axis = -1);",
        "y = stack([v, v], axis = 2);\n"
        "`axis` of `stack` counts from the end [lenient.negative-axis]\n"},
       {"y = stack([v,v], axis = -4);",
        "`axis` of `stack` is -4; expected at least 0 and less than 3 [axis.range]\n"},
       {"y = unsqueeze(v, axes = [-4,-1]);",
        "y = unsqueeze(v, axes = [0, 3]);\n"
        "`axes` of `unsqueeze` counts from the end [lenient.negative-axis]\n"},
       {"y = unsqueeze(v, axes = [-5,-1]);",
        "`axes[0]` of `unsqueeze` is -5; expected at least 0 and less than 4 [axis.range]\n"
        "`axes` of `unsqueeze` counts from the end [lenient.negative-axis]\n"},
       {"y = unsqueeze(u, axes = [-1]);",
        "y = unsqueeze(u, axes = [1]);\n"
        "`axes` of `unsqueeze` counts from the end [lenient.negative-axis]\n"},
       {"y = unsqueeze(u, axes = [0]);", "y = unsqueeze(u, axes = [0]);\n"},
       {"r = constant(shape = [], value = [1.0]);\ny = unsqueeze(r, axes = [-1]);",
        "r = constant(shape = [], value = [1.0]);\n"
        "y = unsqueeze(r, axes = [0]);\n"
        "`axes` of `unsqueeze` counts from the end [lenient.negative-axis]\n"},
       {"r = constant(shape = [], value = [1.0]);\ny = unsqueeze(r, axes = [-1,-2]);",
        "r = constant(shape = [], value = [1.0]);\n"
        "y = unsqueeze(r, axes = [1, 0]);\n"
        "`axes` of `unsqueeze` counts from the end [lenient.negative-axis]\n"},
       {"r = constant(shape = [], value = [1.0]);\ny = unsqueeze(r, axes = [-2]);",
        "`axes[0]` of `unsqueeze` is -2; expected at least 0 and less than 1 [axis.range]\n"},
       {"r = constant(shape = [], value = [1.0]);\ny = softmax(r, axes = [-1]);",
        "`axes[0]` of `softmax` is -1; expected at least 0 and less than 0 [axis.range]\n"},
       {"y = squeeze(x, axes = [-4]);",
        "`axes[0]` of `squeeze` is -4; expected at least 0 and less than 3 [axis.range]\n"},
       {"[y, z] = split(x, axis = -1, ratios = [1,1]);",
        "[y, z] = split(x, axis = 2, ratios = [1, 1]);\n"
        "`axis` of `split` counts from the end [lenient.negative-axis]\n"},
       {"y = gather(x, [0,-4], axis = -1);",
        "y_constant = constant<integer>(shape = [2], value = [0, -4]);\n"
        "y_constant_2 = constant<integer>(shape = [2], value = [0, 0]);\n"
        "y = gather(x, y_constant_2, axis = 2);\n"
        "`indices` of `gather` is an array; expected a tensor [lenient.array-for-tensor]\n"
        "`axis` of `gather` counts from the end [lenient.negative-axis]\n"
        "`indices` of `gather` count from the end of axis 2 [lenient.negative-index]\n"},
       {"y = gather(x, [3,-5], axis = 2);",
        "`indices` of `gather` holds -5 (item 1); places along an axis are counted from 0 [gather.index]\n"
        "`indices` of `gather` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = gather(x, [-1,0,-3,-4], axis = 1);",
        "`indices` of `gather` holds -4 (item 3); places along an axis are counted from 0 [gather.index]\n"
        "`indices` of `gather` is an array; expected a tensor [lenient.array-for-tensor]\n"
        "`indices` of `gather` count from the end of axis 1 [lenient.negative-index]\n"},
       {"y = gather(x, -1, axis = 1);",
        "y_constant = constant<integer>(shape = [], value = [2]);\n"
        "y = gather(x, y_constant, axis = 1);\n"
        "`indices` of `gather` count from the end of axis 1 [lenient.negative-index]\n"},
       {"y = gather(x, [1,2], axis = 1);",
        "y_constant = constant<integer>(shape = [2], value = [1, 2]);\n"
        "y = gather(x, y_constant, axis = 1);\n"
        "`indices` of `gather` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = gather(x, [[-1],[0]], axis = 3);",
        "`axis` of `gather` is 3; expected at least 0 and less than 3 [axis.range]\n"
        "`indices` of `gather` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = gather(x, i, axis = -3);",
        "y = gather(x, i);\n"
        "`axis` of `gather` counts from the end [lenient.negative-axis]\n"},
       {"y = gather(x, u, axis = 0);",
        "y_cast = cast<integer>(u);\n"
        "y = gather(x, y_cast);\n"
        "`indices` of `gather` is a tensor of type scalar; expected integer [lenient.data-type]\n"}},
      Strict);
}

TEST(LenientTest, Ranks) {
  ExpectRows(
      {{"y = matmul(v, v);", "y = matmul(v, v);\n"},
       {"y = matmul(x, v);",
        "y_unsqueeze = unsqueeze(v, axes = [0]);\n"
        "y = matmul(x, y_unsqueeze);\n"
        "`B` of `matmul` has rank 2, the other one rank 3 [lenient.matrix-rank]\n"},
       {"y = matmul(v, x, transposeB = true);",
        "y_unsqueeze = unsqueeze(v, axes = [0]);\n"
        "y = matmul(y_unsqueeze, x, transposeB = true);\n"
        "`A` of `matmul` has rank 2, the other one rank 3 [lenient.matrix-rank]\n"},
       {"y = matmul(u, v);",
        "`A` of `matmul` has rank 1 and `B` of `matmul` has rank 2; expected equal ranks of at least 2 "
        "[matmul.rank]\n"},
       {"y = matmul(v, u);",
        "`A` of `matmul` has rank 2 and `B` of `matmul` has rank 1; expected equal ranks of at least 2 "
        "[matmul.rank]\n"},
       {"y = linear(v, v, u);",
        "y_unsqueeze = unsqueeze(u, axes = [0]);\n"
        "y = linear(v, v, y_unsqueeze);\n"
        "`bias` of `linear` has one axis; expected the batch before the channels [lenient.vector-operand]\n"},
       {"y = linear(x, v, u);",
        "y_unsqueeze = unsqueeze(v, axes = [0]);\n"
        "y_unsqueeze_2 = unsqueeze(u, axes = [0, 1]);\n"
        "y = linear(x, y_unsqueeze, y_unsqueeze_2);\n"
        "`filter` of `linear` has rank 2, the other one rank 3 [lenient.matrix-rank]\n"
        "`bias` of `linear` has one axis; expected the batch before the channels [lenient.vector-operand]\n"},
       {"y = linear(x, v);",
        "y_unsqueeze = unsqueeze(v, axes = [0]);\n"
        "y = linear(x, y_unsqueeze);\n"
        "`filter` of `linear` has rank 2, the other one rank 3 [lenient.matrix-rank]\n"},
       {"y = linear(v, v, unsqueeze(u, axes = [0]));",
        "y_unsqueeze = unsqueeze(u, axes = [0]);\n"
        "y = linear(v, v, y_unsqueeze);\n"
        "an operator expression stands without `extension KHR_enable_operator_expressions;` "
        "[lenient.operator-expressions]\n"},
       {"y = batch_normalization(x, u, u, 0.0, u, epsilon = 0.1);",
        "`mean` of `batch_normalization` has shape [1,4], which does not broadcast with [2,3,4]: the extents "
        "differ along axis 1 [binary.broadcast]\n"
        "`mean` of `batch_normalization` has one axis; expected the batch before the channels (the first of "
        "3 places) [lenient.vector-operand]\n"},
       {"y = batch_normalization(v, unsqueeze(u, axes = [0]), u, 0.0, 1.0, epsilon = 0.1);",
        "y_unsqueeze = unsqueeze(u, axes = [0]);\n"
        "y_unsqueeze_2 = unsqueeze(u, axes = [0]);\n"
        "y = batch_normalization(v, y_unsqueeze, y_unsqueeze_2, 0.0, 1.0, epsilon = 0.1);\n"
        "an operator expression stands without `extension KHR_enable_operator_expressions;` "
        "[lenient.operator-expressions]\n"
        "`variance` of `batch_normalization` has one axis; expected the batch before the channels "
        "[lenient.vector-operand]\n"},
       {"y = tile(u, repeats = [2]);", "y = tile(u, repeats = [2]);\n"},
       {"y = tile(u, repeats = [2,3]);",
        "y_unsqueeze = unsqueeze(u, axes = [0]);\n"
        "y = tile(y_unsqueeze, repeats = [2, 3]);\n"
        "`repeats` of `tile` has 2 items for a tensor of rank 1 [lenient.matrix-rank]\n"},
       {"y = tile(u, repeats = [2,3,1]);",
        "y_unsqueeze = unsqueeze(u, axes = [0, 1]);\n"
        "y = tile(y_unsqueeze, repeats = [2, 3, 1]);\n"
        "`repeats` of `tile` has 3 items for a tensor of rank 1 [lenient.matrix-rank]\n"},
       {"y = tile(2.0, repeats = [2]);",
        "`repeats` of `tile` has 1 item; expected 0, the rank of `input` [tile.repeats]\n"
        "`repeats` of `tile` has 1 item for a tensor of rank 0 [lenient.matrix-rank]\n"},
       {"y = tile(2.0, repeats = []);", "y = tile(2.0, repeats = []);\n"},
       {"y = tile(x, repeats = [2,3]);",
        "`repeats` of `tile` has 2 items; expected 3, the rank of `input` [tile.repeats]\n"}},
      Strict);
}

TEST(LenientTest, ElementTypes) {
  ExpectRows(
      {{"y = add(x, 1);",
        "y = add(x, 1.0);\n"
        "`y` of `add` is a whole number; expected `tensor<scalar>` [lenient.number-type]\n"},
       {"y = add(1, x);",
        "y = add(1.0, x);\n"
        "`x` of `add` is a whole number; expected `tensor<scalar>` [lenient.number-type]\n"},
       {"y = add(x, i);",
        "y_cast = cast<scalar>(i);\n"
        "y = add(x, y_cast);\n"
        "`y` of `add` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
       {"y = add(x, c);",
        "y_cast = cast<scalar>(c);\n"
        "y = add(x, y_cast);\n"
        "`y` of `add` is a tensor of type logical; expected scalar [lenient.data-type]\n"},
       {"y = add(i, c);",
        "y_cast = cast<scalar>(i);\n"
        "y_cast_2 = cast<scalar>(c);\n"
        "y = add(y_cast, y_cast_2);\n"
        "`x` of `add` is a tensor of type integer; expected scalar (the first of 2 places) "
        "[lenient.data-type]\n"},
       {"y = add(i, i);",
        "y_cast = cast<scalar>(i);\n"
        "y_cast_2 = cast<scalar>(i);\n"
        "y_add = add(y_cast, y_cast_2);\n"
        "y = cast<integer>(y_add);\n"
        "`x` of `add` is a tensor of type integer; expected scalar (the first of 2 places) "
        "[lenient.data-type]\n"},
       {"y = add(x, true);", "`y` of `add` is of type logical; expected scalar [node.input-type]\n"},
       {"y = and(c, i);",
        "y_cast = cast<logical>(i);\n"
        "y = and(c, y_cast);\n"
        "`y` of `and` is a tensor of type integer; expected logical [lenient.data-type]\n"},
       {"y = and(c, x);",
        "y_cast = cast<logical>(x);\n"
        "y = and(c, y_cast);\n"
        "`y` of `and` is a tensor of type scalar; expected logical [lenient.data-type]\n"},
       {"y = select(c, i, i);", "y = select(c, i, i);\n"},
       {"y = select(c, -1, -2);", "y = select(c, -1, -2);\n"},
       {"y = select(c, 1, 2);", "y = select(c, 1, 2);\n"},
       {"y = select(c, i, 2);", "y = select(c, i, 2);\n"},
       {"y = select(i, x, x);",
        "y_cast = cast<logical>(i);\n"
        "y = select(y_cast, x, x);\n"
        "`condition` of `select` is a tensor of type integer; expected logical [lenient.data-type]\n"},
       {"y = concat([i, i], axis = 0);", "y = concat([i, i], axis = 0);\n"},
       {"y = concat<scalar>([i, i], axis = 0);",
        "y_cast = cast<scalar>(i);\n"
        "y_cast_2 = cast<scalar>(i);\n"
        "y = concat([y_cast, y_cast_2], axis = 0);\n"
        "`values` of `concat` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
       {"y = concat(x, axis = 0);",
        "y = concat([x], axis = 0);\n"
        "`values` of `concat` is one tensor; expected an array of tensors [lenient.single-item]\n"},
       {"y = concat(i, axis = 0);",
        "y = concat([i], axis = 0);\n"
        "`values` of `concat` is one tensor; expected an array of tensors [lenient.single-item]\n"},
       {"y = concat([u, [1.0,2.0]], axis = 0);",
        "y_constant = constant(shape = [2], value = [1.0, 2.0]);\n"
        "y = concat([u, y_constant], axis = 0);\n"
        "`values` of `concat` has an array as item; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = concat([u, [1,2]], axis = 0);",
        "y_constant = constant(shape = [2], value = [1.0, 2.0]);\n"
        "y = concat([u, y_constant], axis = 0);\n"
        "`values` of `concat` has an array as item; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = concat([u, [1,[2]]], axis = 0);",
        "an array is not a tensor: items of equal lengths are expected [value.type]\n"
        "`values` of `concat` has an array as item; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = add_n(x);",
        "y = add_n([x]);\n"
        "`x` of `add_n` is one tensor; expected an array of tensors [lenient.single-item]\n"},
       {"y = add_n([x, i]);",
        "y_cast = cast<scalar>(i);\n"
        "y = add_n([x, y_cast]);\n"
        "`x` of `add_n` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
       {"y = copy<scalar>(i);",
        "y_cast = cast<scalar>(i);\n"
        "y = copy(y_cast);\n"
        "`x` of `copy` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
       {"y = add(u, [1,2,3,4]);",
        "y_constant = constant(shape = [4], value = [1.0, 2.0, 3.0, 4.0]);\n"
        "y = add(u, y_constant);\n"
        "`y` of `add` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = add(u, [1.5,2,3,4]);",
        "y_constant = constant(shape = [4], value = [1.5, 2.0, 3.0, 4.0]);\n"
        "y = add(u, y_constant);\n"
        "`y` of `add` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = add(v, [[1.0],[2.0],[3.0],[4.0]]);",
        "y_constant = constant(shape = [4, 1], value = [1.0, 2.0, 3.0, 4.0]);\n"
        "y = add(v, y_constant);\n"
        "`y` of `add` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = add(u, [true,false,true,false]);",
        "`value` of `constant` is built of a logical; expected `?[]` [value.type]\n"
        "`y` of `add` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = add(u, [1.0,[2.0]]);",
        "an array is not a tensor: items of equal lengths are expected [value.type]\n"
        "`y` of `add` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = add(u, ['a']);",
        "an array is not a tensor: items of equal lengths are expected [value.type]\n"
        "`y` of `add` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = add(u, [1.0,'a']);",
        "the item is of type `string`, those before it in the array of type `scalar` [type.array-items]\n"},
       {"y = select([true], x, x);",
        "y_constant = constant<logical>(shape = [1], value = [true]);\n"
        "y = select(y_constant, x, x);\n"
        "`condition` of `select` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = cast<scalar>(x);", "y = copy(x);\n"},
       {"y = cast<integer>(x);", "y = cast<integer>(x);\n"}},
      Strict);
}

TEST(LenientTest, NonFiniteNumbers) {
  ExpectRows({{"y = max(x, -inf);",
               "y = max(x, -1e+39);\nan operator expression stands without `extension "
               "KHR_enable_operator_expressions;` [lenient.operator-expressions]\n`inf` stands for a number, "
               "which no literal is [lenient.non-finite]\n"},
              {"y = max(x, inf);",
               "y = max(x, 1e+39);\n"
               "`inf` stands for a number, which no literal is [lenient.non-finite]\n"},
              {"y = max(x, nan);",
               "y = max(x, nan);\n"
               "`nan` stands for a number, which no literal is [lenient.non-finite]\n"},
              {"y = leaky_relu(x, alpha = nan);",
               "y = leaky_relu(x, alpha = nan);\n`nan` stands for a number, which no literal is "
               "[lenient.non-finite]\n"},
              {"y = leaky_relu(x, alpha = inf);",
               "y = leaky_relu(x, alpha = 1e+39);\n`inf` stands for a number, which no literal is "
               "[lenient.non-finite]\n"},
              {"y = constant(shape = [2], value = [nan, 1.0]);",
               "y = constant(shape = [2], value = [nan, 1.0]);\n`nan` stands for a number, which no literal "
               "is [lenient.non-finite]\n"},
              {"y = constant(shape = [2], value = [1.0, inf]);",
               "y = constant(shape = [2], value = [1.0, 1e+39]);\n`inf` stands for a number, which no "
               "literal is [lenient.non-finite]\n"}},
             Strict);
}

// An operator on a tensor and an array is that of tensors, whichever operand is the array.
TEST(LenientTest, OperatorsOnArrays) {
  const std::string no_extension =
      "an operator expression stands without `extension KHR_enable_operator_expressions;` "
      "[lenient.operator-expressions]\n";
  for (const auto& [sign, name] : {std::pair("+", "add"), std::pair("-", "sub"), std::pair("*", "mul"),
                                   std::pair("/", "div"), std::pair("<", "lt"), std::pair("==", "eq")}) {
    EXPECT_EQ(Strict(fmt::format("y = u {} [1.0,2,3,4];", sign)),
              fmt::format("y_constant = constant(shape = [4], value = [1.0, 2.0, 3.0, 4.0]);\n"
                          "y = {0}(u, y_constant);\n{1}"
                          "`y` of `{0}` is an array; expected a tensor [lenient.array-for-tensor]\n",
                          name, no_extension));
    EXPECT_EQ(Strict(fmt::format("y = [1.0,2,3,4] {} u;", sign)),
              fmt::format("y_constant = constant(shape = [4], value = [1.0, 2.0, 3.0, 4.0]);\n"
                          "y = {0}(y_constant, u);\n{1}"
                          "`x` of `{0}` is an array; expected a tensor [lenient.array-for-tensor]\n",
                          name, no_extension));
  }
}

// Operands of several types are scalars if one of them is; otherwise they have the first type.
TEST(LenientTest, CommonTypes) {
  ExpectRows(
      {{"y = select(c, x, i);",
        "y_cast = cast<scalar>(i);\n"
        "y = select(c, x, y_cast);\n"
        "`false_value` of `select` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
       {"y = select(c, i, x);",
        "y_cast = cast<scalar>(i);\n"
        "y = select(c, y_cast, x);\n"
        "`true_value` of `select` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
       {"y = select(c, 1, 2.0);",
        "y = select(c, 1.0, 2.0);\n"
        "`true_value` of `select` is a whole number; expected `tensor<?>` [lenient.number-type]\n"},
       {"y = select(c, c, i);",
        "y_cast = cast<logical>(i);\n"
        "y = select(c, c, y_cast);\n"
        "`false_value` of `select` is a tensor of type integer; expected logical [lenient.data-type]\n"},
       {"y = select<integer>(c, x, i);",
        "y_cast = cast<integer>(x);\n"
        "y = select(c, y_cast, i);\n"
        "`true_value` of `select` is a tensor of type scalar; expected integer [lenient.data-type]\n"},
       {"y = concat([x, i], axis = 0);",
        "y_cast = cast<scalar>(i);\n"
        "y = concat([x, y_cast], axis = 0);\n"
        "`values` of `concat` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
       {"y = concat([i, x], axis = 0);",
        "y_cast = cast<scalar>(i);\n"
        "y = concat([y_cast, x], axis = 0);\n"
        "`values` of `concat` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
       {"y = constant(shape = [2], value = 1);",
        "y = constant<integer>(shape = [2], value = [1]);\n"
        "`value` of `constant` is one item; expected `?[]` [lenient.single-item]\n"}},
      Strict);
}

TEST(LenientTest, Attributes) {
  ExpectRows(
      {{"k = constant<integer>(shape = [2], value = [1,2]);\ny = sum_reduce(x, axes = k);",
        "k = constant<integer>(shape = [2], value = [1, 2]);\n"
        "y = sum_reduce(x, axes = [1, 2]);\n"
        "`axes` of `sum_reduce` is a tensor; expected `integer[]` [lenient.tensor-for-attribute]\n"},
       {"k = constant<integer>(shape = [1], value = [1]);\ny = sum_reduce(x, axes = [k]);",
        "k = constant<integer>(shape = [1], value = [1]);\n"
        "y = sum_reduce(x, axes = [1]);\n"
        "an item of `axes` of `sum_reduce` is a tensor; expected `integer[]` "
        "[lenient.tensor-for-attribute]\n"},
       {"k = constant<integer>(shape = [2], value = [1,2]);\ny = sum_reduce(x, axes = [k]);",
        "k = constant<integer>(shape = [2], value = [1, 2]);\n"
        "y = sum_reduce(x, axes = [1, 2]);\n"
        "an item of `axes` of `sum_reduce` is a tensor; expected `integer[]` "
        "[lenient.tensor-for-attribute]\n"},
       {"k = constant<integer>(shape = [], value = [1]);\ny = sum_reduce(x, axes = [k]);",
        "k = constant<integer>(shape = [], value = [1]);\n"
        "y = sum_reduce(x, axes = [1]);\n"
        "`axes` of `sum_reduce` is a tensor; expected `integer[]` [lenient.tensor-for-attribute]\n"},
       {"k = constant<integer>(shape = [], value = [1]);\ny = sum_reduce(x, axes = [0,k]);",
        "k = constant<integer>(shape = [], value = [1]);\n"
        "y = sum_reduce(x, axes = [0, 1]);\n"
        "`axes` of `sum_reduce` is a tensor; expected `integer[]` [lenient.tensor-for-attribute]\n"},
       {"k = constant(shape = [2], value = [1.5,2.0]);\ny = sum_reduce(x, axes = k);",
        "`axes` of `sum_reduce` is built of a scalar; expected `integer[]` [value.type]\n"
        "`axes` of `sum_reduce` is a tensor; expected `integer[]` [lenient.tensor-for-attribute]\n"},
       {"k = constant<integer>(shape = [], value = [1]);\ny = sum_reduce(x, axes = k);",
        "k = constant<integer>(shape = [], value = [1]);\n"
        "y = sum_reduce(x, axes = [1]);\n"
        "`axes` of `sum_reduce` is a tensor; expected `integer[]` [lenient.tensor-for-attribute]\n"
        "`axes` of `sum_reduce` is one item; expected `integer[]` [lenient.single-item]\n"},
       {"y = sum_reduce(x, axes = 1);",
        "y = sum_reduce(x, axes = [1]);\n"
        "`axes` of `sum_reduce` is one item; expected `integer[]` [lenient.single-item]\n"},
       {"y = sum_reduce(x, axes = i);",
        "`axes` of `sum_reduce` is a tensor; expected `integer[]` [value.type]\n"},
       {"y = sum_reduce(x, axes = [i]);",
        "`axes` of `sum_reduce` is built of a tensor; expected `integer[]` [value.type]\n"},
       {"y = sum_reduce(x, axes = [[1],[2]]);",
        "y = sum_reduce(x, axes = [1, 2]);\n"
        "`axes` of `sum_reduce` is a nested array; expected `integer[]` [lenient.nested-array]\n"},
       {"y = sum_reduce(x, axes = [[[1],[2]]]);",
        "y = sum_reduce(x, axes = [1, 2]);\n"
        "`axes` of `sum_reduce` is a nested array; expected `integer[]` [lenient.nested-array]\n"},
       {"y = sum_reduce(x, axes = [[1],[0,2]]);",
        "`axes` of `sum_reduce` is built of an array; expected `integer[]` [value.type]\n"},
       {"y = sum_reduce(x, axes = [1,[2]]);",
        "`axes` of `sum_reduce` is built of an array; expected `integer[]` [value.type]\n"},
       {"y = sum_reduce(x, axes = []);", "y = sum_reduce(x, axes = []);\n"},
       {"y = sum_reduce(x, axes = [[],[]]);",
        "y = sum_reduce(x, axes = []);\n"
        "`axes` of `sum_reduce` is a nested array; expected `integer[]` [lenient.nested-array]\n"},
       {"y = sum_reduce(x, axes = [true]);",
        "y = sum_reduce(x, axes = [1]);\n"
        "`axes` of `sum_reduce` is a logical; expected `integer[]` [lenient.number-type]\n"},
       {"y = sum_reduce(x, axes = [false,true]);",
        "y = sum_reduce(x, axes = [0, 1]);\n"
        "`axes` of `sum_reduce` is a logical; expected `integer[]` [lenient.number-type]\n"},
       {"y = sum_reduce(x, axes = true);",
        "y = sum_reduce(x, axes = [1]);\n"
        "`axes` of `sum_reduce` is one item; expected `integer[]` [lenient.single-item]\n"
        "`axes` of `sum_reduce` is a logical; expected `integer[]` [lenient.number-type]\n"},
       {"y = concat([x], axis = true);",
        "y = concat([x], axis = 1);\n"
        "`axis` of `concat` is a logical; expected `integer` [lenient.number-type]\n"},
       {"y = concat([x], axis = false);",
        "y = concat([x], axis = 0);\n"
        "`axis` of `concat` is a logical; expected `integer` [lenient.number-type]\n"},
       {"k = constant(shape = [1,1], value = [1.0]);\ny = concat([x], axis = k);",
        "k = constant(shape = [1, 1], value = [1.0]);\n"
        "y = concat([x], axis = 1);\n"
        "`axis` of `concat` is a tensor; expected `integer` [lenient.tensor-for-attribute]\n"},
       {"k = constant(shape = [2], value = [1.0,1.0]);\ny = concat([x], axis = k);",
        "`axis` of `concat` is an array; expected `integer` [value.type]\n"
        "`axis` of `concat` is a tensor; expected `integer` [lenient.tensor-for-attribute]\n"},
       {"k = constant(shape = [], value = [0.5]);\ny = concat([x], axis = k);",
        "`axis` of `concat` is a scalar; expected `integer` [value.type]\n"
        "`axis` of `concat` is a tensor; expected `integer` [lenient.tensor-for-attribute]\n"},
       {"k = constant<logical>(shape = [], value = [true]);\ny = matmul(v, v, transposeA = k);",
        "k = constant<logical>(shape = [], value = [true]);\n"
        "y = matmul(v, v, transposeA = true);\n"
        "`transposeA` of `matmul` is a tensor; expected `logical` [lenient.tensor-for-attribute]\n"},
       {"k = constant<logical>(shape = [], value = [true]);\ny = concat([x], axis = k);",
        "`axis` of `concat` is a logical; expected `integer` [value.type]\n"
        "`axis` of `concat` is a tensor; expected `integer` [lenient.tensor-for-attribute]\n"},
       {"k = constant<integer>(shape = [], value = [2]);\ny = leaky_relu(x, alpha = k);",
        "k = constant<integer>(shape = [], value = [2]);\n"
        "y = leaky_relu(x, alpha = 2.0);\n"
        "`alpha` of `leaky_relu` is a tensor; expected `scalar` [lenient.tensor-for-attribute]\n"},
       {"k = constant<integer>(shape = [1], value = [2]);\ny = leaky_relu(x, alpha = k);",
        "k = constant<integer>(shape = [1], value = [2]);\n"
        "y = leaky_relu(x, alpha = 2.0);\n"
        "`alpha` of `leaky_relu` is a tensor; expected `scalar` [lenient.tensor-for-attribute]\n"},
       {"y = leaky_relu(x, alpha = 2);",
        "y = leaky_relu(x, alpha = 2.0);\n"
        "`alpha` of `leaky_relu` is a whole number; expected `scalar` [lenient.number-type]\n"},
       {"y = leaky_relu(x, alpha = x);",
        "`alpha` of `leaky_relu` is a tensor; expected `scalar` [value.type]\n"},
       {"y = leaky_relu(x, alpha = [2.0]);",
        "argument `alpha` of `leaky_relu` is of type `scalar[]`; expected `scalar` [type.mismatch]\n"},
       {"y = constant(shape = [2], value = [1,2]);", "y = constant<integer>(shape = [2], value = [1, 2]);\n"},
       {"y = constant(shape = [2], value = [1.0,2]);",
        "y = constant(shape = [2], value = [1.0, 2.0]);\n"
        "`value` of `constant` is a whole number; expected `?[]` [lenient.number-type]\n"},
       {"y = constant<integer>(shape = [2], value = [true,false]);",
        "y = constant<integer>(shape = [2], value = [1, 0]);\n"
        "`value` of `constant` is a logical; expected `?[]` [lenient.number-type]\n"},
       {"y = constant<integer>(shape = [2], value = [1,2]);",
        "y = constant<integer>(shape = [2], value = [1, 2]);\n"},
       {"y = constant<logical>(shape = [2], value = [1,0]);",
        "`value` of `constant` is built of a whole number; expected `?[]` [value.type]\n"},
       {"y = constant(shape = 2, value = [1.0,2.0]);",
        "y = constant(shape = [2], value = [1.0, 2.0]);\n"
        "`shape` of `constant` is one item; expected `integer[]` [lenient.single-item]\n"},
       {"y = pad(x, padding = [[0,1],(1,0),[0,0]]);",
        "y = pad(x, padding = [(0, 1), (1, 0), (0, 0)]);\n"
        "`padding` of `pad` has `[..]` where `(..)` is expected [lenient.array-for-tuple]\n"},
       {"y = pad(x, padding = [(0,1),(1,0),(0,0)]);", "y = pad(x, padding = [(0, 1), (1, 0), (0, 0)]);\n"},
       {"y = pad(x, padding = [[0,1,2],[0,0,0],[0,0,0]]);",
        "`padding` of `pad` is built of an array; expected `(integer,integer)[]` [value.type]\n"},
       {"y = pad(x, padding = [(true,0),(1,0),(0,0)]);",
        "y = pad(x, padding = [(1, 0), (1, 0), (0, 0)]);\n"
        "`padding` of `pad` is a logical; expected `(integer,integer)[]` [lenient.number-type]\n"},
       {"y = pad(v, padding = (1,2));",
        "`padding` of `pad` is a tuple; expected `(integer,integer)[]` [value.type]\n"}},
      Strict);
}

// Exporters store extents in tensors of floats; parameters that are integers become such extents.
TEST(LenientTest, ParametersOfFragments) {
  const auto translate = [](std::string_view statement) {
    Expansion expansion(
        "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
        "fragment sized( x: tensor<scalar>, shape: integer[] ) -> ( y: tensor<scalar> ) { y = reshape(x, "
        "shape = shape); }\n"
        "fragment along( x: tensor<scalar>, axis: integer ) -> ( y: tensor<scalar> ) { y = sum_reduce(x, "
        "axes = [axis]); }\n"
        "fragment mixed( x: tensor<scalar>, a: integer, b: scalar ) -> ( y: tensor<scalar> ) { y = x * (a * "
        "b) + (b - a); }\n"
        "graph g( x ) -> ( y )\n{\n    x = external(shape = [4,6]);\n    k = constant(shape = [2], value = "
        "[8.0, 3.0]);\n"
        "    n = constant<integer>(shape = [2], value = [3, 8]);\n    h = constant(shape = [2], value = "
        "[8.0, 1.5]);\n"
        "    a = constant(shape = [1], value = [1.0]);\n    " +
            std::string(statement) + "\n}\n",
        {}, {}, semantics::Leniency::kLenient);
    const std::string text = StatementsOf(expansion);
    return expansion.graph == nullptr ? text : text.substr(text.find("\na = ") + 1);
  };
  const std::string a = "a = constant(shape = [1], value = [1.0]);\n";
  EXPECT_EQ(translate("y = sized(x, shape = k);"), a + "y = reshape(x, shape = [8, 3]);\n");
  EXPECT_EQ(translate("y = sized(x, shape = n);"), a + "y = reshape(x, shape = [3, 8]);\n");
  EXPECT_EQ(translate("y = sized(x, shape = [8, 3]);"), a + "y = reshape(x, shape = [8, 3]);\n");
  EXPECT_EQ(translate("y = sized(x, shape = h);"),
            "`shape` of `reshape` is built of a scalar; expected `integer[]` [value.type]\n");
  EXPECT_EQ(translate("y = along(x, axis = a);"), a + "y = sum_reduce(x, axes = [1]);\n");
  EXPECT_EQ(translate("y = mixed(x, a = 3, b = 0.5);"), a + "y_mul = mul(x, 1.5);\ny = add(y_mul, -2.5);\n");
}

// NaN has no form in the standard: the document enables an extension that has.
TEST(LenientTest, ExtensionOfNaN) {
  const auto flat = [](std::string_view statement) {
    Expansion expansion("version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    " +
                            std::string(statement) + "\n}\n",
                        {}, {}, semantics::Leniency::kLenient);
    return expansion.Flat().find("extension " + std::string(semantics::LenientExtension().name)) !=
           std::string::npos;
  };
  EXPECT_TRUE(flat("y = leaky_relu(x, alpha = nan);"));
  EXPECT_TRUE(flat("y = constant(shape = [2], value = [1.0, nan]);"));
  EXPECT_TRUE(flat("y = max(x, nan);"));
  EXPECT_FALSE(flat("y = leaky_relu(x, alpha = inf);"));
  EXPECT_FALSE(flat("y = leaky_relu(x, alpha = 0.5);"));
}

}  // namespace
}  // namespace nnefc::expand::vendor
