// Operations of tract's dialect in their ratified form.

#include <gtest/gtest.h>

#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::vendor {
namespace {

TEST(TractTest, FiltersHaveTheOutputChannelsFirst) {
  ExpectRows(
      {{"w = variable(shape = [3,4,2,2], label = 'w');\ny = deconv(x, w);",
        "y_transpose = transpose(w, axes = [1, 0]);\n"
        "y = deconv(x, y_transpose);\n"},
       {"w = variable(shape = [3,4,2,2], label = 'w');\ny = deconv(x, w, groups = 1);",
        "y_transpose = transpose(w, axes = [1, 0]);\n"
        "y = deconv(x, y_transpose);\n"},
       {"w = variable(shape = [6,2,2,2], label = 'w');\ny = deconv(x, w, groups = 2);",
        "y_reshape = reshape(w, shape = [2, 3, 2, 2, 2]);\n"
        "y_transpose = transpose(y_reshape, axes = [0, 2, 1]);\n"
        "y_reshape_2 = reshape(y_transpose, shape = [4, 3, 2, 2]);\n"
        "y = deconv(x, y_reshape_2, groups = 2);\n"},
       {"w = variable(shape = [4,1,2,2], label = 'w');\ny = deconv(x, w, groups = 4);",
        "y_reshape = reshape(w, shape = [4, 1, 1, 2, 2]);\n"
        "y_transpose = transpose(y_reshape, axes = [0, 2, 1]);\n"
        "y_reshape_2 = reshape(y_transpose, shape = [4, 1, 2, 2]);\n"
        "y = deconv(x, y_reshape_2, groups = 4);\n"},
       {"w = variable(shape = [5,2,2,2], label = 'w');\ny = deconv(x, w, groups = 2);",
        "`filter` of `deconv` has batch extent 5; expected 4, the channels of its input [conv.channels]\n"},
       {"w = variable(shape = [3,4,2,2], label = 'w');\ny = conv(x, w);", "y = conv(x, w);\n"},
       {"w = variable(shape = [4,4], label = 'w');\ny = debox(x, size = [1,1,2,2]);",
        "y = debox(x, size = [1, 1, 2, 2]);\n"}},
      FromTract);
}

// A bias has the channels along its last axis.
TEST(TractTest, BiasesOfAllAxes) {
  const std::string filter = "w = variable(shape = [3,4,2,2], label = 'w');\nc = variable(shape = ";
  ExpectRows(
      {{filter + "[1,1,3], label = 'c');\ny = conv(x, w, c);",
        "y_reshape = reshape(c, shape = [1, 3]);\n"
        "y = conv(x, w, y_reshape);\n"
        "`bias` of `conv` has the channels along axis 2; expected axis 1 [lenient.vector-operand]\n"},
       {filter + "[1,1,3], label = 'c');\ny = deconv(x, w, c);",
        "y_reshape = reshape(c, shape = [1, 3]);\n"
        "y_transpose = transpose(w, axes = [1, 0]);\n"
        "y = deconv(x, y_transpose, y_reshape);\n"
        "`bias` of `deconv` has the channels along axis 2; expected axis 1 [lenient.vector-operand]\n"},
       {filter + "[1,3], label = 'c');\ny = conv(x, w, c);", "y = conv(x, w, c);\n"}},
      FromTract);
}

// Extents and axes that only a run knows, and an input without spatial axes.
TEST(TractTest, UnknownAttributes) {
  const std::string filter = "w = variable(shape = [3,4,2,2], label = 'w');\n";
  const std::string open =
      "` depends on an extent that an external leaves open; give it with `--input-shape` "
      "[shape-of.unspecified-extent]\n";
  ExpectRows({{filter + "y = deconv(x, w, output_shape = [n, 6]);", "`output_shape` of `deconv" + open},
              {"w = variable(shape = [3,4], label = 'w');\ny = deconv(reshape(x, shape = [30,4]), w);",
               "y_reshape = reshape(x, shape = [30, 4]);\n"
               "y_transpose = transpose(w, axes = [1, 0]);\n"
               "y = deconv(y_reshape, y_transpose);\n"},
              {"y = squeeze(x, axes = [n]);", "`axes` of `squeeze" + open},
              {"y = unsqueeze(x, axes = [n, n]);", "`axes` of `unsqueeze" + open},
              {"w = variable(shape = [2,3,2], label = 'w');\ny = deconv(unsqueeze(o, axes = [2]), w, "
               "output_shape = [4]);",
               "`output_shape` of `deconv` has 1 item; expected 3 or none [window.output-shape]\n"}},
             FromTract);
}

// tract joins the items of shapes; rows of unequal lengths alone are not a shape.
TEST(TractTest, NestedShapes) {
  const std::string nested =
      "`shape` of `reshape` is a nested array; expected `integer[]` [lenient.nested-array]\n";
  ExpectRows({{"y = reshape(x, shape = [2,[3,20]]);", "y = reshape(x, shape = [2, 3, 20]);\n" + nested},
              {"y = reshape(x, shape = [[2,3],[4,5]]);", "y = reshape(x, shape = [2, 3, 4, 5]);\n" + nested},
              {"y = reshape(x, shape = [[2],[3,20]]);",
               "`shape` of `reshape` is built of an array; expected `integer[]` [value.type]\n"}},
             FromTract);
}

// tract's writer stores empty constants as variables.
TEST(TractTest, VariablesWithoutElements) {
  ExpectRows({{"y = variable<integer>(shape = [0,2], label = 'w');",
               "y_tract_core_range = tract_core_range(0, 0);\n"
               "y_constant = constant<integer>(shape = [2], value = [0, 2]);\n"
               "y = tract_core_reshape_by(y_tract_core_range, y_constant);\n"},
              {"y = variable<scalar>(shape = [2,0], label = 'w');",
               "y_tract_core_range = tract_core_range(0, 0);\n"
               "y_constant = constant<integer>(shape = [2], value = [2, 0]);\n"
               "y_cast = cast<scalar>(y_tract_core_range);\n"
               "y = tract_core_reshape_by(y_cast, y_constant);\n"},
              // Without a type, the elements are scalars.
              {"y = variable(shape = [0], label = 'w');",
               "y_tract_core_range = tract_core_range(0, 0);\n"
               "y_constant = constant<integer>(shape = [1], value = [0]);\n"
               "y_cast = cast<scalar>(y_tract_core_range);\n"
               "y = tract_core_reshape_by(y_cast, y_constant);\n"},
              {"y = variable<logical>(shape = [0], label = 'w');",
               "y_tract_core_range = tract_core_range(0, 0);\n"
               "y_constant = constant<integer>(shape = [1], value = [0]);\n"
               "y_cast = cast<logical>(y_tract_core_range);\n"
               "y = tract_core_reshape_by(y_cast, y_constant);\n"},
              {"y = variable(shape = [2,3], label = 'w');", ""},
              {"y = variable<integer>(shape = [-1,0], label = 'w');",
               "`shape[0]` of `variable` is -1; expected a positive extent [variable.shape]\n"},
              {"y = variable<integer>(shape = [n,0], label = 'w');",
               "`shape` of `variable` depends on an extent that an external leaves open; give it with "
               "`--input-shape` [shape-of.unspecified-extent]\n"}},
             FromTract);
}

// Constants without axes, and up to 64 integers, become numbers; larger ones stay tensors.
TEST(TractTest, ConstantsThatBecomeNumbers) {
  const auto becomes_numbers = [](int64_t count) {
    const std::string text =
        FromTract(fmt::format("k = constant<integer>(shape = [{}], value = [2]); y = mul(k, [3]);", count));
    return text.find("y = constant<integer>(") != std::string::npos;
  };
  EXPECT_TRUE(becomes_numbers(2));
  EXPECT_TRUE(becomes_numbers(64));
  EXPECT_FALSE(becomes_numbers(65));
  ExpectRows(
      {{"c = constant(shape = [], value = [2.0]); y = mul(c, 3.0);",
        "c = constant(shape = [], value = [2.0]);\ny = constant(shape = [], value = [6.0]);\n"},
       {"c = constant(shape = [1], value = [2.0]); y = mul(c, 3.0);",
        "c = constant(shape = [1], value = [2.0]);\ny = mul(c, 3.0);\n"},
       {"k = tile(unsqueeze(s, axes = [0]), repeats = [4611686018427387904, 2]); y = copy(k);",
        "the result of `tile` would have shape [4611686018427387904,8]: too many elements [shape.overflow]\n"
        "`input` of `tile` is an array; expected a tensor [lenient.array-for-tensor]\n"}},
      FromTract);
}

// Conversions round toward zero; a range has a number at least, but for the printed form of an empty
// constant.
TEST(TractTest, NumbersOfConversionsAndRanges) {
  const std::string tensor =
      "`repeats` of `tile` is a tensor; expected `integer[]` [lenient.tensor-for-attribute]\n";
  ExpectRows(
      {{"k = tract_core_to_integer(s); y = tile(x, repeats = k);", "y = tile(x, repeats = [1, 4, 6, 5]);\n"},
       {"k = tract_core_cast(2.75, to = 'i64'); y = tile(v, repeats = [k]);",
        "k = constant<integer>(shape = [], value = [2]);\ny = tile(v, repeats = [2]);\n" + tensor},
       {"k = tract_core_cast(-2.75, to = 'i64'); y = add(v, tract_core_cast(k, to = 'f32'));",
        "k = constant<integer>(shape = [], value = [-2]);\ny = add(v, -2.0);\n"},
       {"y = tract_core_range(0, 0, 1);", "y = tract_core_range(0, 0);\n"},
       {"y = tract_core_range(0.0, 0.0, 1.0);",
        "`tract_core_range` from 0 to 0 in steps of 1 makes no numbers [value.type]\n"},
       {"y = tract_core_range(3, 3, 1);",
        "`tract_core_range` from 3 to 3 in steps of 1 makes no numbers [value.type]\n"}},
      FromTract);
}

// Names of a statement's operations avoid those of later statements.
TEST(TractTest, NamesThatStatementsTake) {
  ExpectRows({{"y = add(neg(neg(neg(v))), 1.0);",
               "y_neg = neg(v);\ny_neg_2 = neg(y_neg);\ny_neg_3 = neg(y_neg_2);\ny = add(y_neg_3, 1.0);\n"},
              {"k = neg(neg(neg(v))); k_neg_2 = copy(v); y = add(k, k_neg_2);",
               "k_neg = neg(v);\nk_neg_3 = neg(k_neg);\nk = neg(k_neg_3);\nk_neg_2 = copy(v);\ny = add(k, "
               "k_neg_2);\n"},
              {"k = neg(neg(v)); k_neg = copy(v); y = add(k, k_neg);",
               "k_neg_2 = neg(v);\nk = neg(k_neg_2);\nk_neg = copy(v);\ny = add(k, k_neg);\n"}},
             FromTract);
}

// Integers that no floats are converted to are wrapped, not clamped.
TEST(TractTest, WidthsOfIntegers) {
  ExpectRows({{"k = argmax_reduce(x, axes = [1]); y = tract_core_cast(k, to = 'i32');",
               "k = argmax_reduce(x, axes = [1]);\ny = tract_core_to_width(k, datum_type = 'i32');\n"}},
             FromTract);
}

TEST(TractTest, PositionsOfMaximaInThePlane) {
  ExpectRows(
      {{"(y, p) = max_pool_with_index(x, size = [1,1,2,2]);",
        "y, y_max_pool_with_index = max_pool_with_index(x, size = [1, 1, 2, 2], border = 'ignore');\n"
        "y_constant = constant(shape = [1, 1, 1, 5], value = [0.0, 1.0, 2.0, 3.0, 4.0]);\n"
        "y_cast = cast<scalar>(y_max_pool_with_index);\n"
        "y_div = div(y_cast, 2.0);\n"
        "y_cast_2 = cast<integer>(y_div);\n"
        "y_cast_3 = cast<scalar>(y_cast_2);\n"
        "y_mul = mul(y_cast_3, 2.0);\n"
        "y_cast_4 = cast<integer>(y_mul);\n"
        "y_cast_5 = cast<scalar>(y_max_pool_with_index);\n"
        "y_cast_6 = cast<scalar>(y_cast_4);\n"
        "y_sub = sub(y_cast_5, y_cast_6);\n"
        "y_cast_7 = cast<integer>(y_sub);\n"
        "y_cast_8 = cast<scalar>(y_cast_7);\n"
        "y_mul_2 = mul(y_cast_8, 1.0);\n"
        "y_cast_9 = cast<integer>(y_mul_2);\n"
        "y_cast_10 = cast<scalar>(y_cast_9);\n"
        "y_add = add(y_cast_10, y_constant);\n"
        "y_cast_11 = cast<integer>(y_add);\n"
        "y_constant_2 = constant(shape = [1, 1, 6, 1], value = [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]);\n"
        "y_cast_12 = cast<scalar>(y_cast_2);\n"
        "y_mul_3 = mul(y_cast_12, 5.0);\n"
        "y_cast_13 = cast<integer>(y_mul_3);\n"
        "y_cast_14 = cast<scalar>(y_cast_13);\n"
        "y_add_2 = add(y_cast_14, y_constant_2);\n"
        "y_cast_15 = cast<integer>(y_add_2);\n"
        "y_cast_16 = cast<scalar>(y_cast_11);\n"
        "y_cast_17 = cast<scalar>(y_cast_15);\n"
        "y_add_3 = add(y_cast_16, y_cast_17);\n"
        "p = cast<integer>(y_add_3);\n"},
       {"(y, p) = max_pool_with_index(x, size = [1,1,2,2], padding = [(0,0),(0,0),(1,0),(0,1)], stride = "
        "[1,1,2,2]);",
        "y, y_max_pool_with_index = max_pool_with_index(x, size = [1, 1, 2, 2], border = 'ignore', padding = "
        "[(0, 0), (0, 0), (1, 0), (0, 1)], stride = [1, 1, 2, 2]);\n"
        "y_constant = constant(shape = [1, 1, 1, 3], value = [0.0, 2.0, 4.0]);\n"
        "y_cast = cast<scalar>(y_max_pool_with_index);\n"
        "y_div = div(y_cast, 2.0);\n"
        "y_cast_2 = cast<integer>(y_div);\n"
        "y_cast_3 = cast<scalar>(y_cast_2);\n"
        "y_mul = mul(y_cast_3, 2.0);\n"
        "y_cast_4 = cast<integer>(y_mul);\n"
        "y_cast_5 = cast<scalar>(y_max_pool_with_index);\n"
        "y_cast_6 = cast<scalar>(y_cast_4);\n"
        "y_sub = sub(y_cast_5, y_cast_6);\n"
        "y_cast_7 = cast<integer>(y_sub);\n"
        "y_cast_8 = cast<scalar>(y_cast_7);\n"
        "y_mul_2 = mul(y_cast_8, 1.0);\n"
        "y_cast_9 = cast<integer>(y_mul_2);\n"
        "y_cast_10 = cast<scalar>(y_cast_9);\n"
        "y_add = add(y_cast_10, y_constant);\n"
        "y_cast_11 = cast<integer>(y_add);\n"
        "y_constant_2 = constant(shape = [1, 1, 3, 1], value = [-5.0, 5.0, 15.0]);\n"
        "y_cast_12 = cast<scalar>(y_cast_2);\n"
        "y_mul_3 = mul(y_cast_12, 5.0);\n"
        "y_cast_13 = cast<integer>(y_mul_3);\n"
        "y_cast_14 = cast<scalar>(y_cast_13);\n"
        "y_add_2 = add(y_cast_14, y_constant_2);\n"
        "y_cast_15 = cast<integer>(y_add_2);\n"
        "y_cast_16 = cast<scalar>(y_cast_11);\n"
        "y_cast_17 = cast<scalar>(y_cast_15);\n"
        "y_add_3 = add(y_cast_16, y_cast_17);\n"
        "p = cast<integer>(y_add_3);\n"},
       {"(y, p) = max_pool_with_index(x, size = [1,1,3,1], dilation = [1,1,2,1]);",
        "y, y_max_pool_with_index = max_pool_with_index(x, size = [1, 1, 3, 1], border = 'ignore', dilation "
        "= [1, 1, 2, 1]);\n"
        "y_constant = constant(shape = [1, 1, 1, 5], value = [0.0, 1.0, 2.0, 3.0, 4.0]);\n"
        "y_constant_2 = constant(shape = [1, 1, 6, 1], value = [-10.0, -5.0, 0.0, 5.0, 10.0, 15.0]);\n"
        "y_cast = cast<scalar>(y_max_pool_with_index);\n"
        "y_mul = mul(y_cast, 10.0);\n"
        "y_cast_2 = cast<integer>(y_mul);\n"
        "y_cast_3 = cast<scalar>(y_cast_2);\n"
        "y_add = add(y_cast_3, y_constant_2);\n"
        "y_cast_4 = cast<integer>(y_add);\n"
        "y_cast_5 = cast<scalar>(y_cast_4);\n"
        "y_add_2 = add(y_constant, y_cast_5);\n"
        "p = cast<integer>(y_add_2);\n"},
       {"(y, p) = max_pool_with_index(x, size = [1,1,1,3]);",
        "y, y_max_pool_with_index = max_pool_with_index(x, size = [1, 1, 1, 3], border = 'ignore');\n"
        "y_constant = constant(shape = [1, 1, 1, 5], value = [-1.0, 0.0, 1.0, 2.0, 3.0]);\n"
        "y_cast = cast<scalar>(y_max_pool_with_index);\n"
        "y_div = div(y_cast, 3.0);\n"
        "y_cast_2 = cast<integer>(y_div);\n"
        "y_cast_3 = cast<scalar>(y_cast_2);\n"
        "y_mul = mul(y_cast_3, 3.0);\n"
        "y_cast_4 = cast<integer>(y_mul);\n"
        "y_cast_5 = cast<scalar>(y_max_pool_with_index);\n"
        "y_cast_6 = cast<scalar>(y_cast_4);\n"
        "y_sub = sub(y_cast_5, y_cast_6);\n"
        "y_cast_7 = cast<integer>(y_sub);\n"
        "y_cast_8 = cast<scalar>(y_cast_7);\n"
        "y_mul_2 = mul(y_cast_8, 1.0);\n"
        "y_cast_9 = cast<integer>(y_mul_2);\n"
        "y_cast_10 = cast<scalar>(y_cast_9);\n"
        "y_add = add(y_cast_10, y_constant);\n"
        "y_cast_11 = cast<integer>(y_add);\n"
        "y_constant_2 = constant(shape = [1, 1, 6, 1], value = [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]);\n"
        "y_cast_12 = cast<scalar>(y_cast_2);\n"
        "y_mul_3 = mul(y_cast_12, 5.0);\n"
        "y_cast_13 = cast<integer>(y_mul_3);\n"
        "y_cast_14 = cast<scalar>(y_cast_13);\n"
        "y_add_2 = add(y_cast_14, y_constant_2);\n"
        "y_cast_15 = cast<integer>(y_add_2);\n"
        "y_cast_16 = cast<scalar>(y_cast_11);\n"
        "y_cast_17 = cast<scalar>(y_cast_15);\n"
        "y_add_3 = add(y_cast_16, y_cast_17);\n"
        "p = cast<integer>(y_add_3);\n"},
       {"(y, p) = max_pool_with_index(v, size = [2]);",
        "y, p = max_pool_with_index(v, size = [2], border = 'ignore');\n"},
       {"(y, p) = max_pool_with_index(squeeze(x, axes = [0]), size = [1,2,2]);",
        "y_squeeze = squeeze(x, axes = [0]);\n"
        "y, y_max_pool_with_index = max_pool_with_index(y_squeeze, size = [1, 2, 2], border = 'ignore');\n"
        "y_constant = constant(shape = [1, 1, 5], value = [0.0, 1.0, 2.0, 3.0, 4.0]);\n"
        "y_cast = cast<scalar>(y_max_pool_with_index);\n"
        "y_mul = mul(y_cast, 1.0);\n"
        "y_cast_2 = cast<integer>(y_mul);\n"
        "y_cast_3 = cast<scalar>(y_cast_2);\n"
        "y_add = add(y_cast_3, y_constant);\n"
        "p = cast<integer>(y_add);\n"},
       {"(y, p) = max_pool_with_index(o, size = [1,2]);",
        "the indices of `max_pool_with_index` are positions in a plane, whose extents are unknown "
        "[shape-of.unspecified-extent]\n"}},
      FromTract);
}

TEST(TractTest, BordersAndAxes) {
  ExpectRows(
      {{"y = max_pool(x, size = [1,1,2,2], border = 'constant');",
        "y = max_pool(x, size = [1, 1, 2, 2], border = 'ignore');\n"},
       {"y = max_pool(x, size = [1,1,2,2], border = 'ignore');",
        "y = max_pool(x, size = [1, 1, 2, 2], border = 'ignore');\n"},
       {"y = avg_pool(x, size = [1,1,2,2], border = 'constant');", "y = avg_pool(x, size = [1, 1, 2, 2]);\n"},
       {"y = pad(v, padding = [(1,1)], border = 'replicated');",
        "y = pad(v, padding = [(1, 1)], border = 'replicate');\n"},
       {"y = pad(v, padding = [(1,1)], border = 'reflect');",
        "y = pad(v, padding = [(1, 1)], border = 'reflect');\n"},
       {"y = unsqueeze(v, axes = [0,0]);",
        "y = unsqueeze(v, axes = [0, 1]);\n"
        "`axes` of `unsqueeze` lists axis 0 twice [lenient.negative-axis]\n"},
       {"y = unsqueeze(v, axes = [1,1,0]);",
        "y = unsqueeze(v, axes = [0, 1, 2]);\n"
        "`axes` of `unsqueeze` lists axis 1 twice [lenient.negative-axis]\n"},
       {"y = unsqueeze(v, axes = [0,1]);", "y = unsqueeze(v, axes = [0, 1]);\n"},
       {"y = squeeze(unsqueeze(v, axes = [0,1,2]), axes = [0,0]);",
        "y_unsqueeze = unsqueeze(v, axes = [0, 1, 2]);\n"
        "y = squeeze(y_unsqueeze, axes = [0, 1]);\n"
        "`axes` of `squeeze` lists axis 0 twice [lenient.negative-axis]\n"},
       {"y = squeeze(unsqueeze(v, axes = [0,1,2]), axes = [1,1,0]);",
        "y_unsqueeze = unsqueeze(v, axes = [0, 1, 2]);\n"
        "y = squeeze(y_unsqueeze, axes = [0, 1, 2]);\n"
        "`axes` of `squeeze` lists axis 1 twice [lenient.negative-axis]\n"},
       {"y = squeeze(unsqueeze(v, axes = [0,1,2]), axes = [3,3]);",
        "`axes` of `squeeze` lists 3 twice [axis.repeated]\n"
        "`axes` of `squeeze` lists axis 3 twice [lenient.negative-axis]\n"},
       {"y = squeeze(unsqueeze(v, axes = [0,1,2]), axes = [2,2]);",
        "`input` of `squeeze` has shape [1,1,1,3]; expected extent 1 along the squeezed axis 3 "
        "[squeeze.singular]\n"
        "`axes` of `squeeze` lists axis 2 twice [lenient.negative-axis]\n"},
       {"y = squeeze(unsqueeze(v, axes = [0,1,2]), axes = [4,4]);",
        "`axes[0]` of `squeeze` is 4; expected at least 0 and less than 4 [axis.range]\n"
        "`axes` of `squeeze` lists axis 4 twice [lenient.negative-axis]\n"},
       {"y = squeeze(unsqueeze(v, axes = [0,1]), axes = [1,0]);",
        "y_unsqueeze = unsqueeze(v, axes = [0, 1]);\n"
        "y = squeeze(y_unsqueeze, axes = [1, 0]);\n"}},
      FromTract);
}

// tract joins the items of shapes and repeats; other lists are of single numbers, or evenly nested.
TEST(TractTest, NestedLists) {
  ExpectRows({{"y = reshape(x, shape = [4,[6,5]]);",
               "y = reshape(x, shape = [4, 6, 5]);\n"
               "`shape` of `reshape` is a nested array; expected `integer[]` [lenient.nested-array]\n"},
              {"y = reshape(x, shape = [[4,6],5]);",
               "y = reshape(x, shape = [4, 6, 5]);\n"
               "`shape` of `reshape` is a nested array; expected `integer[]` [lenient.nested-array]\n"},
              {"y = reshape(x, shape = [[4,6],[5,1]]);",
               "y = reshape(x, shape = [4, 6, 5, 1]);\n"
               "`shape` of `reshape` is a nested array; expected `integer[]` [lenient.nested-array]\n"},
              {"y = reshape(x, shape = [4,[6,[5]]]);",
               "`shape` of `reshape` is built of an array; expected `integer[]` [value.type]\n"},
              {"y = tile(x, repeats = [1,[2,3],1]);",
               "y = tile(x, repeats = [1, 2, 3, 1]);\n"
               "`repeats` of `tile` is a nested array; expected `integer[]` [lenient.nested-array]\n"},
              {"y = tile(x, repeats = [1,[2,[3]],1]);",
               "`repeats` of `tile` is built of an array; expected `integer[]` [value.type]\n"},
              {"y = transpose(x, axes = [0,[2,1],3]);",
               "`axes` of `transpose` is built of an array; expected `integer[]` [value.type]\n"},
              {"y = transpose(x, axes = [[0,2],[1,3]]);",
               "y = transpose(x, axes = [0, 2, 1, 3]);\n"
               "`axes` of `transpose` is a nested array; expected `integer[]` [lenient.nested-array]\n"},
              {"y = pad(x, padding = [(0,0),(0,0),(0,1),(0,0)]);",
               "y = pad(x, padding = [(0, 0), (0, 0), (0, 1), (0, 0)]);\n"},
              {"y = squeeze(x, axes = [[0]]);",
               "y = squeeze(x, axes = [0]);\n"
               "`axes` of `squeeze` is a nested array; expected `integer[]` [lenient.nested-array]\n"},
              {"y = sum_reduce(x, axes = [0,[1]]);",
               "`axes` of `sum_reduce` is built of an array; expected `integer[]` [value.type]\n"}},
             FromTract);
}

// The largest integers are integers, as are their places.
TEST(TractTest, LargestIntegers) {
  ExpectRows(
      {{"(y, p) = tract_core_topk(i, k = 2, axis = 0);",
        "y_cast = cast<scalar>(i);\n"
        "y_tract_core_topk, p = tract_core_topk(y_cast, k = 2, axis = 0);\n"
        "y = cast<integer>(y_tract_core_topk);\n"
        "`input` of `tract_core_topk` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
       {"(y, p) = tract_core_topk(v, k = 2, axis = 0);", "y, p = tract_core_topk(v, k = 2, axis = 0);\n"}},
      FromTract);
}

// Operations that the specifications define for scalars make integers of integers.
TEST(TractTest, SumsAndScatteredIntegers) {
  const auto makes_integers = [](std::string_view call) {
    const std::string made = FromTract("y = " + std::string(call) + ";");
    return made.find("\ny = cast<integer>(") != std::string::npos;
  };
  EXPECT_TRUE(makes_integers("tract_core_cumsum(i, axis = 0)"));
  EXPECT_FALSE(makes_integers("tract_core_cumsum(v, axis = 0)"));
  EXPECT_TRUE(makes_integers("tract_core_scatter_elements(i, [0,2], [7,8], axis = 0)"));
  EXPECT_FALSE(makes_integers("tract_core_scatter_elements(v, [0,2], [7.0,8.0], axis = 0)"));
  EXPECT_FALSE(makes_integers("tract_core_scatter_elements(v, [0,2], [7,8], axis = 0)"));
  EXPECT_TRUE(makes_integers("tract_core_scatter_nd(i, [[0],[2]], [7,8])"));
  EXPECT_FALSE(makes_integers("tract_core_scatter_nd(v, [[0],[2]], [7.0,8.0])"));
}

TEST(TractTest, Ranges) {
  ExpectRows(
      {{"y = tract_core_range(0, 4, 1);", "y = constant<integer>(shape = [4], value = [0, 1, 2, 3]);\n"},
       {"y = tract_core_range(0, 5, 2);", "y = constant<integer>(shape = [3], value = [0, 2, 4]);\n"},
       {"y = tract_core_range(3, 0, -1);", "y = constant<integer>(shape = [3], value = [3, 2, 1]);\n"},
       {"y = tract_core_range(0, 1, 1);", "y = constant<integer>(shape = [1], value = [0]);\n"},
       {"y = tract_core_range(0.0, 1.0, 0.25);",
        "y = constant(shape = [4], value = [0.0, 0.25, 0.5, 0.75]);\n"},
       // As f32, 0.3 is more than 3 * 0.1, and 2.1 is not more than 3 * 0.7.
       {"y = tract_core_range(0.0, -0.3, -0.1);",
        "y = constant(shape = [4], value = [0.0, -0.1, -0.2, -0.30000000000000004]);\n"},
       {"y = tract_core_range(0.0, 2.1, 0.7);", "y = constant(shape = [3], value = [0.0, 0.7, 1.4]);\n"},
       {"y = tract_core_range(0.0, 1.0, 1e-50);",
        "`step` of `tract_core_range` is 0 [arithmetic.division-by-zero]\n"},
       {"y = tract_core_range(0, 0, 1);", "y = tract_core_range(0, 0);\n"},  // an empty constant as printed
       {"y = tract_core_range(1, 1, 1);",
        "`tract_core_range` from 1 to 1 in steps of 1 makes no numbers [value.type]\n"},
       {"y = tract_core_range(0, -1, 1);",
        "`tract_core_range` from 0 to -1 in steps of 1 makes no numbers [value.type]\n"},
       {"y = tract_core_range(0, 4, 0);",
        "`step` of `tract_core_range` is 0 [arithmetic.division-by-zero]\n"},
       {"y = tract_core_range(0, n, 1);",
        "y_tract_core_extent = tract_core_extent(o, axis = 0);\n"
        "y = tract_core_range(0, y_tract_core_extent);\n"},
       {"y = tract_core_range(0, 1, i);", "y = tract_core_range(0, 1, i);\n"},
       {"y = tract_core_range(-9223372036854775807, 9223372036854775807, 1);",
        "`tract_core_range` from -9.223372036854776e+18 to 9.223372036854776e+18 in steps of 1 makes "
        "too many numbers [value.type]\n"},
       {"y = tract_core_range(9223372036854775805, 9223372036854775807, 1);",
        "y = constant<integer>(shape = [2], value = [9223372036854775805, 9223372036854775806]);\n"}},
      FromTract);
}

TEST(TractTest, ArithmeticOfIntegerTensors) {
  ExpectRows({{"y = add(i, i);",
               "y_cast = cast<scalar>(i);\n"
               "y_cast_2 = cast<scalar>(i);\n"
               "y_add = add(y_cast, y_cast_2);\n"
               "y = cast<integer>(y_add);\n"
               "`x` of `add` is a tensor of type integer; expected scalar (the first of 2 places) "
               "[lenient.data-type]\n"},
              {"y = add(i, 1);",
               "y_cast = cast<scalar>(i);\n"
               "y_add = add(y_cast, 1.0);\n"
               "y = cast<integer>(y_add);\n"
               "`x` of `add` is a tensor of type integer; expected scalar [lenient.data-type]\n"
               "`y` of `add` is a whole number; expected `tensor<scalar>` [lenient.number-type]\n"},
              {"y = add(i, v);",
               "y_cast = cast<scalar>(i);\n"
               "y = add(y_cast, v);\n"
               "`x` of `add` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
              {"y = div(i, 2);",
               "y_cast = cast<scalar>(i);\n"
               "y_div = div(y_cast, 2.0);\n"
               "y_lt = lt(y_div, 0.0);\n"
               "y_ceil = ceil(y_div);\n"
               "y_floor = floor(y_div);\n"
               "y_select = select(y_lt, y_ceil, y_floor);\n"
               "y = cast<integer>(y_select);\n"
               "`x` of `div` is a tensor of type integer; expected scalar [lenient.data-type]\n"
               "`y` of `div` is a whole number; expected `tensor<scalar>` [lenient.number-type]\n"},
              {"y = floor(i);",
               "y_cast = cast<scalar>(i);\n"
               "y_floor = floor(y_cast);\n"
               "y = cast<integer>(y_floor);\n"
               "`x` of `floor` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
              {"y = neg(i);",
               "y_cast = cast<scalar>(i);\n"
               "y_neg = neg(y_cast);\n"
               "y = cast<integer>(y_neg);\n"
               "`x` of `neg` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
              {"y = mean_reduce(i, axes = [0]);",
               "y_cast = cast<scalar>(i);\n"
               "y_mean_reduce = mean_reduce(y_cast, axes = [0]);\n"
               "y_lt = lt(y_mean_reduce, 0.0);\n"
               "y_ceil = ceil(y_mean_reduce);\n"
               "y_floor = floor(y_mean_reduce);\n"
               "y_select = select(y_lt, y_ceil, y_floor);\n"
               "y = cast<integer>(y_select);\n"
               "`input` of `mean_reduce` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
              {"y = exp(i);",
               "y_cast = cast<scalar>(i);\n"
               "y = exp(y_cast);\n"
               "`x` of `exp` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
              {"y = lt(i, i);",
               "y_cast = cast<scalar>(i);\n"
               "y_cast_2 = cast<scalar>(i);\n"
               "y = lt(y_cast, y_cast_2);\n"
               "`x` of `lt` is a tensor of type integer; expected scalar (the first of 2 places) "
               "[lenient.data-type]\n"},
              {"y = tract_core_cast(i, to = 'i64');", "y = copy(i);\n"},
              {"y = tract_core_cast(v, to = 'i64');", "y = tract_core_to_integer(v);\n"},
              {"y = tract_core_cast(v, to = 'f32');", "y = copy(v);\n"},
              {"y = concat([i, i], axis = 0);", "y = concat([i, i], axis = 0);\n"},
              {"y = concat([v, i], axis = 0);",
               "y_cast = cast<scalar>(i);\n"
               "y = concat([v, y_cast], axis = 0);\n"
               "`values` of `concat` is a tensor of type integer; expected scalar [lenient.data-type]\n"}},
             FromTract);
}

TEST(TractTest, CommonTypes) {
  ExpectRows({{"y = select(b, i, v);",
               "y_cast = cast<scalar>(i);\n"
               "y = select(b, y_cast, v);\n"
               "`true_value` of `select` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
              {"y = tract_core_range(0, 1.0, 0.5);",
               "y = constant(shape = [2], value = [0.0, 0.5]);\n"
               "`start` of `tract_core_range` is a whole number; expected `tensor<?>` "
               "[lenient.number-type]\n"}},
             FromTract);
}

// Expressions of an extent that is known at run time only. Comparisons and sums have such values, everything
// else is reported.
TEST(TractTest, OpenExtentsInExpressions) {
  const auto translate = [](std::string_view statement) {
    Expansion expansion(
        "version 1.0;\n"
        "extension tract_registry tract_core;\n"
        "extension KHR_enable_fragment_definitions;\n"
        "extension KHR_enable_operator_expressions;\n"
        "extension tract_symbol N;\n"
        "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    n = shape_of(x)[0];\n    " +
        std::string(statement) +
        "\n}\ngraph g( x ) -> ( y )\n{\n    x = tract_core_external(shape = [N,3], datum_type = 'f32');\n    "
        "y = f(x);\n"
        "}\n");
    EXPECT_EQ(expansion.context.emitter.diagnostics().size(), expansion.graph == nullptr ? 1u : 0u)
        << expansion.Diagnostics();
    return expansion.graph == nullptr ? std::string(expansion.context.emitter.diagnostics()[0].rule->label)
                                      : StatementsOf(expansion);
  };
  for (const char* statement :
       {"y = relu(x) if n > 3 else neg(x);", "y = relu(x) if n == 3 else neg(x);",
        "k = [1.0, 2.0]; y = x * k[n];", "y = x * [1.0, 2.0, 3.0][n - 1];", "y = x * ([1.0] * n)[0];",
        "k = [1.0, 2.0]; y = concat([for i in k[n:] yield x * i], axis = 0);",
        "k = [1.0, 2.0]; y = concat([for i in k[:n] yield x * i], axis = 0);",
        "y = concat([for i in range_of([0] * n) yield x], axis = 0);"})
    EXPECT_EQ(translate(statement), "shape-of.unspecified-extent") << statement;
  EXPECT_EQ(translate("y = relu(x) if shape_of(x)[1] == 3 else neg(x);"), "y = relu(x);\n");
  EXPECT_EQ(translate("y = relu(x) if shape_of(x)[1] > 3 else neg(x);"), "y = neg(x);\n");
  EXPECT_EQ(translate("m = n + 1; y = relu(x);"), "y = relu(x);\n");
}

// A failed assertion ends the statement of its external: what depends on it reports nothing more.
TEST(TractTest, FailedAssertionsAreReportedOnce) {
  const auto report = [](std::string_view condition) {
    Expansion expansion(
        "version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol N;\nextension "
        "tract_assert " +
            std::string(condition) +
            ";\n"
            "graph g( x ) -> ( y )\n"
            "{\n"
            "    x = tract_core_external(shape = [N,3], datum_type = 'f32');\n"
            "    y = transpose(x, axes = [7,8]);\n"
            "}\n",
        {.input_shapes = {{"x", {4, 3}}}});
    std::string labels;
    for (const Diagnostic& diagnostic : expansion.context.emitter.diagnostics())
      labels += std::string(diagnostic.rule->label) + ";";
    return labels;
  };
  EXPECT_EQ(report("N > 4"), "assertion.fails;");
  EXPECT_EQ(report("N >= 4"), "transpose.axes;");
}

// Integers of a variable have the width of its tensor file, those of 64 bits without a sign that of 64 bits.
TEST(TractTest, WidthsOfTensorFiles) {
  for (const auto& [type, expected] : std::initializer_list<std::pair<ElementType, std::string_view>>{
           {ElementType::kI8, "y = tract_core_to_width(i, datum_type = 'i8');\n"},
           {ElementType::kU16, "y = tract_core_to_width(i, datum_type = 'u16');\n"},
           {ElementType::kI64, "y = copy(i);\n"},
           {ElementType::kU64, "y = copy(i);\n"},
           {ElementType::kF32, "y = copy(i);\n"}}) {
    ExpandOptions options;
    options.variable_data = [of_file = type](const std::string&, ElementType wanted) {
      const bool fits =
          wanted == ElementType::kDynamic || (wanted == ElementType::kI64 && IsInteger(of_file));
      return fits ? std::optional(TensorValue::Filled(of_file, {3}, 1)) : std::nullopt;
    };
    Expansion expansion(
        "version 1.0;\nextension tract_registry tract_core;\n"
        "graph g( i ) -> ( y )\n{\n    i = tract_core_external(shape = [3], datum_type = 'i64');\n"
        "    v = variable<integer>(shape = [3], label = 'v');\n    y = tract_core_to_width_of(i, v);\n}\n",
        std::move(options));
    EXPECT_EQ(StatementsOf(expansion), expected) << Name(type);
  }
}

}  // namespace
}  // namespace nnefc::expand::vendor
