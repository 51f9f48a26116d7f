"""Single mistakes whose first message must name the repair, although the parser or a shape rule detects them far away.

Rows are those of whole_mistakes.py. For a row without a repair the author must choose: `--fix` must not change the
document.
"""

from __future__ import annotations

from whole_mistakes import WholeMistake

EXTERNAL = "    x = external<scalar>(shape = [{}]);\n"
FORMAT = "a string holds no expressions; strings are joined: "


def _ratified(body: str, shape: str = "1,16,32,32", head: str = "graph net( x ) -> ( y )", before: str = "version 1.0;\n") -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n") if line)
    return f"{before}{head}\n{{\n{EXTERNAL.format(shape) if shape else ''}{lines}}}\n"


def _provisional(fragment: str, call: str) -> str:
    return (f"version 1.0\n\n{fragment}\n\ngraph net( input ) -> ( output )\n{{\n    input = external(shape = [1,3,32,32])\n"
            f"    output = {call}\n}}\n")


def _row(name: str, message: str, text: str, *repairs: tuple[str, str], command: str = "check net.nnef") -> WholeMistake:
    right = text if repairs else ""
    for wrong, repaired in repairs:
        assert wrong in right, (name, wrong)
        right = right.replace(wrong, repaired, 1)
    return WholeMistake(name, message, {"net.nnef": text}, right, command)


def _variable(shape: str, name: str = "w") -> str:
    return f"{name} = variable<scalar>(shape = [{shape}], label = '{name}');\n"


BLOCK = "fragment block( x: tensor, n: extent, scope: string ) -> ( y: tensor )\n{{\n    {}\n}}"


def _block(statement: str) -> str:
    return _provisional(BLOCK.format(statement), "block(input, n = 2, scope = 'a')")


SYNTAX = [
    _row("unclosed_array", "`[` is not closed before the argument `label` [syntax.unclosed-bracket]",
         _ratified("w = variable<scalar>(shape = [16,16,3,3, label = 'w');\ny = conv(x, w);"), ("3,3, label", "3,3], label")),
    _row("unclosed_tuple", "`(` is not closed before the argument `axis` [syntax.unclosed-bracket]",
         _ratified("[a, b] = split((x, axis = 1, ratios = [1,1]);\ny = add(a, b);"), ("split((x", "split(x")),
    _row("cyrillic", "`\u0441` (U+0441, Cyrillic) looks like `c` [syntax.invalid-character]",
         _ratified("c = relu(x);\ny = relu(\u0441);"), ("\u0441", "c")),
    _row("cyrillic_inside", "`\u043e` (U+043E, Cyrillic) looks like `o` [syntax.invalid-character]",
         _ratified("conv1 = relu(x);\ny = relu(c\u043env1);"), ("\u043e", "o")),
    _row("cyrillic_keyword", "`\u0430` (U+0430, Cyrillic) looks like `a` [syntax.invalid-character]",
         _ratified("y = relu(x);", head="gr\u0430ph net( x ) -> ( y )"), ("\u0430", "a")),
    _row("greek", "`\u039f` (U+039F, Greek) looks like `O` [syntax.invalid-character]", _ratified("O1 = relu(x);\ny = relu(\u039f1);"), ("\u039f", "O")),
    _row("full_width", "`\uff58` (U+FF58, full-width) looks like `x` [syntax.invalid-character]", _ratified("y = relu(\uff58);"), ("\uff58", "x")),
    _row("full_width_number", "`\uff11` (U+FF11, full-width) looks like `1` [syntax.invalid-character]",
         _ratified("y = softmax(x, axes = [\uff11]);"), ("\uff11", "1")),
    _row("two_assignments", "a statement has one `=`; write `t = ..; y = copy(t);` [syntax.unexpected-token]",
         _ratified("y = t = relu(x);"), ("y = t = relu(x);", "t = relu(x); y = copy(t);")),
    _row("no_parentheses", "arguments belong in parentheses: `relu(conv1)` [syntax.unexpected-token]",
         _ratified("conv1 = relu(x);\ny = relu conv1;"), ("relu conv1", "relu(conv1)")),
    _row("no_parentheses_of_two", "arguments belong in parentheses: `add(x, x)` [syntax.unexpected-token]", _ratified("y = add x, x;"), ("add x, x", "add(x, x)")),
    _row("braces", "arguments are written without braces: `stride = ..` [syntax.unexpected-token]",
         _ratified(_variable("16,16,3,3") + "y = conv(x, w, {stride: [1,1]});"), ("{stride: [1,1]}", "stride = [1,1]")),
    _row("quoted_braces", "arguments are written without braces: `stride = ..` [syntax.unexpected-token]",
         _ratified(_variable("16,16,3,3") + "y = conv(x, w, {'stride': [1,1], 'dilation': [1,1]});"),
         ("{'stride': [1,1], 'dilation': [1,1]}", "stride = [1,1], dilation = [1,1]")),
    _row("unpacked_array", "`*` unpacks nothing; write the array itself, `x`, or its items [syntax.unexpected-token]", _ratified("y = concat([*x], axis = 1);")),
    _row("quoted_type", "`'float32'` is not a type; did you mean `scalar`? [syntax.unknown-type]",
         _ratified("y = relu(x);").replace("<scalar>", "<'float32'>"), ("'float32'", "scalar")),
    _row("tensor_as_type", "`tensor` is not a type that `external` takes; write the type of its items, `scalar`, `integer`, `logical` or `string` "
         "[syntax.unknown-type]", _ratified("y = relu(x);").replace("<scalar>", "<tensor>")),
    _row("tensor_type_as_type", "`tensor` is not a type that `external` takes; write the type of its items, `scalar`, `integer`, `logical` or `string` "
         "[syntax.unknown-type]", _ratified("y = relu(x);").replace("<scalar>", "<tensor<scalar>>"), ("tensor<scalar>", "scalar")),
    _row("extension_first", "the version must be the first statement; move `version 1.0;` to the start [syntax.document-order]",
         _ratified("y = relu(x);", before="extension KHR_enable_fragment_definitions;\nversion 1.0;\n"),
         ("extension KHR_enable_fragment_definitions;\nversion 1.0;\n", "version 1.0;\nextension KHR_enable_fragment_definitions;\n")),
    _row("word_before_version", "a document begins with `version`; remove `NNEF` [syntax.unexpected-token]",
         _ratified("y = relu(x);", before="NNEF version 1.0;\n"), ("NNEF ", "")),
    _row("import_before_version", "a document begins with its version, found `import` [syntax.unexpected-token]",
         _ratified("y = relu(x);", before="import nn;\nversion 1.0;\n"), ("import nn;\n", "")),
    _row("if_then_else", "`if` comes between the values: `relu(x) if n > 1 else x` [syntax.unexpected-token]",
         _block("y = if n > 1 then relu(x) else x"), ("if n > 1 then relu(x) else x", "relu(x) if n > 1 else x")),
    _row("if_alone", "`if` comes between the values: `a if c else b` [syntax.unexpected-token]", _block("y = if (n > 1) relu(x) else x")),
    _row("percent_format", "`%` formats no string; strings are joined: `scope + '/filter'` [syntax.invalid-character]",
         _block("f = variable(shape = [4,3,3,3], label = '%s/filter' % scope)\n    y = conv(x, f)"), ("'%s/filter' % scope", "scope + '/filter'")),
    _row("percent_number", "`%` formats no string; strings are joined: `'w' + string(n)` [syntax.invalid-character]",
         _block("f = variable(shape = [4,3,3,3], label = 'w%d' % n)\n    y = conv(x, f)"), ("'w%d' % n", "'w' + string(n)")),
    _row("format_string", FORMAT + "`scope + '/filter'` [syntax.unexpected-token]",
         _block("f = variable(shape = [4,3,3,3], label = f'{scope}/filter')\n    y = conv(x, f)"), ("f'{scope}/filter'", "scope + '/filter'")),
    _row("shape_of_tensor", "the shape of `x` is `shape_of(x)` [syntax.invalid-character]",
         _block("f = variable(shape = [4,x.shape[1],3,3], label = scope)\n    y = conv(x, f)"), ("x.shape[1]", "shape_of(x)[1]")),
    _row("comma_between_parameters", "expected `,` before `channels` [syntax.unexpected-token]",
         _provisional("fragment block( x: tensor channels: extent ) -> ( y: tensor )\n{\n    y = relu(x)\n}", "block(input, channels = 2)"),
         ("tensor channels", "tensor, channels")),
]

FORMATS = [
    _row("json", "this is JSON, not an NNEF document [syntax.other-format]", '{\n  "graph": "net",\n  "nodes": [{"op": "relu"}]\n}\n'),
    _row("json_list", "this is JSON, not an NNEF document [syntax.other-format]", '[{"graph": "net"}]\n'),
    _row("onnx_text", "this is ONNX's text form, not an NNEF document; convert the model by Khronos' converter (the Python package `nnef-tools`) "
         "[syntax.other-format]", '<\n   ir_version: 7,\n   opset_import: [ "" : 10 ]\n>\nagraph (float[N, 8] X) => (float[N, 8] C)\n{\n    C = Relu(X)\n}\n'),
    _row("onnx_prototxt", "this is an ONNX model in text form, not an NNEF document; convert the model by Khronos' converter (the Python package "
         "`nnef-tools`) [syntax.other-format]", 'ir_version: 7\nproducer_name: "pytorch"\ngraph {\n  node {\n    op_type: "Relu"\n  }\n}\n'),
    _row("caffe", "this is a Caffe model, not an NNEF document; convert the model by Khronos' converter (the Python package `nnef-tools`) "
         "[syntax.other-format]", 'name: "LeNet"\nlayer {\n  name: "data"\n  type: "Input"\n}\n'),
    _row("xml", "this is OpenVINO IR, not an NNEF document; `check`, `inspect`, `run`, `bench` and `compile` read it [syntax.other-format]",
         '<?xml version="1.0"?>\n<net name="x" version="11">\n</net>\n', command="fmt net.nnef"),
    _row("python", "this is Python source, not an NNEF document [syntax.other-format]", "import torch\n\nx = torch.ones(3)\n"),
    _row("skriptnd", "this is SkriptND, the language of NNEF 2.0, not an NNEF document; nnefc reads NNEF 1.0 [syntax.other-format]",
         "# A network.\nimport nn;\n\ngraph net {\n    @input {\n        x: real[1,3];\n    }\n    @compose {\n        y = nn.relu(x);\n    }\n}\n"),
    _row("empty", "the document is empty; expected `version 1.0;` and a graph [syntax.missing-version]", ""),
    _row("comments_alone", "the document is empty; expected `version 1.0;` and a graph [syntax.missing-version]", "# version 1.0;\n"),
    _row("words", "expected `version 1.0` at the start of the document, found `hello` [syntax.missing-version]", "hello world\n"),
]

CHECKER = [
    _row("type_of_relu", "`relu` takes no type; remove `<float>` [generic.not-generic]", _ratified("y = relu<float>(x);"), ("<float>", "")),
    _row("right_type_of_relu", "`relu` takes no type; remove `<scalar>` [generic.not-generic]", _ratified("y = relu<scalar>(x);"), ("relu<scalar>", "relu")),
    _row("none", "`None` is not a value; remove `border`, whose default is `'constant'` [identifier.undefined]",
         _ratified("y = avg_pool(x, size = [1,1,2,2], border = None);"), (", border = None", "")),
    _row("none_first", "`null` is not a value; remove `border`, whose default is `'constant'` [identifier.undefined]",
         _ratified("y = avg_pool(border = null, input = x, size = [1,1,2,2]);"), ("border = null, ", "")),
    _row("none_for_bias", "`None` is not a value; remove `bias`, whose default is `0.0` [identifier.undefined]",
         _ratified(_variable("16,16,3,3") + "y = conv(x, w, bias = None);"), (", bias = None", "")),
    _row("none_for_padding", "`None` is not a value; remove `padding`, whose default is `[]` [identifier.undefined]",
         _ratified(_variable("16,16,3,3") + "y = conv(x, w, padding = None);")),
    _row("onnx_pads", "`conv` has no parameter `pads`; did you mean `padding`? ONNX lists begins, then ends: `padding = [(1,3), (2,4)]` "
         "[binding.unknown-argument]", _ratified(_variable("16,16,3,3") + "y = conv(x, w, pads = [1,2,3,4]);"),
         ("pads = [1,2,3,4]", "padding = [(1,3), (2,4)]")),
    _row("onnx_pads_of_windows", "`max_pool` has no parameter `pads`; did you mean `padding`? ONNX lists begins, then ends: `padding = [(0,0), (0,0), "
         "(1,1), (1,1)]` [binding.unknown-argument]", _ratified("y = max_pool(x, size = [1,1,3,3], pads = [1,1,1,1]);"),
         ("pads = [1,1,1,1]", "padding = [(0,0), (0,0), (1,1), (1,1)]")),
    _row("four_paddings", "argument `padding` of `conv` is of type `integer[]`; expected `(integer,integer)[]`; each item is a pair, such as `(1,1)` before "
         "and behind [type.mismatch]", _ratified(_variable("16,16,3,3") + "y = conv(x, w, padding = [1,1,1,1]);")),
    _row("two_paddings", "argument `padding` of `conv` is of type `integer[]`; expected `(integer,integer)[]`; each item is a pair, such as `(1,1)` before "
         "and behind [type.mismatch]", _ratified(_variable("16,16,3,3") + "y = conv(x, w, padding = [1,1]);"), ("[1,1]", "[(1,1),(1,1)]")),
    _row("no_external", "parameter `input` of the graph is not the result of an `external` operation; write `input = external<scalar>(shape = "
         "[1,3,224,224]);` with its own shape [graph.parameter-not-external]",
         _ratified("y = relu(input);", shape="", head="graph net( input ) -> ( y )")),
    _row("result_is_input", "`x` is a parameter; a result has a name of its own, which `copy(x)` may be assigned to [declaration.duplicate-name]",
         _ratified("", head="graph net( x ) -> ( x )")),
    _row("no_shape", "`external` lacks the argument `shape` [syntax.empty-list]", _ratified("y = relu(x);").replace("shape = [1,16,32,32]", "")),
    _row("nested_call", "an invocation as an argument needs `extension KHR_enable_operator_expressions;`, or a name of its own: `t = relu(..);` "
         "[extension.operator-expressions]", _ratified("y = softmax(relu(x));"),
         ("version 1.0;\n", "version 1.0;\nextension KHR_enable_operator_expressions;\n")),
    _row("version_without_semicolon", "expected `;` after the version [syntax.missing-semicolon]",
         _ratified("y = relu(x);", before="version 1.0\n"), ("version 1.0\n", "version 1.0;\n")),
]

SHAPES = [
    _row("tensorflow_filter", "`bias` of `conv` has 16 channels; expected 3 or 1; a filter is [outputs, inputs, extents..], which makes [16,3,3,3] of "
         "TensorFlow's [3,3,3,16] [conv.bias]",
         _ratified(_variable("3,3,3,16") + _variable("1,16", "b") + "y = conv(x, w, b);", shape="1,3,32,32")),
    _row("tensorflow_filter_of_16", "`filter` of `conv` has 3 channels; expected 16, as `input` of `conv` has; a filter is [outputs, inputs, extents..], "
         "which makes [32,16,3,3] of TensorFlow's [3,3,16,32] [conv.channels]", _ratified(_variable("3,3,16,32") + "y = conv(x, w);")),
    _row("tensorflow_depthwise", "`filter` of `conv` has 3 channels; expected 16, as `input` of `conv` has; a filter is [outputs, inputs, extents..], "
         "which makes [16,1,3,3] of TensorFlow's [3,3,16,1] with `groups = 0` [conv.channels]", _ratified(_variable("3,3,16,1") + "y = conv(x, w);")),
    _row("depthwise", "`filter` of `conv` has 1 channel; expected 16, as `input` of `conv` has; `groups = 0` convolves each channel by itself "
         "[conv.channels]", _ratified(_variable("16,1,3,3") + "y = conv(x, w);")),
    _row("not_depthwise", "`filter` of `conv` has 1 channel; expected 16, as `input` of `conv` has [conv.channels]",
         _ratified(_variable("17,1,3,3") + "y = conv(x, w);")),
    _row("linear_filter", "`input` of `linear` has shape [1,4096] and `filter` of `linear` has shape [4096,10]: the inner extents at axes 1 and 1 differ; "
         "a filter of `linear` is [outputs, inputs], transpose it to [10,4096] [matmul.inner-extents]",
         _ratified(_variable("4096,10") + "y = linear(x, w);", shape="1,4096")),
    _row("linear_of_rank_4", "`input` of `linear` has rank 4 and `filter` of `linear` has rank 2; expected equal ranks of at least 2; "
         "`reshape(.., shape = [0,-1])` makes a matrix of the input [matmul.rank]", _ratified(_variable("10,16384") + "y = linear(x, w);")),
    _row("matmul", "`A` of `matmul` has shape [1,8] and `B` of `matmul` has shape [4,8]: the inner extents at axes 1 and 0 differ; `transposeB = true` "
         "transposes `B` of `matmul` [matmul.inner-extents]", _ratified(_variable("4,8") + "y = matmul(x, w);", shape="1,8")),
    _row("deconv_shape", "`output_shape[2]` of `deconv` is 64; stride 2 makes 31 or 32 of 16 [window.output-shape]",
         _ratified(_variable("16,8,3,3") + "y = deconv(x, w, stride = [2,2], output_shape = [1,8,64,64], padding = [(1,1),(1,1)]);", shape="1,16,16,16")),
    _row("deconv_shape_of_stride_1", "`output_shape[2]` of `deconv` is 15; stride 1 makes 16 of 16 [window.output-shape]",
         _ratified(_variable("16,8,3,3") + "y = deconv(x, w, output_shape = [1,8,15,16]);", shape="1,16,16,16")),
    _row("deconv_shape_of_stride_3", "`output_shape[3]` of `deconv` is 49; stride 3 makes 46 to 48 of 16 [window.output-shape]",
         _ratified(_variable("16,8,3,3") + "y = deconv(x, w, stride = [3,3], output_shape = [1,8,46,49]);", shape="1,16,16,16")),
    _row("open_batch", "`shape[0]` of `external` is -1; expected a positive extent; `--input-shape` gives an input other extents than the document's "
         "[external.shape]", _ratified("y = relu(x);", shape="-1,3,32,32")),
    _row("zero_batch", "`shape[0]` of `external` is 0; expected a positive extent; `--input-shape` gives an input other extents than the document's "
         "[external.shape]", _ratified("y = relu(x);", shape="0,3,32,32")),
    _row("endless", "`block` instantiates itself with equal arguments, so that it never ends [limit.recursion]",
         _block("t = relu(x)\n    y = block(t, n, scope) if n > 0 else t")),
]

FIRST_MESSAGES = SYNTAX + FORMATS + CHECKER + SHAPES
