"""Single mistakes that newcomers make in documents, from habits of other frameworks and the shape of the grammar.

Each replaces a part of the valid DOCUMENT by another. It states the content of the first message (a regular
expression), and whether `check --fix` must make the document valid: always, only with `--unsafe-fixes` (UNSAFE), or not
at all.
"""

from __future__ import annotations

import dataclasses

DOCUMENT = """\
version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;

# A block of a network.
fragment block( x: tensor<scalar>, filter: tensor<scalar>, size: integer = 1 ) -> ( y: tensor<scalar> )
{
    z = conv(x, filter, padding = [(1,1), (1,1)], stride = [size, size]);
    y = relu(z);
}

graph net( image ) -> ( probabilities )
{
    image = external<scalar>(shape = [1, 3, 32, 32]);
    filter1 = variable<scalar>(shape = [16, 3, 3, 3], label = 'filter1');
    bias1 = variable<scalar>(shape = [1, 16], label = 'bias1');
    weights = variable<scalar>(shape = [10, 16], label = 'weights');
    hidden = block(image, filter1, size = 2);
    biased = hidden + 1.0;
    conv1 = conv(image, filter1, bias1, padding = [(1,1), (1,1)], stride = [1, 1], border = 'constant');
    norm1 = l2_normalization(conv1, axes = [1], epsilon = 0.001);
    pooled = max_pool(conv1, size = [1, 1, 2, 2], padding = [(0,0), (0,0), (0,0), (0,0)], stride = [1, 1, 2, 2]);
    mean = mean_reduce(pooled, axes = [2, 3]);
    flat = reshape(mean, shape = [1, 16]);
    scores = linear(flat, weights);
    product = matmul(flat, weights, transposeB = true);
    joined = concat([scores, product], axis = 1);
    [left, right] = split(joined, axis = 1, ratios = [1, 1]);
    probabilities = softmax(scores, axes = [1]);
}
"""


@dataclasses.dataclass(frozen=True)
class Mistake:
    right: str
    wrong: str
    message: str
    fixed: bool | str = True

    def document(self) -> str:
        assert DOCUMENT.count(self.right) >= 1, self.right
        return DOCUMENT.replace(self.right, self.wrong, 1)


def _names(*pairs: tuple[object, ...]) -> list[Mistake]:
    return [Mistake(*pair) for pair in pairs]


UNSAFE = "unsafe"
SOFTMAX = "softmax(scores, axes = [1])"
RELU = "relu(z)"

TYPES = _names(
    ("external<scalar>", "external<float>", "`float` is not a type; did you mean `scalar`", True),
    ("external<scalar>", "external<float32>", "`float32` is not a type; did you mean `scalar`", True),
    ("variable<scalar>", "variable<double>", "`double` is not a type; did you mean `scalar`", True),
    ("size: integer", "size: int", "`int` is not a type; did you mean `integer`", True),
    ("size: integer", "size: int64", "`int64` is not a type; did you mean `integer`", True),
    ("tensor<scalar>", "tensor<f32>", "`f32` is not a type; did you mean `scalar`", True),
    ("tensor<scalar>", "Tensor<scalar>", "`Tensor`.*`tensor`", True),
    ("size: integer", "size: Integer", "`Integer` is not a type; did you mean `integer`", True),
    ("external<scalar>", "external<sclaar>", "`sclaar` is not a type; did you mean `scalar`", True),
    ("external<scalar>", "external<scaler>", "`scaler` is not a type; did you mean `scalar`", False),
    ("size: integer = 1", "size: bool = 1", "`bool` is not a type; did you mean `logical`", False),
)

OPERATIONS = _names(
    (RELU, "ReLU(z)", "`ReLU`; did you mean `relu`", True),
    (RELU, "Relu(z)", "`Relu`; did you mean `relu`", True),
    (RELU, "relu6(z)", "`relu6`.*clamp", False),
    ("conv(image,", "conv2d(image,", "`conv2d`; did you mean `conv`", True),
    ("conv(image,", "Conv(image,", "`Conv`; did you mean `conv`", True),
    ("conv(image,", "convolution(image,", "`convolution`; did you mean `conv`", True),
    ("max_pool(", "MaxPool2d(", "`MaxPool2d`; write `max_pool\\(", False),
    ("max_pool(", "maxpool(", "`maxpool`; write `max_pool\\(", False),
    ("mean_reduce(pooled, axes = [2, 3])", "global_average_pool(pooled)", "mean_reduce\\(x, axes = \\[2,3\\]\\)", False),
    ("mean_reduce(", "reduce_mean(", "`reduce_mean`; write `mean_reduce\\(x, axes", False),
    ("mean_reduce(", "mean(", "`mean`; write `mean_reduce\\(x, axes.*extent 1.*`add_n.*ONNX", False),
    ("reshape(mean, shape = [1, 16])", "flatten(mean)", "`flatten`; write `reshape", False),
    ("reshape(mean", "view(mean", "`view`; did you mean `reshape`", True),
    ("linear(flat, weights)", "dense(flat, weights)", "`dense`; write `matmul\\(x, kernel\\) \\+ bias`; `linear", False),
    ("linear(flat, weights)", "gemm(flat, weights)", "`gemm`; write `matmul\\(x, y\\) \\+ z`; `linear", False),
    ("linear(flat, weights)", "Linear(flat, weights)", "`Linear`; did you mean `linear`", True),
    ("matmul(", "mat_mul(", "`mat_mul`; did you mean `matmul`", True),
    ("matmul(", "MatMul(", "`MatMul`; did you mean `matmul`", True),
    ("concat([", "concatenate([", "`concatenate`; did you mean `concat`", True),
    ("concat([scores, product], axis = 1)", "cat([scores, product], axis = 1)", "`cat`; did you mean `concat`", True),
    (SOFTMAX, "Softmax(scores, axes = [1])", "`Softmax`; did you mean `softmax`", True),
    (SOFTMAX, "sofmax(scores, axes = [1])", "`sofmax`; did you mean `softmax`", True),
    (SOFTMAX, "dropout(scores)", "`dropout`; write `copy\\(x\\)`; a network that is run drops nothing", False),
    (SOFTMAX, "batch_norm(scores)", "`batch_norm`; write `batch_normalization\\(x, mean, variance, offset, scale", False),
    (SOFTMAX, "upsample(scores)", "`upsample`; write `nearest_upsample", False),
    (SOFTMAX, "sum(scores, axes = [1])", "`sum`; write `sum_reduce\\(x, axes", False),
    (SOFTMAX, "permute(scores, axes = [1, 0])", "`permute`; did you mean `transpose`", True),
    (SOFTMAX, "multiply(scores, 2.0)", "`multiply`; did you mean `mul`", True),
    (SOFTMAX, "swish(scores)", "`swish`; did you mean `silu`", True),
    (SOFTMAX, "where(scores > 0.0, scores, 0.0)", "`where`; did you mean `select`", True),
    (SOFTMAX, "identity(scores)", "`identity`; write `copy\\(x\\)`", False),
    (SOFTMAX, "clip(scores, 0.0, 1.0)", "`clip`; write `clamp\\(x, low, high", False),
    ("external<scalar>(", "input(", "`input`; `external", False),
    ("external<scalar>(", "placeholder(", "`placeholder`; `external", False),
)

PARAMETERS = _names(
    ("axes = [1])", "axis = 1)", "no parameter `axis`; did you mean `axes`"),
    ("axes = [1])", "dim = 1)", "no parameter `dim`; did you mean `axes`"),
    ("stride = [1, 1],", "strides = [1, 1],", "no parameter `strides`; did you mean `stride`", True),
    ("padding = [(1,1), (1,1)], stride = [1, 1]", "pads = [(1,1), (1,1)], stride = [1, 1]", "`pads`; did you mean `padding`", True),
    ("padding = [(1,1), (1,1)], stride = [1, 1]", "pad = [(1,1), (1,1)], stride = [1, 1]", "`pad`; did you mean `padding`", True),
    ("size = [1, 1, 2, 2]", "kernel_size = [1, 1, 2, 2]", "`kernel_size`; did you mean `size`.*each dimension"),
    ("padding = [(1,1), (1,1)], stride = [1, 1]", "kernel_size = [3, 3], stride = [1, 1]", "`kernel_size`; the extents of `filter`", False),
    ("transposeB", "transpose_b", "`transpose_b`; did you mean `transposeB`", True),
    ("transposeB", "trans_b", "`trans_b`; did you mean `transposeB`", True),
    ("epsilon", "eps", "`eps`; did you mean `epsilon`", True),
    ("label = 'filter1'", "name = 'filter1'", "`name`; did you mean `label`", True),
    ("shape = [1, 16])", "newshape = [1, 16])", "`newshape`; did you mean `shape`", True),
    ("shape = [1, 3, 32, 32]", "shape = [1, 3, 32, 32], dtype = 'float32'", "`dtype`; the type stands", False),
    ("Shape = [1, 3, 32, 32]".replace("S", "s"), "Shape = [1, 3, 32, 32]", "`Shape`; did you mean `shape`", True),
    ("stride = [1, 1],", "stride = [1, 1], activation = 'relu',", "`activation`; an activation is an operation", False),
    ("stride = [1, 1],", "stride = [1, 1], group = 1,", "`group`; did you mean `groups`", True),
    ("stride = [1, 1],", "stride = [1, 1], dilations = [1, 1],", "`dilations`; did you mean `dilation`", True),
    ("size = 2)", "sise = 2)", "`sise`; did you mean `size`", False),
    ("size = 2)", "szie = 2)", "`szie`; did you mean `size`", True),
    ("axes = [2, 3])", "axes = [2, 3], keepdims = true)", "`keepdims`; a reduction keeps"),
)

VALUES = _names(
    ("axes = [1])", "axes = 1)", "expected `integer\\[\\]`", True),
    ("stride = [1, 1],", "stride = (1, 1),", "expected `integer\\[\\]`; an array stands in", True),
    ("shape = [1, 3, 32, 32]", "shape = (1, 3, 32, 32)", "expected `integer\\[\\]`; an array stands in", True),
    ("stride = [1, 1],", "stride = 1,", "expected `integer\\[\\]`"),
    ("padding = [(1,1), (1,1)], stride = [1, 1]", "padding = [1, 1], stride = [1, 1]", "each item is a pair", UNSAFE),
    ("padding = [(1,1), (1,1)], stride = [1, 1]", "padding = [[1,1], [1,1]], stride = [1, 1]", "each item is a pair", True),
    ("padding = [(1,1), (1,1)], stride = [1, 1]", "padding = ((1,1), (1,1)), stride = [1, 1]", "an array stands in", True),
    ("padding = [(1,1), (1,1)], stride = [1, 1]", "padding = 'same', stride = [1, 1]", "`padding = \\[\\]` pads so"),
    ("padding = [(1,1), (1,1)], stride = [1, 1]", "padding = 'VALID', stride = [1, 1]", "pads nothing"),
    ("border = 'constant'", "border = constant", "undefined name `constant`; a string stands in quotes", True),
    ("label = 'bias1'", "label = bias1_data", "undefined name `bias1_data`; a string stands in quotes", True),
    ("transposeB = true", "transposeB = True", "`True`; did you mean `true`", True),
    ("transposeB = true", "transposeB = 1", "expected `logical`", True),
    ("transposeB = true", "transposeB = 'true'", "expected `logical`"),
    ("filter1, bias1, padding", "filter1, None, padding", "`None`; there is no such value", False),
    ("+ 1.0", "+ 1", "`integer`", True),
    ("epsilon = 0.001", "epsilon = 1", "expected `scalar`", True),
    ("stride = [1, 1],", "stride = [1.0, 1.0],", "expected `integer\\[\\]`", True),
    ("epsilon = 0.001", "epsilon = .001", "expected a digit before the decimal point", True),
    ("+ 1.0", "+ 1.", "expected a digit after the decimal point", True),
    ("+ 1.0", "+ 1.0f", "write `1.0`", True),
    ("shape = [1, 3, 32, 32]", "shape = [1, 3, 0x20, 32]", "write `32`", True),
    ("shape = [1, 3, 32, 32]", "shape = '1,3,32,32'", "expected `integer\\[\\]`", False),
    ("softmax(scores, axes", "softmax(score, axes", "undefined name `score`; did you mean `scores`", UNSAFE),
    ("= relu(z)", "= relu", "undefined name `relu`; the operation is invoked", False),
    ("linear(flat, weights)", "linear(flat, weight)", "undefined name `weight`; did you mean `weights`", UNSAFE),
)

SYNTAX = _names(
    (" = relu(z);", " = relu(z)", "expected `;`", True),
    ("hidden + 1.0", "(hidden + 1.0", "expected `\\)`", UNSAFE),
    ("hidden + 1.0", "hidden + 1.0)", "`\\)` closes no bracket", UNSAFE),
    ("stride = [1, 1],", "kernel = [1, 1],", "`kernel`; did you mean `filter`", False),
    ("block(image, filter1,", "block(image,, filter1,", "nothing stands between", UNSAFE),
    ("graph net", "grapf net", "expected `graph`, found `grapf`", False),
    ("relu(z);", "relu(z;", "expected `\\)` to close the arguments of `relu`", True),
    ("relu(z);", "relu(z));", "`\\)` closes no bracket", True),
    ("shape = [1, 3, 32, 32])", "shape = [1, 3, 32, 32)", "expected `\\]` to close the array", True),
    ("shape = [1, 3, 32, 32]", "shape = [1, 3, 32, 32,]", "nothing stands between the `,` and `\\]`", True),
    ("filter1, size = 2)", "filter1, size = 2,)", "nothing stands between the `,` and `\\)`", True),
    ("block(image, filter1,", "block(image filter1,", "expected `,` before `filter1`", True),
    ("[1, 3, 32, 32]", "[1 3, 32, 32]", "expected `,` before `3`", True),
    ("shape = [1, 3, 32, 32]", "shape: [1, 3, 32, 32]", "an argument is given with `=`", True),
    ("shape = [1, 3, 32, 32]", "shape [1, 3, 32, 32]", "expected `\\]` to close the subscript|`=`", False),
    ("# A block of a network.", "// A block of a network.", "`//` begins no comment", True),
    ("# A block of a network.", "/* A block of a network. */", "`/\\*` begins no comment", True),
    ("# A block of a network.", "/* A block\n * of a network.\n */", "`/\\*` begins no comment", True),
    ("hidden + 1.0", "hidden ** 2.0", "`x \\^ n`", True),
    ("hidden + 1.0", "hidden > 1.0 and hidden < 2.0", "`a and b` is written `a && b`", True),
    ("hidden + 1.0", "hidden > 1.0 or hidden < 0.0", "`a or b` is written `a \\|\\| b`", True),
    ("hidden + 1.0", "hidden % 2.0", "there is no remainder", False),
    ("flat = reshape(mean, shape = [1, 16])", "flat = 1.0 ? mean : pooled", "`a if c else b`", False),
    ("probabilities = softmax(scores, axes = [1]);", "probabilities = softmax(scores, axes = [1]);\n    return probabilities;",
     "there is no `return`", UNSAFE),
    ("hidden = block", "hidden := block", "an assignment is written with `=`", True),
    ("hidden = block", "let hidden = block", "`let` begins no assignment", True),
    ("hidden = block", "tensor hidden = block", "an assignment declares no type", True),
    ("hidden = block", "hidden == block", "an assignment is written with `=`", True),
    ("hidden = block", "hidden block", "expected `=` after `hidden`", True),
    ("hidden = block", "hidden <- block", "an assignment is written with `=`", True),
    ("fragment block", "def block", "expected `fragment`, found `def`", True),
    ("fragment block", "function block", "expected `fragment`, found `function`", True),
    ("graph net", "grpah net", "expected `graph`, found `grpah`", True),
    ("graph net", "network net", "expected `graph`, found `network`", True),
    ("graph net( image ) -> ( probabilities )", "graph net( image ) -> probabilities", "the results stand in parentheses", True),
    ("graph net( image ) -> ( probabilities )", "graph net( image ) ( probabilities )", "expected `->`", True),
    ("graph net( image ) -> ( probabilities )", "graph net( image ) => ( probabilities )", "the arrow is written `->`", True),
    ("graph net( image )", "graph net( image: tensor<scalar> )", "names alone", True),
    ("graph net( image )", "graph net( image: tensor<integer> )", "names alone", UNSAFE),
    ("size: integer = 1", "size = 1", "expected `:` and a type after the parameter `size`", False),
    ("version 1.0;", "verison 1.0;", "expected `version`, found `verison`", True),
    ("version 1.0;", "version 1;", "version `1` is not supported", True),
    ("extension KHR", "extention KHR", "expected `extension`, found `extention`", False),
    ("extension KHR", "extenssion KHR", "expected `extension`, found `extenssion`", True),
    ("KHR_enable_operator_expressions", "KHR_enable_operator_expression", "did you mean `KHR_enable_operator_expressions`", True),
    ("KHR_enable_operator_expressions", "KHR_enable_operator_expressoins", "did you mean `KHR_enable_operator_expressions`", True),
    ("KHR_enable_operator_expressions", "KHR_enable_operator_expressians", "did you mean `KHR_enable_operator_expressions`", False),
    (" KHR_enable_operator_expressions;", ";", "operator expressions need `extension KHR_enable_operator_expressions;`", True),
    ("'filter1'", "\u2018filter1\u2019", "typographic quote", True),
    ("'filter1'", "\u201cfilter1\u201d", "typographic quote", True),
    ("hidden + 1.0", "hidden \u2013 1.0", "en dash", True),
    ("    mean = ", "\u00a0   mean = ", "no-break space", True),
    ("-> ( y:", "\u2192 ( y:", "arrow", True),
    ("softmax(scores, axes = [1]);\n}", "softmax(scores, axes = [1]);\n", "expected `}` to close the body"),
    ("softmax(scores, axes = [1]);\n}", "softmax(scores, axes = [1]);\n}}", "found `}`", True),
    ("conv1 = conv", "conv.1 = conv", "`\\.` cannot be part of a name"),
    ("conv1 = conv", "1conv = conv", "neither a number nor a name|begins with a letter", False),
    ("'filter1'", "'filter1", "expected `'` to end the string"),
    ("flat = reshape", "if true: flat = reshape", "there are no branches", False),
    ("flat = reshape", "for i in [1]: flat = reshape", "there are no loops", False),
    ("\nfragment block", "\nimport nnef;\nfragment block", "expected `fragment` or `graph`, found `import`"),
)

SHAPES = _names(
    ("shape = [1, 16], label = 'bias1'", "shape = [16], label = 'bias1'", "`bias`.*\\[1,16\\]", False),
    ("size = [1, 1, 2, 2], padding", "size = [2, 2], padding", "`size`.*batch and channels"),
    ("shape = [16, 3, 3, 3]", "shape = [3, 3, 3, 16]", "channel", False),
    ("shape = [10, 16], label", "shape = [16, 10], label", "16.*10|10.*16", False),
    ("shape = [1, 16])", "shape = [1, 17])", "17", False),
)

MISTAKES = [*TYPES, *OPERATIONS, *PARAMETERS, *VALUES, *SYNTAX, *SHAPES]
