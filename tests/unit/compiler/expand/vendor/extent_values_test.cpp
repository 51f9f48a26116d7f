// Values that expansion computes from extents; operations without such a value become nodes.

#include <gtest/gtest.h>

#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::vendor {
namespace {

// The value of `s` is [1,4,6,5].
TEST(ExtentValuesTest, ValuesOfExtents) {
  ExpectRows(
      {{"y = copy(s);", "y = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"},
       {"y = slice(s, axes = [0], begin = [1], end = [3]);",
        "y = constant<integer>(shape = [2], value = [4, 6]);\n"},
       {"y = slice(s, axes = [-1], begin = [-3], end = [-1]);",
        "y = constant<integer>(shape = [2], value = [4, 6]);\n"},
       {"y = slice(s, axes = [0], begin = [-1], end = [0]);",
        "y = constant<integer>(shape = [1], value = [5]);\n"},
       {"y = slice(s, axes = [0], begin = [1], end = [0], stride = [2]);",
        "`slice` from 1 to 0 by 2 has no items in order along axis 0 of shape [4] [slice.range]\n"
        "`input` of `slice` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = slice(s, axes = [0], begin = [3], end = [0], stride = [-1]);",
        "y = constant<integer>(shape = [3], value = [5, 6, 4]);\n"},
       {"y = slice(s, axes = [1], begin = [0], end = [1]);",
        "`axes[0]` of `slice` is 1; expected at least 0 and less than 1 [axis.range]\n"
        "`input` of `slice` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = slice(s, axes = [0,0], begin = [0,0], end = [1,1]);",
        "`axes` of `slice` lists 0 twice [axis.repeated]\n"
        "`input` of `slice` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = slice(s, axes = [0], begin = [0,1], end = [1]);",
        "`begin` of `slice` has 2 items; expected 1, as `axes` has [slice.lengths]\n"
        "`input` of `slice` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = slice(s, axes = [0], begin = [0], end = [1,2]);",
        "`end` of `slice` has 2 items; expected 1, as `axes` has [slice.lengths]\n"
        "`input` of `slice` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = slice(s, axes = [0], begin = [0], end = [2], stride = [1,1]);",
        "`stride` of `slice` has 2 items; expected 1 or none [slice.lengths]\n"
        "`input` of `slice` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = slice(s, axes = [0], begin = [2], end = [2]);",
        "y_constant = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"
        "y = slice(y_constant, axes = [0], begin = [2], end = [2]);\n"
        "`input` of `slice` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = slice(s, axes = [0], begin = [0], end = [n]);",
        "y_constant = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"
        "y_constant_2 = constant<integer>(shape = [1], value = [0]);\n"
        "y_tract_core_extent = tract_core_extent(o, axis = 0);\n"
        "y_stack = stack([y_tract_core_extent], axis = 0);\n"
        "y = tract_core_slice_by(y_constant, y_constant_2, y_stack, axes = [0], stride = [1]);\n"
        "`input` of `slice` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = slice(s, axes = [0], begin = [n], end = [4]);",
        "y_constant = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"
        "y_tract_core_extent = tract_core_extent(o, axis = 0);\n"
        "y_stack = stack([y_tract_core_extent], axis = 0);\n"
        "y_constant_2 = constant<integer>(shape = [1], value = [4]);\n"
        "y = tract_core_slice_by(y_constant, y_stack, y_constant_2, axes = [0], stride = [1]);\n"
        "`input` of `slice` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = slice(s, axes = [0], begin = [0], end = [4], stride = [n]);",
        "`stride` of `slice` depends on an extent that an external leaves open; give it with `--input-shape` "
        "[shape-of.unspecified-extent]\n"
        "`input` of `slice` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = squeeze(slice(s, axes = [0], begin = [1], end = [2]), axes = [0]);",
        "y = constant<integer>(shape = [], value = [4]);\n"},
       {"y = squeeze(slice(s, axes = [0], begin = [1], end = [2]), axes = [-1]);",
        "y = constant<integer>(shape = [], value = [4]);\n"},
       {"y = squeeze(s, axes = [0]);",
        "`input` of `squeeze` has shape [4]; expected extent 1 along the squeezed axis 0 [squeeze.singular]\n"
        "`input` of `squeeze` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = squeeze(s, axes = [1]);",
        "`axes[0]` of `squeeze` is 1; expected at least 0 and less than 1 [axis.range]\n"
        "`input` of `squeeze` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = unsqueeze(s, axes = [1]);", "y = constant<integer>(shape = [4, 1], value = [1, 4, 6, 5]);\n"},
       {"y = unsqueeze(s, axes = [-2]);", "y = constant<integer>(shape = [1, 4], value = [1, 4, 6, 5]);\n"},
       {"y = unsqueeze(s, axes = [2]);",
        "`axes[0]` of `unsqueeze` is 2; expected at least 0 and less than 2 [axis.range]\n"
        "`input` of `unsqueeze` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = concat([s, s], axis = 0);",
        "y = constant<integer>(shape = [8], value = [1, 4, 6, 5, 1, 4, 6, 5]);\n"},
       {"y = concat([unsqueeze(s, axes = [0]), s], axis = 0);",
        "`values[1]` of `concat` has rank 1; expected 2 [concat.rank]\n"},
       {"y = concat([s, unsqueeze(s, axes = [1])], axis = 0);",
        "`values[1]` of `concat` has rank 2; expected 1 [concat.rank]\n"},
       {"y = concat([s, s], axis = 1);",
        "`axis` of `concat` is 1; expected at least 0 and less than 1 [axis.range]\n"},
       {"y = stack([s, s], axis = 1);",
        "y = constant<integer>(shape = [4, 2], value = [1, 1, 4, 4, 6, 6, 5, 5]);\n"},
       {"y = stack([s, s], axis = 2);",
        "`axis` of `stack` is 2; expected at least 0 and less than 2 [axis.range]\n"},
       {"y = stack([s, slice(s, axes = [0], begin = [0], end = [2])], axis = 0);",
        "`values[1]` of `stack` has shape [2]; expected [4] [stack.shapes]\n"},
       {"y = tract_core_gather(s, 2, axis = 0);", "y = constant<integer>(shape = [], value = [6]);\n"},
       {"y = tract_core_gather(s, [3,0,-1], axis = 0);",
        "y = constant<integer>(shape = [3], value = [5, 1, 5]);\n"},
       {"y = tract_core_gather(s, [[1,2]], axis = 0);",
        "y_constant = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"
        "y_constant_2 = constant<integer>(shape = [1, 2], value = [1, 2]);\n"
        "y = gather(y_constant, y_constant_2);\n"},
       {"y = tract_core_gather(s, [4], axis = 0);",
        "`indices` of `gather` holds 4 (item 0); axis 0 of `input` has places below 4 [gather.index]\n"},
       {"y = tract_core_gather(s, [-4], axis = 0);", "y = constant<integer>(shape = [1], value = [1]);\n"},
       {"y = tract_core_gather(s, [-5], axis = 0);",
        "`indices` of `gather` holds -5 (item 0); places along an axis are counted from 0 [gather.index]\n"},
       {"y = tract_core_gather(s, [0], axis = 1);",
        "`axis` of `gather` is 1; expected at least 0 and less than 1 [axis.range]\n"},
       {"y = tract_core_gather(stack([s, s], axis = 1), [2,1], axis = 0);",
        "y = constant<integer>(shape = [2, 2], value = [6, 6, 4, 4]);\n"},
       {"y = tract_core_gather(stack([s, s], axis = 1), 2, axis = 0);",
        "y = constant<integer>(shape = [2], value = [6, 6]);\n"},
       {"y = reshape(s, shape = [2,2]);", "y = constant<integer>(shape = [2, 2], value = [1, 4, 6, 5]);\n"},
       {"y = reshape(s, shape = [-1,2]);", "y = constant<integer>(shape = [2, 2], value = [1, 4, 6, 5]);\n"},
       {"y = reshape(s, shape = [-1,-1]);",
        "`shape` of `reshape` contains -1 twice [reshape.items]\n"
        "`input` of `reshape` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = reshape(s, shape = [3]);",
        "`shape` of `reshape` is [3], which does not fit `input` of `reshape` of shape [4] [reshape.volume]\n"
        "`input` of `reshape` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = reshape(s, shape = [-1,3]);",
        "`shape` of `reshape` is [-1,3], which does not fit `input` of `reshape` of shape [4] "
        "[reshape.volume]\n"
        "`input` of `reshape` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = reshape(s, shape = [0,1]);",
        "y_constant = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"
        "y = reshape(y_constant, shape = [0, 1]);\n"
        "`input` of `reshape` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = reshape(s, shape = [-2,2]);",
        "`shape[0]` of `reshape` is -2; expected an extent, 0 or -1 [reshape.items]\n"
        "`input` of `reshape` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = reshape(s, shape = [4,1], axis_start = 1);",
        "`shape` of `reshape` is [4,1], which does not fit `input` of `reshape` of shape [4] "
        "[reshape.volume]\n"
        "`input` of `reshape` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = reshape(s, shape = [4,1], axis_count = 1);",
        "y_constant = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"
        "y = reshape(y_constant, shape = [4, 1], axis_count = 1);\n"
        "`input` of `reshape` is an array; expected a tensor [lenient.array-for-tensor]\n"}},
      FromTract);
}

// An end of 0 is that of the axis, wherever the list has it; others count from the end if negative.
TEST(ExtentValuesTest, EndsOfSlicesOfOpenBegins) {
  const auto ends = [](std::string_view items) {
    const std::string made = FromTract(
        fmt::format("y = slice(x, axes = [1,2], begin = [n,0], end = [{}], stride = [1,1]);", items));
    constexpr std::string_view kBefore = "y_constant = constant<integer>(shape = [2], value = ";
    const size_t begin = made.find(kBefore) + kBefore.size();
    return begin < kBefore.size() ? made : made.substr(begin, made.find(')', begin) - begin);
  };
  EXPECT_EQ(ends("4,6"), "[4, 6]");
  EXPECT_EQ(ends("4,0"), "[4, 2147483647]");
  EXPECT_EQ(ends("0,6"), "[2147483647, 6]");
  EXPECT_EQ(ends("0,0"), "[2147483647, 2147483647]");
  EXPECT_EQ(ends("4,-1"), "[4, -1]");
  EXPECT_EQ(ends("-1,1"), "[-1, 1]");
}

TEST(ExtentValuesTest, ArithmeticOfExtents) {
  ExpectRows(
      {{"y = add(s, 1.5);", "y = constant(shape = [4], value = [2.5, 5.5, 7.5, 6.5]);\n"},
       {"y = add(1.5, s);", "y = constant(shape = [4], value = [2.5, 5.5, 7.5, 6.5]);\n"},
       {"y = div(s, 0);",
        "y_constant = constant(shape = [4], value = [1.0, 4.0, 6.0, 5.0]);\n"
        "y = div(y_constant, 0.0);\n"
        "`x` of `div` is an array; expected a tensor [lenient.array-for-tensor]\n"
        "`y` of `div` is a whole number; expected `tensor<scalar>` [lenient.number-type]\n"},
       {"y = add(s, [1,2]);",
        "`y` of `add` has shape [2], which does not broadcast with [4]: the extents differ along axis 0 "
        "[binary.broadcast]\n"
        "`x` of `add` is an array; expected a tensor (the first of 2 places) [lenient.array-for-tensor]\n"},
       {"y = add(lt(s, 5), 1);",
        "`value` of `constant` is built of a logical; expected `?[]` [value.type]\n"
        "`x` of `add` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = add(1, lt(s, 5));",
        "`value` of `constant` is built of a logical; expected `?[]` [value.type]\n"
        "`x` of `add` is a whole number; expected `tensor<scalar>` [lenient.number-type]\n"
        "`y` of `add` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = lt(true, s);",
        "`x` of `lt` is of type logical; expected scalar [node.input-type]\n"
        "`y` of `lt` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = add(s, true);",
        "`y` of `add` is of type logical; expected scalar [node.input-type]\n"
        "`x` of `add` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = lt(s, 5);", "y = constant<logical>(shape = [4], value = [true, true, false, false]);\n"},
       {"y = lt(s, 4.5);", "y = constant<logical>(shape = [4], value = [true, true, false, false]);\n"},
       {"y = min(s, 5);", "y = constant<integer>(shape = [4], value = [1, 4, 5, 5]);\n"},
       {"y = max(5, s);", "y = constant<integer>(shape = [4], value = [5, 5, 6, 5]);\n"},
       {"y = min(s, 4.5);", "y = constant(shape = [4], value = [1.0, 4.0, 4.5, 4.5]);\n"},
       {"y = max(4.5, s);", "y = constant(shape = [4], value = [4.5, 4.5, 6.0, 5.0]);\n"},
       {"y = max(lt(s, 5), lt(s, 2));",
        "`value` of `constant` is built of a logical; expected `?[]` [value.type]\n"
        "`x` of `max` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = neg(s);", "y = constant<integer>(shape = [4], value = [-1, -4, -6, -5]);\n"},
       {"y = neg(lt(s, 5));",
        "`value` of `constant` is built of a logical; expected `?[]` [value.type]\n"
        "`x` of `neg` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = abs(sub(s, 5));", "y = constant<integer>(shape = [4], value = [4, 1, 1, 0]);\n"},
       {"y = floor(mul(tract_core_cast(s, to = 'f32'), 0.3));",
        "y = constant(shape = [4], value = [0.0, 1.0, 1.0, 1.0]);\n"},
       {"y = ceil(mul(tract_core_cast(s, to = 'f32'), 0.3));",
        "y = constant(shape = [4], value = [1.0, 2.0, 2.0, 2.0]);\n"},
       {"y = floor(s);", "y = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"},
       {"y = select(lt(s, 5), s, 0);", "y = constant<integer>(shape = [4], value = [1, 4, 0, 0]);\n"},
       {"y = select(lt(s, 5), s, 0.5);", "y = constant(shape = [4], value = [1.0, 4.0, 0.5, 0.5]);\n"},
       {"y = select(lt(s, 5), 0.5, s);", "y = constant(shape = [4], value = [0.5, 0.5, 6.0, 5.0]);\n"},
       {"y = select(s, 1, 2);",
        "`condition` of `select` is of type integer; expected logical [node.input-type]\n"
        "`condition` of `select` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = select(true, s, n);", "y = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"},
       {"y = select(lt(n, 4), s, 0);",
        "this extent is left open by an external; give it with `--input-shape` "
        "[shape-of.unspecified-extent]\n"
        "result `y` of the graph is an array; expected a tensor [value.type]\n"},
       // An open extent is no number of f32.
       {"y = tract_core_cast(n, to = 'f32');",
        "y_tract_core_extent = tract_core_extent(o, axis = 0);\n"
        "y = cast<scalar>(y_tract_core_extent);\n"},
       {"y = cast<scalar>(n);",
        "y_tract_core_extent = tract_core_extent(o, axis = 0);\n"
        "y = cast<scalar>(y_tract_core_extent);\n"},
       {"y = add(tract_core_cast(n, to = 'f32'), 0.5);",
        "y_tract_core_cast_tract_core_extent = tract_core_extent(o, axis = 0);\n"
        "y_tract_core_cast_y = cast<scalar>(y_tract_core_cast_tract_core_extent);\n"
        "y = add(y_tract_core_cast_y, 0.5);\n"},
       {"y = tract_core_cast(tract_core_cast(n, to = 'f32'), to = 'i64');",
        "y_tract_core_cast_tract_core_extent = tract_core_extent(o, axis = 0);\n"
        "y_tract_core_cast_y = cast<scalar>(y_tract_core_cast_tract_core_extent);\n"
        "y = tract_core_to_integer(y_tract_core_cast_y);\n"},
       {"y = tract_core_cast(tract_core_shape_of(o), to = 'f32');",
        "y_tract_core_extent = tract_core_extent(o, axis = 0);\n"
        "y_stack = stack([y_tract_core_extent, 3], axis = 0);\n"
        "y = cast<scalar>(y_stack);\n"},
       {"y = tract_core_cast(n, to = 'bool');",
        "y_tract_core_extent = tract_core_extent(o, axis = 0);\n"
        "y = cast<logical>(y_tract_core_extent);\n"},
       {"y = tract_core_cast(lt(s, 5), to = 'bool');",
        "y = constant<logical>(shape = [4], value = [true, true, false, false]);\n"},
       {"y = tract_core_cast(lt(s, 5), to = 'i64');",
        "y_constant = constant<logical>(shape = [4], value = [true, true, false, false]);\n"
        "y = tract_core_to_integer(y_constant);\n"},
       {"y = tract_core_cast(s, to = 'bool');",
        "y_constant = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"
        "y = cast<logical>(y_constant);\n"},
       {"y = tract_core_cast(s, to = 'i64');", "y = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"},
       {"y = tract_core_cast(mul(tract_core_cast(s, to = 'f32'), -0.3), to = 'i64');",
        "y = constant<integer>(shape = [4], value = [0, -1, -1, -1]);\n"},
       {"y = tract_core_cast(mul(tract_core_cast(s, to = 'f32'), 1e18), to = 'i64');",
        "y_constant = constant(shape = [4], value = [1e+18, 4e+18, 6e+18, 5e+18]);\n"
        "y = tract_core_to_integer(y_constant);\n"},
       {"y = cast<integer>(mul(tract_core_cast(s, to = 'f32'), -0.3));",
        "y = constant<integer>(shape = [4], value = [-1, -2, -2, -2]);\n"},
       {"y = cast<integer>(mul(tract_core_cast(s, to = 'f32'), 1e18));",
        "y_constant = constant(shape = [4], value = [1e+18, 4e+18, 6e+18, 5e+18]);\n"
        "y = cast<integer>(y_constant);\n"
        "`input` of `cast` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = cast<logical>(lt(s, 5));",
        "y = constant<logical>(shape = [4], value = [true, true, false, false]);\n"},
       {"y = cast<logical>(s);",
        "y_constant = constant<integer>(shape = [4], value = [1, 4, 6, 5]);\n"
        "y = cast<logical>(y_constant);\n"
        "`input` of `cast` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = cast<integer>(lt(s, 5));",
        "y_constant = constant<logical>(shape = [4], value = [true, true, false, false]);\n"
        "y = cast<integer>(y_constant);\n"
        "`input` of `cast` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = mul(s, i);",
        "`y` of `mul` has shape [3], which does not broadcast with [4]: the extents differ along axis 0 "
        "[binary.broadcast]\n"
        "`x` of `mul` is an array; expected a tensor [lenient.array-for-tensor]\n"
        "`y` of `mul` is a tensor of type integer; expected scalar [lenient.data-type]\n"},
       {"k = constant<integer>(shape = [4], value = [1,2,3,4]);\ny = mul(s, k);",
        "k = constant<integer>(shape = [4], value = [1, 2, 3, 4]);\n"
        "y = constant<integer>(shape = [4], value = [1, 8, 18, 20]);\n"},
       {"k = constant<integer>(shape = [], value = [3]);\ny = mul(s, k);",
        "k = constant<integer>(shape = [], value = [3]);\n"
        "y = constant<integer>(shape = [4], value = [3, 12, 18, 15]);\n"},
       {"k = constant(shape = [], value = [0.5]);\ny = mul(s, k);",
        "k = constant(shape = [], value = [0.5]);\n"
        "y_constant = constant(shape = [4], value = [1.0, 4.0, 6.0, 5.0]);\n"
        "y = mul(y_constant, k);\n"
        "`x` of `mul` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"k = constant(shape = [2], value = [0.5,1.5]);\ny = mul(k, k);",
        "k = constant(shape = [2], value = [0.5, 1.5]);\n"
        "y = mul(k, k);\n"},
       {"k = constant<integer>(shape = [2], value = [2,3]);\ny = mul(k, k);",
        "k = constant<integer>(shape = [2], value = [2, 3]);\n"
        "y_cast = cast<scalar>(k);\n"
        "y_cast_2 = cast<scalar>(k);\n"
        "y_mul = mul(y_cast, y_cast_2);\n"
        "y = cast<integer>(y_mul);\n"
        "`x` of `mul` is a tensor of type integer; expected scalar (the first of 2 places) "
        "[lenient.data-type]\n"}},
      FromTract);
}

// Numbers are f32, as in a run: 100 by 0.29 is 29, which as f64 is less. The values are tract's.
TEST(ExtentValuesTest, NumbersAreFloats) {
  const std::string k = "k = tract_core_cast([100, 3], to = 'f32'); y = ";
  ExpectRows({{k + "floor(mul(k, 0.29));", "y = constant(shape = [2], value = [29.0, 0.0]);\n"},
              {k + "ceil(mul(k, 0.07));", "y = constant(shape = [2], value = [7.0, 1.0]);\n"},
              {k + "tract_core_cast(mul(k, 0.29), to = 'i64');",
               "y = constant<integer>(shape = [2], value = [29, 0]);\n"},
              {k + "cast<integer>(mul(k, 0.29));", "y = constant<integer>(shape = [2], value = [29, 0]);\n"},
              {k + "lt(mul(k, 0.29), 29.0);", "y = constant<logical>(shape = [2], value = [false, true]);\n"},
              {k + "eq(mul(k, 0.29), 29.0);", "y = constant<logical>(shape = [2], value = [true, false]);\n"},
              {k + "mul(k, 0.1);", "y = constant(shape = [2], value = [10.0, 0.3]);\n"},
              {k + "max(mul(k, 0.01), 0.2999999999);", "y = constant(shape = [2], value = [1.0, 0.3]);\n"},
              {k + "select(lt(k, 4.0), 0.1, k);", "y = constant(shape = [2], value = [100.0, 0.1]);\n"},
              {k + "floor(add(sub(k, k), 2.99999999));", "y = constant(shape = [2], value = [3.0, 3.0]);\n"},
              {k + "tract_core_cast(sub(sub(k, k), 2.99999999), to = 'i64');",
               "y = constant<integer>(shape = [2], value = [-3, -3]);\n"},
              // 2^24 + 1 is no f32, but a whole number.
              {"y = tract_core_cast([16777217, 3], to = 'f32');",
               "y = constant(shape = [2], value = [16777216.0, 3.0]);\n"},
              {"y = add([16777217, 3], 0.0);", "y = constant(shape = [2], value = [16777216.0, 3.0]);\n"},
              {"y = select(lt([1, 2], 2), [16777217, 3], 0.5);",
               "y = constant(shape = [2], value = [16777216.0, 0.5]);\n"},
              {"y = add([16777217, 3], 0);", "y = constant<integer>(shape = [2], value = [16777217, 3]);\n"},
              // Beyond the largest f32.
              {"k = tract_core_cast([10], to = 'f32'); y = mul(k, 3.4e37);",
               "y = constant(shape = [1], value = [3.4e+38]);\n"},
              {"k = tract_core_cast([10], to = 'f32'); y = mul(k, 3.5e37);",
               "y_constant = constant(shape = [1], value = [10.0]);\n"
               "y = mul(y_constant, 3.5e+37);\n"
               "`x` of `mul` is an array; expected a tensor [lenient.array-for-tensor]\n"}},
             FromTract);
}

}  // namespace
}  // namespace nnefc::expand::vendor
