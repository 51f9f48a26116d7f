// Operations of tract's dialect in their ratified form, and values that expansion computes from extents.

#include <gtest/gtest.h>

#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc {
namespace {

// Returns the statements of the ratified document, then the messages. `s` holds the extents [1,4,6,5] of `x`,
// `n` is an open extent.
std::string FromTract(std::string_view statements) {
  Expansion expansion(
      "version 1.0;\n"
      "extension tract_registry tract_core;\n"
      "extension tract_symbol N;\n"
      "graph g( x, v, i, b, o ) -> ( y )\n"
      "{\n"
      "    x = tract_core_external(shape = [1,4,6,5], datum_type = 'f32');\n"
      "    v = tract_core_external(shape = [3], datum_type = 'f32');\n"
      "    i = tract_core_external(shape = [3], datum_type = 'i64');\n"
      "    b = tract_core_external(shape = [3], datum_type = 'bool');\n"
      "    o = tract_core_external(shape = [N,3], datum_type = 'f32');\n"
      "    s = tract_core_shape_of(x);\n"
      "    n = squeeze(slice(tract_core_shape_of(o), axes = [0], begin = [0], end = [1]), axes = [0]);\n" +
      std::string(statements) +
      "\n"
      "}\n");
  return StatementsOf(expansion);
}

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

// The value of `s` is [1,4,6,5].
TEST(TractTest, ValuesOfExtents) {
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
        "`end` of `slice` depends on an extent that an external leaves open; give it with `--input-shape` "
        "[shape-of.unspecified-extent]\n"
        "`input` of `slice` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = slice(s, axes = [0], begin = [n], end = [4]);",
        "`begin` of `slice` depends on an extent that an external leaves open; give it with `--input-shape` "
        "[shape-of.unspecified-extent]\n"
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

TEST(TractTest, ArithmeticOfExtents) {
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
       {"y = add(s, true);",
        "`y` of `add` is of type logical; expected scalar [node.input-type]\n"
        "`x` of `add` is an array; expected a tensor [lenient.array-for-tensor]\n"},
       {"y = lt(s, 5);", "y = constant<logical>(shape = [4], value = [true, true, false, false]);\n"},
       {"y = lt(s, 4.5);", "y = constant<logical>(shape = [4], value = [true, true, false, false]);\n"},
       {"y = min(s, 5);", "y = constant<integer>(shape = [4], value = [1, 4, 5, 5]);\n"},
       {"y = max(5, s);", "y = constant<integer>(shape = [4], value = [5, 5, 6, 5]);\n"},
       {"y = min(s, 4.5);",
        "y_constant = constant(shape = [4], value = [1.0, 4.0, 6.0, 5.0]);\n"
        "y = min(y_constant, 4.5);\n"
        "`x` of `min` is an array; expected a tensor [lenient.array-for-tensor]\n"},
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

TEST(TractTest, Ranges) {
  ExpectRows({{"y = tract_core_range(0, 4, 1);",
               "y = constant<integer>(shape = [4], value = [0, 1, 2, 3]);\n"
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"},
              {"y = tract_core_range(0, 5, 2);",
               "y = constant<integer>(shape = [3], value = [0, 2, 4]);\n"
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"},
              {"y = tract_core_range(3, 0, -1);",
               "y = constant<integer>(shape = [3], value = [3, 2, 1]);\n"
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"},
              {"y = tract_core_range(0, 1, 1);",
               "y = constant<integer>(shape = [1], value = [0]);\n"
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"},
              {"y = tract_core_range(0.0, 1.0, 0.25);",
               "y = constant(shape = [4], value = [0.0, 0.25, 0.5, 0.75]);\n"
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"},
              {"y = tract_core_range(0, 0, 1);",
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"
               "`tract_core_range` from 0 to 0 in steps of 1 makes no numbers [value.type]\n"},
              {"y = tract_core_range(0, -1, 1);",
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"
               "`tract_core_range` from 0 to -1 in steps of 1 makes no numbers [value.type]\n"},
              {"y = tract_core_range(0, 4, 0);",
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"
               "`step` of `tract_core_range` is 0 [arithmetic.division-by-zero]\n"},
              {"y = tract_core_range(0, n, 1);",
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"
               "this extent is left open by an external; give it with `--input-shape` "
               "[shape-of.unspecified-extent]\n"},
              {"y = tract_core_range(0, 1, i);",
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"
               "`step` of `tract_core_range` is a tensor; expected a number known during compilation "
               "[value.type]\n"},
              {"y = tract_core_range(-9223372036854775807, 9223372036854775807, 1);",
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"
               "`tract_core_range` from -9.223372036854776e+18 to 9.223372036854776e+18 in steps of 1 makes "
               "too many numbers [value.type]\n"},
              {"y = tract_core_range(9223372036854775805, 9223372036854775807, 1);",
               "y = constant<integer>(shape = [2], value = [9223372036854775805, 9223372036854775806]);\n"
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"}},
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
               "attribute `start` of `tract_core_range` is given by its position (the first of 3 places) "
               "[lenient.positional-attribute]\n"
               "`start` of `tract_core_range` is a whole number; expected `?` [lenient.number-type]\n"}},
             FromTract);
}

}  // namespace
}  // namespace nnefc
