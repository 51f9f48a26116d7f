#include "tools/nnefc/operation_examples.h"

namespace nnefc::cli {
namespace {

constexpr OperationExample kExamples[] = {
    {"abs", "y = |x|", ""},
    {"acos", "the angle in [0, pi] whose cosine is x", ""},
    {"acosh", "y = log(x + sqrt(x^2 - 1))", ""},
    {"add", "z = x + y; extents of 1 are stretched, leading axes aligned", ""},
    {"add_n", "the sum of all", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    t = exp(x);
    y = add_n([x, t, x]);
}
)"},
    {"all_reduce", "true where all over `axes` are", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external<logical>(shape = [1, 3, 8, 8]);
    y = all_reduce(x, axes = [2, 3]);
}
)"},
    {"and", "true where both are", ""},
    {"any_reduce", "true where one over `axes` is", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external<logical>(shape = [1, 3, 8, 8]);
    y = any_reduce(x, axes = [2, 3]);
}
)"},
    {"area_downsample", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = area_downsample(x, factor = [2, 2]);
}
)"},
    {"argmax_pool", "for each window the place of its highest element, counted within the window",
     R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    i = argmax_pool(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
                    stride = [1, 1, 2, 2]);
    y = sample(x, i, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
               stride = [1, 1, 2, 2]);
}
)"},
    {"argmax_reduce", "the place of the highest over `axes`, the first of equals", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = argmax_reduce(x, axes = [2, 3]);
}
)"},
    {"argmin_reduce", "the place of the lowest over `axes`, the first of equals", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = argmin_reduce(x, axes = [2, 3]);
}
)"},
    {"asin", "the angle in [-pi/2, pi/2] whose sine is x", ""},
    {"asinh", "y = log(x + sqrt(x^2 + 1))", ""},
    {"atan", "the angle in (-pi/2, pi/2) whose tangent is x", ""},
    {"atanh", "y = log((1 + x) / (1 - x)) / 2", ""},
    {"avg_pool", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = avg_pool(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
                 stride = [1, 1, 2, 2]);
}
)"},
    {"avg_roi_align", "", R"(version 1.0;

graph net( x, rois, index ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    rois = external(shape = [5, 4]);
    index = external<integer>(shape = [5, 1]);
    y = avg_roi_align(x, rois, index, output_size = [2, 2], sampling_rate = [2, 2]);
}
)"},
    {"avg_roi_pool",
     "the mean over each cell of a grid of `output_size` on the region (x0, y0, x1, y1) of image "
     "batch_index[i]",
     R"(version 1.0;

graph net( x, rois, index ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    rois = external(shape = [5, 4]);
    index = external<integer>(shape = [5, 1]);
    y = avg_roi_pool(x, rois, index, output_size = [2, 2]);
}
)"},
    {"batch_normalization", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    mean = variable(shape = [1, 3], label = 'mean');
    variance = variable(shape = [1, 3], label = 'variance');
    offset = variable(shape = [1, 3], label = 'offset');
    scale = variable(shape = [1, 3], label = 'scale');
    y = batch_normalization(x, mean, variance, offset, scale, epsilon = 0.001);
}
)"},
    {"box",
     "the sum over a window of `size`, which spans batch and channels too; with `normalize` divided by its "
     "volume",
     R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = box(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
            stride = [1, 1, 2, 2]);
}
)"},
    {"cast",
     "elements of another type: the closest smaller integer, a logical as 0 or 1, what is not 0 as true",
     R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external<integer>(shape = [1, 4]);
    y = cast<scalar>(x);
}
)"},
    {"ceil", "the least integer that is at least x", ""},
    {"clamp", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = clamp(x, 0.0, 6.0);
}
)"},
    {"concat", "the values one behind the other along `axis`", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 6]);
    t = exp(x);
    y = concat([x, t], axis = 1);
}
)"},
    {"constant", "the numbers of `value` in row-major order, or one for all elements", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    c = constant(shape = [1, 4], value = [1.0, 2.0, 3.0, 4.0]);
    y = mul(x, c);
}
)"},
    {"conv",
     "output[b,f,i] = bias[f] + the sum over c, k of input[b, c, i*stride + k*dilation - p] * "
     "filter[f,c,k]\nwhere p is the padding before; an axis of extent n with kernel k has the output "
     "extent\n(p + n + q - (k-1)*dilation - 1) / stride + 1; with `groups` the channels are parts by "
     "themselves,\n`groups = 0` is a part for each; `border` tells what lies beyond the input; `padding = "
     "[]` gives the extent n / stride, rounded up",
     R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    w = variable(shape = [16, 3, 3, 3], label = 'w');
    y = conv(x, w, padding = [(1, 1), (1, 1)], stride = [2, 2]);
}
)"},
    {"copy", "y = x", ""},
    {"copy_n", "the tensor itself, `times` times", R"(version 1.0;

graph net( x ) -> ( y, z )
{
    x = external(shape = [1, 4]);
    [y, z] = copy_n(x, times = 2);
}
)"},
    {"cos", "y = cos x", ""},
    {"cosh", "y = (e^x + e^-x) / 2", ""},
    {"debox", "the transposition of box: each element is added to its window of the output", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = debox(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
              stride = [1, 1, 2, 2]);
}
)"},
    {"deconv",
     "the transposition of conv: each input[b,c,i] adds input * filter[c,f,k] to output[b, f, i*stride + "
     "k*dilation - p];\nan axis of extent n has the output extent (n-1)*stride + (k-1)*dilation + 1 - p - q, "
     "unless `output_shape` tells it",
     R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    w = variable(shape = [3, 16, 2, 2], label = 'w');
    y = deconv(x, w, padding = [(0, 0), (0, 0)], stride = [2, 2]);
}
)"},
    {"desample",
     "each element goes to the place of its window that `index` names; where several meet they are added, "
     "elsewhere is 0",
     R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    p, i = max_pool_with_index(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
                               stride = [1, 1, 2, 2]);
    y = desample(p, i, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
                 stride = [1, 1, 2, 2]);
}
)"},
    {"div", "z = x / y; extents of 1 are stretched, leading axes aligned", ""},
    {"elu", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = elu(x);
}
)"},
    {"eq", "z = x == y; extents of 1 are stretched, leading axes aligned", ""},
    {"exp", "y = e^x", ""},
    {"external", "data that are given when the graph is run", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = relu(x);
}
)"},
    {"floor", "the greatest integer that is at most x", ""},
    {"gather", "the elements of `axis` that `indices` names, whose axes stand in its place", R"(version 1.0;

graph net( x, i ) -> ( y )
{
    x = external(shape = [1, 6]);
    i = external<integer>(shape = [3]);
    y = gather(x, i, axis = 1);
}
)"},
    {"ge", "z = x >= y; extents of 1 are stretched, leading axes aligned", ""},
    {"gelu", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = gelu(x);
}
)"},
    {"gt", "z = x > y; extents of 1 are stretched, leading axes aligned", ""},
    {"if_else",
     "the results of then_body(inputs..) where `condition` holds, of else_body(inputs..) otherwise",
     R"(version 1.0;
extension KHR_enable_fragment_definitions;
extension NNEFC_control_flow;

fragment twice( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = add(x, x);
}

fragment same( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = copy(x);
}

graph net( x, wanted ) -> ( y )
{
    x = external(shape = [1, 4]);
    wanted = external<logical>(shape = [1]);
    [y] = if_else(wanted, [x], then_body = 'twice', else_body = 'same');
}
)"},
    {"l1_normalization", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = l1_normalization(x, axes = [1]);
}
)"},
    {"l2_normalization", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = l2_normalization(x, axes = [1]);
}
)"},
    {"le", "z = x <= y; extents of 1 are stretched, leading axes aligned", ""},
    {"leaky_relu", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = leaky_relu(x, alpha = 0.1);
}
)"},
    {"linear", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    w = variable(shape = [2, 4], label = 'w');
    y = linear(x, w);
}
)"},
    {"linear_quantize", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = linear_quantize(x, 0.0, 1.0, bits = 8);
}
)"},
    {"local_contrast_normalization", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = local_contrast_normalization(x, size = [1, 1, 3, 3], epsilon = 0.001);
}
)"},
    {"local_mean_normalization", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = local_mean_normalization(x, size = [1, 1, 3, 3]);
}
)"},
    {"local_response_normalization", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = local_response_normalization(x, size = [1, 5, 1, 1]);
}
)"},
    {"local_variance_normalization", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = local_variance_normalization(x, size = [1, 1, 3, 3], epsilon = 0.001);
}
)"},
    {"log", "the natural logarithm of x", ""},
    {"logarithmic_quantize", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = logarithmic_quantize(x, 1.0, bits = 8);
}
)"},
    {"lt", "z = x < y; extents of 1 are stretched, leading axes aligned", ""},
    {"matmul",
     "C[..,i,j] = the sum over k of A[..,i,k] * B[..,k,j]; transposed ones with their last two axes "
     "exchanged",
     R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    w = variable(shape = [4, 2], label = 'w');
    y = matmul(x, w);
}
)"},
    {"max_pool", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = max_pool(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
                 stride = [1, 1, 2, 2]);
}
)"},
    {"max_pool_with_index", "", R"(version 1.0;

graph net( x ) -> ( y, i )
{
    x = external(shape = [1, 3, 8, 8]);
    y, i = max_pool_with_index(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
                               stride = [1, 1, 2, 2]);
}
)"},
    {"max_reduce", "the highest over `axes`, whose extents become 1", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = max_reduce(x, axes = [2, 3]);
}
)"},
    {"max_roi_align", "", R"(version 1.0;

graph net( x, rois, index ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    rois = external(shape = [5, 4]);
    index = external<integer>(shape = [5, 1]);
    y = max_roi_align(x, rois, index, output_size = [2, 2], sampling_rate = [2, 2]);
}
)"},
    {"max_roi_pool",
     "the highest of each cell of a grid of `output_size` on the region (x0, y0, x1, y1) of image "
     "batch_index[i]",
     R"(version 1.0;

graph net( x, rois, index ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    rois = external(shape = [5, 4]);
    index = external<integer>(shape = [5, 1]);
    y = max_roi_pool(x, rois, index, output_size = [2, 2]);
}
)"},
    {"mean_reduce", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = mean_reduce(x, axes = [2, 3]);
}
)"},
    {"min_max_linear_quantize", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = min_max_linear_quantize(x, 0.0, 1.0, bits = 8, signed = false, symmetric = false);
}
)"},
    {"min_reduce", "the lowest over `axes`, whose extents become 1", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = min_reduce(x, axes = [2, 3]);
}
)"},
    {"moments", "", R"(version 1.0;

graph net( x ) -> ( y, z )
{
    x = external(shape = [1, 3, 8, 8]);
    y, z = moments(x, axes = [2, 3]);
}
)"},
    {"mul", "z = x * y; extents of 1 are stretched, leading axes aligned", ""},
    {"multilinear_upsample",
     "linear interpolation along each spatial axis; `method` tells where output i lies in the input, f the "
     "factor:\n'symmetric' (i + 0.5) / f - 0.5, 'asymmetric' i / f, 'aligned' i * (n - 1) / (n*f - 1)",
     R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = multilinear_upsample(x, factor = [2, 2], method = 'asymmetric', border = 'replicate');
}
)"},
    {"ne", "z = x != y; extents of 1 are stretched, leading axes aligned", ""},
    {"nearest_downsample", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = nearest_downsample(x, factor = [2, 2]);
}
)"},
    {"nearest_upsample", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = nearest_upsample(x, factor = [2, 2]);
}
)"},
    {"neg", "y = -x", ""},
    {"not", "true where x is false", ""},
    {"or", "true where one is", ""},
    {"pad",
     "padding[i] elements before and behind axis i; `border` is 'constant' (`value`), 'replicate', 'reflect' "
     "or 'reflect-even'",
     R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = pad(x, padding = [(0, 0), (0, 0), (1, 1), (1, 1)], border = 'replicate');
}
)"},
    {"pow", "z = x^y; extents of 1 are stretched, leading axes aligned", ""},
    {"prelu", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = prelu(x, 0.1);
}
)"},
    {"rcp", "y = 1 / x", ""},
    {"relu", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = relu(x);
}
)"},
    {"reshape",
     "the same elements in row-major order; `0` in `shape` keeps an extent, `-1` is what "
     "remains;\n`axis_start` and `axis_count` tell which axes are replaced",
     R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = reshape(x, shape = [0, -1]);
}
)"},
    {"rms_pool", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = rms_pool(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
                 stride = [1, 1, 2, 2]);
}
)"},
    {"roi_resample", "the region resized to `output_size` by linear interpolation", R"(version 1.0;

graph net( x, rois, index ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    rois = external(shape = [5, 4]);
    index = external<integer>(shape = [5, 1]);
    y = roi_resample(x, rois, index, output_size = [2, 2]);
}
)"},
    {"round", "the nearest integer; halves go away from zero", ""},
    {"sample", "for each window the element that `index` names, as argmax_pool counts", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    i = argmax_pool(x, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
                    stride = [1, 1, 2, 2]);
    y = sample(x, i, size = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)],
               stride = [1, 1, 2, 2]);
}
)"},
    {"select", "true_value where condition holds, false_value elsewhere", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    positive = gt(x, 0.0);
    y = select(positive, x, 0.0);
}
)"},
    {"selu", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = selu(x);
}
)"},
    {"separable_conv", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    plane = variable(shape = [3, 1, 3, 3], label = 'plane');
    point = variable(shape = [16, 3, 1, 1], label = 'point');
    y = separable_conv(x, plane, point, padding = [(1, 1), (1, 1)]);
}
)"},
    {"separable_deconv", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 16, 8, 8]);
    plane = variable(shape = [3, 1, 3, 3], label = 'plane');
    point = variable(shape = [16, 3, 1, 1], label = 'point');
    y = separable_deconv(x, plane, point, padding = [(1, 1), (1, 1)]);
}
)"},
    {"sigmoid", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = sigmoid(x);
}
)"},
    {"sign", "-1, 0 or 1", ""},
    {"silu", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = silu(x);
}
)"},
    {"sin", "y = sin x", ""},
    {"sinh", "y = (e^x - e^-x) / 2", ""},
    {"slice",
     "elements `begin` to `end` (exclusive) of each of `axes`, in steps of `stride`; negative ones count "
     "from the end,\nand `end = 0` is the end of the axis",
     R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = slice(x, axes = [2, 3], begin = [1, 1], end = [-1, 0]);
}
)"},
    {"softmax", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = softmax(x);
}
)"},
    {"softplus", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = softplus(x);
}
)"},
    {"split", "parts along `axis`, whose extents are as `ratios`", R"(version 1.0;

graph net( x ) -> ( y, z )
{
    x = external(shape = [1, 6]);
    [y, z] = split(x, axis = 1, ratios = [1, 2]);
}
)"},
    {"squeeze", "without the axes named, whose extents are 1", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 1, 1]);
    y = squeeze(x, axes = [2, 3]);
}
)"},
    {"stack", "the values one behind the other along a new axis", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 6]);
    t = exp(x);
    y = stack([x, t], axis = 0);
}
)"},
    {"sub", "z = x - y; extents of 1 are stretched, leading axes aligned", ""},
    {"sum_reduce", "the sum over `axes`, whose extents become 1; with `normalize` the mean", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = sum_reduce(x, axes = [2, 3]);
}
)"},
    {"tan", "y = tan x", ""},
    {"tanh", "y = sinh x / cosh x", ""},
    {"tensor_iterator", "merged = body(part i of sliced.., merged.., invariant..) for each part in turn",
     R"(version 1.0;
extension KHR_enable_fragment_definitions;
extension NNEFC_control_flow;

# Adds a row to what was summed before, and returns the sum twice: to go on with, and to be kept.
fragment step(
    row: tensor<scalar>,
    sum: tensor<scalar> )
-> ( next: tensor<scalar>, kept: tensor<scalar> )
{
    next = add(sum, row);
    kept = copy(next);
}

graph net( x ) -> ( last, sums )
{
    x = external(shape = [5, 4]);
    zero = constant(shape = [1, 4], value = [0.0]);
    [last, sums] = tensor_iterator([x], [zero], [], body = 'step', slice_axes = [0],
                                   concat_axes = [0]);
}
)"},
    {"tile", "repeats[i] copies along axis i", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = tile(x, repeats = [1, 2, 1, 1]);
}
)"},
    {"transpose", "axis i of the result is axis `axes[i]` of the input; axes not named stay", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3, 8, 8]);
    y = transpose(x, axes = [0, 2, 3, 1]);
}
)"},
    {"unsqueeze", "with axes of extent 1 where `axes` counts them in the result", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 3]);
    y = unsqueeze(x, axes = [2, 3]);
}
)"},
    {"unstack", "a result for each place of `axis`, which is gone", R"(version 1.0;

graph net( x ) -> ( y, z )
{
    x = external(shape = [2, 6]);
    [y, z] = unstack(x, axis = 0);
}
)"},
    {"update", "the variable holds `value` when the next run begins; the result is `value`", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    state = variable(shape = [1, 4], label = 'state');
    next = add(state, x);
    y = update(state, next);
}
)"},
    {"variable", "data of the file `<label>.dat` in the folder of the model", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    w = variable(shape = [2, 4], label = 'layer/w');
    y = linear(x, w);
}
)"},
    {"zero_point_linear_quantize", "", R"(version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [1, 4]);
    y = zero_point_linear_quantize(x, 0, 0.1, bits = 8, signed = true, symmetric = false);
}
)"},
};

}  // namespace

llvm::ArrayRef<OperationExample> OperationExamples() {
  return kExamples;
}

}  // namespace nnefc::cli
