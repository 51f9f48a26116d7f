"""Single mistakes in whole documents and models, as writers of other formats and languages make them.

Each states the expected first message and, if the mistake has one repair, the document after `check --fix`, apart from
white space.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class WholeMistake:
    name: str
    message: str
    files: dict[str, str]
    right: str = ""
    command: str = "check net.nnef"


def _graph(body: str, head: str = "graph net(input) -> (output)", before: str = "version 1.0;\n\n", behind: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in body.strip().split("\n"))
    return f"{before}{head}\n{{\n{lines}}}\n{behind}"


def _mistake(name: str, message: str, text: str, *repairs: tuple[str, str]) -> WholeMistake:
    right = text if repairs else ""
    for wrong, repaired in repairs:
        assert wrong in right, (name, wrong)
        right = right.replace(wrong, repaired, 1)
    return WholeMistake(name, message, {"net.nnef": text}, right)


def _body(name: str, message: str, body: str, *repairs: tuple[str, str]) -> WholeMistake:
    return _mistake(name, message, _graph(INPUT + body), *repairs)


# Mistakes that only `check --fix --unsafe-fixes` repairs.
UNSAFE = frozenset({"int_padding", "two_paddings", "one_padding", "version_2", "result_typo", "nn_relu", "tf_concat", "method"})

INPUT = "input = external<scalar>(shape = [1,3,32,32]);\n"
FILTER = "filter = variable<scalar>(shape = [16,3,3,3], label = 'filter');\n"
FRAGMENTS = "version 1.0;\nextension KHR_enable_fragment_definitions;\n\n"
MODEL = _graph(FILTER + INPUT + "x = conv(input, filter);\noutput = relu(x);")

WHOLE_MISTAKES = [
    _body("real_dot", "expected a digit after the decimal point [syntax.malformed-number]", "output = mul(input, 1.);", ("1.)", "1.0)")),
    _body("real_no_int", "expected a digit before the decimal point [syntax.malformed-number]", "output = leaky_relu(input, alpha = .5);", (".5)", "0.5)")),
    _body("float_suffix", "`0.5f` is not a number of NNEF; write `0.5` [syntax.malformed-number]", "output = mul(input, 0.5f);", ("0.5f", "0.5")),
    _body("long_suffix", "`1L` is not a number of NNEF; write `1` [syntax.malformed-number]", "output = softmax(input, axes = [1L]);", ("1L", "1")),
    _body("digit_groups", "`1_024` is not a number of NNEF; write `1024` [syntax.malformed-number]", "output = reshape(input, shape = [1,3,1_024]);", ("1_024", "1024")),
    _body("hex", "`0x0c00` is not a number of NNEF; write `3072` [syntax.malformed-number]", "output = reshape(input, shape = [1,0x0c00]);", ("0x0c00", "3072")),
    _body("bad_exponent", "`1e` has no digits in its exponent [syntax.malformed-number]", "output = add(input, 1e);"),
    _body("open_string", "expected `'` to end the string before the line ends [syntax.unterminated-string]", "filter = variable<scalar>(shape = [16,3,3,3], label = 'filter);\noutput = conv(input, filter);", ("'filter)", "'filter')")),
    _body("triple_quote", '`"""` begins no comment; `#` begins one that ends with its line [syntax.unexpected-token]', '"""a relu"""\noutput = relu(input);', ('"""a relu"""', "# a relu")),
    _body("raw_string", "a string has no prefix, such as `r` here [syntax.unexpected-token]", "filter = variable<scalar>(shape = [16,3,3,3], label = r'filter');\noutput = conv(input, filter);", ("r'filter'", "'filter'")),
    _body("dot_name", "`.` cannot be part of a name: names are of letters, digits and `_` [syntax.invalid-character]", "conv1.out = relu(input);\noutput = abs(conv1.out);", ("conv1.out = ", "conv1_out = "), ("(conv1.out)", "(conv1_out)")),
    _body("digit_name", "`1x1` begins with a digit; a name begins with a letter or `_` [syntax.unexpected-token]", "1x1 = relu(input);\noutput = abs(1x1);"),
    _body("dash_name", "`-` cannot be part of a name: names are of letters, digits and `_` [syntax.invalid-character]", "conv-1 = relu(input);\noutput = abs(conv-1);", ("conv-1 = ", "conv_1 = "), ("(conv-1)", "(conv_1)")),
    _body("slash_name", "`/` cannot be part of a name: names are of letters, digits and `_` [syntax.invalid-character]", "block/relu = relu(input);\noutput = abs(block/relu);", ("block/relu = ", "block_relu = "), ("(block/relu)", "(block_relu)")),
    _body("percent_name", "`%` begins no name; a letter or `_` does [syntax.invalid-character]", "%0 = relu(input);\noutput = abs(%0);"),
    _body("dollar", "`$` begins no name; a letter or `_` does [syntax.invalid-character]", "$x = relu(input);\noutput = abs($x);", ("$x = ", "x = "), ("($x)", "(x)")),
    _body("umlaut", "`ö` is not ASCII and stands outside a comment [syntax.invalid-character]", "größe = relu(input);\noutput = abs(größe);"),
    _mistake("unicode_arrow", "an arrow (U+2192) stands for `->` [syntax.invalid-character]", "version 1.0;\n\ngraph net(input) → (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("→", "->")),
    _body("infinity", "undefined name `inf`; there is no literal for infinity [identifier.undefined]", "output = clamp(input, 0.0, inf);"),
    _body("backslash", "`\\` begins no token of NNEF; a statement goes on over lines without it [syntax.invalid-character]", "output = add(input, \\\n  input);", (" \\\n", " \n")),
    _body("no_semicolon", "expected `;` after the assignment [syntax.missing-semicolon]", "x = relu(input)\noutput = abs(x);", ("relu(input)\n", "relu(input);\n")),
    _mistake("version_semicolon", "expected `;` after the version [syntax.missing-semicolon]", "version 1.0\nextension KHR_enable_fragment_definitions;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("version 1.0", "version 1.0;")),
    _body("two_semicolons", "expected an assignment, found `;`; one `;` ends an assignment [syntax.unexpected-token]", "output = relu(input);;", (";;", ";")),
    _mistake("brace_semicolon", "expected the end of the text after the graph, found `;` [syntax.trailing-text]", "version 1.0;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n;\n", ("}\n;", "}")),
    _body("colon_argument", "an argument is given with `=`: `axes = ..` [syntax.unexpected-token]", "output = softmax(input, axes: [1]);", ("axes:", "axes =")),
    _body("double_equals", "`==` compares; an assignment is written with `=` [syntax.unexpected-token]", "output == relu(input);", ("==", "=")),
    _body("arrow_assign", "an assignment is written with `=` [syntax.unexpected-token]", "output <- relu(input);", ("<-", "=")),
    _body("arrow_statement", "results stand on the left, `y = f(x)` [syntax.unexpected-token]", "relu(input) -> output;", ("relu(input) -> output", "output = relu(input)")),
    _body("comma_end", "an assignment ends with `;`, not with `,` [syntax.unexpected-token]", "x = relu(input),\noutput = abs(x);", ("(input),", "(input);")),
    _body("trailing_tuple_comma", "nothing stands between the `,` and `]` [syntax.unexpected-token]", "output = max_pool(input, size = [1,1,2,2], padding = [(0,0),(0,0),(0,0),(0,0),]);", (",]", "]")),
    _mistake("header_colon", "expected `{` after the declaration of `net`, found `:` [syntax.unexpected-token]", "version 1.0;\n\ngraph net(input) -> (output):\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("):", ")")),
    _mistake("fat_arrow", "`=>` is not NNEF: the arrow is written `->` [syntax.unexpected-token]", "version 1.0;\n\ngraph net(input) => (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("=>", "->")),
    _mistake("no_arrow", "expected `->` between the parameters and the results [syntax.unexpected-token]", "version 1.0;\n\ngraph net(input) (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", (") (", ") -> (")),
    _mistake("bare_result", "the results stand in parentheses: `-> ( output )` [syntax.unexpected-token]", "version 1.0;\n\ngraph net(input) -> output\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("-> output", "-> (output)")),
    _mistake("arrow_inside", "the parameters end with `)` in front of `->` [syntax.unexpected-token]", "version 1.0;\n\ngraph net(input -> output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("(input -> output)", "(input) -> (output)")),
    _mistake("params_no_comma", "expected `,` before `b` [syntax.unexpected-token]", "version 1.0;\n\ngraph net(a b) -> (output)\n{\n    a = external<scalar>(shape = [1]);\n    b = external<scalar>(shape = [1]);\n    output = add(a, b);\n}\n", ("(a b)", "(a, b)")),
    _mistake("tuple_shape", "argument `shape` of `external` is of type `(integer,integer,integer,integer)`; expected `integer[]`; an array stands in `[` and `]` [type.mismatch]", _graph("input = external<scalar>(shape = (1,3,32,32));\noutput = relu(input);"), ("(1,3,32,32)", "[1,3,32,32]")),
    _mistake("brace_shape", "an array stands in `[` and `]` [syntax.unexpected-token]", _graph("input = external<scalar>(shape = {1,3,32,32});\noutput = relu(input);"), ("{1,3,32,32}", "[1,3,32,32]")),
    _mistake("bare_shape", "`shape` of `external` is an array; write `shape = [1,3,32,32]` [binding.positional-after-named]", _graph("input = external<scalar>(shape = 1,3,32,32);\noutput = relu(input);"), ("1,3,32,32", "[1,3,32,32]")),
    _mistake("blank_shape", "expected `,` before `3` [syntax.unexpected-token]", _graph("input = external<scalar>(shape = [1 3 32 32]);\noutput = relu(input);"), ("1 3 32 32", "1, 3, 32, 32")),
    _body("list_padding", "argument `padding` of `conv` is of type `integer[][]`; expected `(integer,integer)[]`; each item is a pair, such as `(1,1)` before and behind [type.mismatch]", FILTER + "output = conv(input, filter, padding = [[1,1],[1,1]]);", ("[1,1],[1,1]", "(1,1),(1,1)")),
    _body("int_padding", "argument `padding` of `conv` is of type `integer[]`; expected `(integer,integer)[]`; each item is a pair, such as `(1,1)` before and behind [type.mismatch]", FILTER + "output = conv(input, filter, padding = [1,2]);", ("[1,2]", "[(1,1),(2,2)]")),
    _body("one_padding", "argument `padding` of `conv` is of type `integer`; expected `(integer,integer)[]`; each item is a pair, such as `(1,1)` before and behind [type.mismatch]", FILTER + "output = conv(input, filter, padding = 1);", ("padding = 1", "padding = [(1,1),(1,1)]")),
    _body("same_padding", "argument `padding` of `conv` is of type `string`; expected `(integer,integer)[]`; `padding = []` pads so [type.mismatch]", FILTER + "output = conv(input, filter, padding = 'same');", ("'same'", "[]")),
    _body("valid_padding", "argument `padding` of `conv` is of type `string`; expected `(integer,integer)[]`; `padding = [(0,0), (0,0)]` pads nothing [type.mismatch]", FILTER + "output = conv(input, filter, padding = 'VALID');", ("'VALID'", "[(0,0),(0,0)]")),
    _body("one_stride", "argument `stride` of `conv` is of type `integer`; expected `integer[]` [type.mismatch]", FILTER + "output = conv(input, filter, stride = 2);", ("stride = 2", "stride = [2,2]")),
    _body("tuple_stride", "argument `stride` of `conv` is of type `(integer,integer)`; expected `integer[]`; an array stands in `[` and `]` [type.mismatch]", FILTER + "output = conv(input, filter, stride = (2,2));", ("(2,2)", "[2,2]")),
    _body("call_open", "expected `)` to close the arguments of `relu`, found `;` [syntax.unclosed-bracket]", "output = relu(input;", ("(input;", "(input);")),
    _body("call_extra", "`)` closes no bracket [syntax.unexpected-token]", "output = relu(input));", ("))", ")")),
    _mistake("graph_open", "expected `}` to close the body of the graph `net`, found the end of the text [syntax.unclosed-body]", "version 1.0;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n", ("(input);\n", "(input);\n}\n")),
    _mistake("brace_extra", "expected the end of the text after the graph, found `}` [syntax.trailing-text]", "version 1.0;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n}\n", ("}\n}", "}")),
    _body("concat_no_list", "`values` of `concat` is an array; write `[input, x]` [type.mismatch]", "x = relu(input);\noutput = concat(input, x, axis = 1);", ("input, x", "[input, x]")),
    _body("array_left", "an array is on the left, but `tensor<scalar>` on the right [assignment.structure]", "[output] = relu(input);", ("[output]", "output")),
    _body("split_no_brackets", "a tuple is on the left, but `tensor<scalar>[]` on the right [assignment.structure]", "a, b = split(input, axis = 2, ratios = [1,1]);\noutput = add(a, b);", ("a, b =", "[a, b] =")),
    _body("split_item", "`x` is of type `tensor<scalar>[]`; names in the body of a graph are tensors, unpack the array with `[.., ..] =` [graph.identifier-not-tensor]", "x = split(input, axis = 2, ratios = [1,1]);\noutput = relu(x[0]);"),
    _body("call_brackets", "undefined name `relu`; the operation is invoked with arguments, `relu(..)` [identifier.undefined]", "output = relu[input];", ("[input]", "(input)")),
    _mistake("version_2", "version `1.1` is not supported; expected `1.0` [syntax.unsupported-version]", "version 1.1;\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("1.1", "1.0")),
    _mistake("version_equals", "no `=` stands between `version` and its number [syntax.unexpected-token]", "version = 1.0;\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("version = ", "version ")),
    _mistake("no_version", "expected `version 1.0` at the start of the document, found `graph` [syntax.missing-version]", "graph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("graph", "version 1.0;\n\ngraph")),
    _mistake("version_int", "version `1` is not supported; expected `1.0` [syntax.unsupported-version]", "version 1;\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("version 1;", "version 1.0;")),
    _mistake("version_string", "the version stands without quotes, `version 1.0` [syntax.unexpected-token]", 'version "1.0";\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n', ('"1.0"', "1.0")),
    _mistake("typed_params", "parameters and results of a graph are names alone; `external` says the type and shape [syntax.unexpected-token]", "version 1.0;\n\ngraph net(input: tensor<scalar>) -> (output: tensor<scalar>)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("input: tensor<scalar>", "input"), ("output: tensor<scalar>", "output")),
    _mistake("c_params", "parameters and results of a graph are names alone; `external` says the type and shape [syntax.unexpected-token]", "version 1.0;\n\ngraph net(tensor input) -> (tensor output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("tensor input", "input"), ("tensor output", "output")),
    _mistake("no_graph_name", "expected a name after `graph`, found `(` [syntax.unexpected-token]", "version 1.0;\n\ngraph (input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n"),
    _mistake("dash_graph", "`-` cannot be part of a name: names are of letters, digits and `_` [syntax.invalid-character]", "version 1.0;\n\ngraph mobilenet-v2(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("mobilenet-v2", "mobilenet_v2")),
    _mistake("string_graph", "a name stands without quotes, `net` [syntax.unexpected-token]", 'version 1.0;\n\ngraph "net"(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n', ('"net"', "net")),
    _mistake("model_keyword", "expected `graph`, found `model` [syntax.unexpected-token]", "version 1.0;\n\nmodel net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("model", "graph")),
    _mistake("python_class", "expected `fragment` or `graph`, found `class` [syntax.unexpected-token]", "version 1.0;\n\nclass Net(Module):\n    def forward(self, x):\n        return relu(x)\n"),
    _body("result_typo", "result `output` is not assigned; `ouput` is [identifier.result-not-assigned]", "ouput = relu(input);", ("ouput", "output")),
    _mistake("no_external", "parameter `input` of the graph is not the result of an `external` operation; write `input = external<scalar>(shape = [1,3,224,224]);` with its own shape [graph.parameter-not-external]", _graph("output = relu(input);")),
    _body("external_no_param", "the result of `external` must be a parameter of the graph and nothing else; add `mask` to the parameters [graph.external-not-parameter]", "mask = external<scalar>(shape = [1,3,32,32]);\noutput = mul(input, mask);", ("net(input)", "net(input, mask)")),
    _mistake("extension_typo", "unknown extension `KHR_enable_fragment_definition`; did you mean `KHR_enable_fragment_definitions`? [document.unknown-extension]", "version 1.0;\nextension KHR_enable_fragment_definition;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("definition;", "definitions;")),
    _mistake("import", "expected `fragment` or `graph`, found `import`; a document stands alone [syntax.unexpected-token]", "version 1.0;\nimport nnef;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = relu(input);\n}\n", ("import nnef;\n", "")),
    _mistake("float32", "`float32` is not a type; did you mean `scalar`? [syntax.unknown-type]", _graph("input = external<float32>(shape = [1,3]);\noutput = relu(input);"), ("float32", "scalar")),
    _mistake("bool", "`bool` is not a type; did you mean `logical`? [syntax.unknown-type]", _graph("input = external<bool>(shape = [1,3]);\noutput = not(input);"), ("bool", "logical")),
    _mistake("int64", "`int64` is not a type; did you mean `integer`? [syntax.unknown-type]", "version 1.0;\n\ngraph net(i, x) -> (output)\n{\n    i = external<int64>(shape = [4]);\n    x = external<scalar>(shape = [9,3]);\n    output = gather(x, i);\n}\n", ("int64", "integer")),
    _body("declared_type", "an assignment declares no type; write `output = ..` [syntax.unexpected-token]", "tensor<scalar> output = relu(input);", ("tensor<scalar> output", "output")),
    _body("annotated", "an assignment declares no type; write `output = ..` [syntax.unexpected-token]", "output: tensor<scalar> = relu(input);", ("output: tensor<scalar>", "output")),
    _body("auto", "`auto` begins no assignment; write `output = ..` [syntax.unexpected-token]", "auto output = relu(input);", ("auto output", "output")),
    _mistake("dtype", "`external` has no parameter `dtype`; the type stands behind the name of the operation, `external<integer>(..)` [binding.unknown-argument]", _graph("input = external(shape = [1,3], dtype = 'float32');\noutput = relu(input);"), ("external(shape = [1,3], dtype = 'float32')", "external<scalar>(shape = [1,3])")),
    _mistake("tensor_float", "`float` is not a type; did you mean `scalar`? [syntax.unknown-type]", "version 1.0;\nextension KHR_enable_fragment_definitions;\n\nfragment twice(x: tensor<float>) -> (y: tensor<float>)\n{\n    y = add(x, x);\n}\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = twice(input);\n}\n", ("tensor<float>", "tensor<scalar>"), ("tensor<float>", "tensor<scalar>")),
    _mistake("int_param", "`int` is not a type; did you mean `integer`? [syntax.unknown-type]", "version 1.0;\nextension KHR_enable_fragment_definitions;\n\nfragment soft(x: tensor<scalar>, axis: int) -> (y: tensor<scalar>)\n{\n    y = softmax(x, axes = [axis]);\n}\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = soft(input, axis = 1);\n}\n", ("axis: int)", "axis: integer)")),
    _mistake("untyped_param", "expected `:` and a type after the parameter `x`, found `)` [syntax.unexpected-token]", "version 1.0;\nextension KHR_enable_fragment_definitions;\n\nfragment twice(x) -> (y)\n{\n    y = add(x, x);\n}\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = twice(input);\n}\n"),
    _mistake("bracket_type", "an array type is written `integer[]` [syntax.unexpected-token]", "version 1.0;\nextension KHR_enable_fragment_definitions;\n\nfragment soft(x: tensor<scalar>, axes: [integer]) -> (y: tensor<scalar>)\n{\n    y = softmax(x, axes = axes);\n}\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = soft(input, axes = [1]);\n}\n", ("[integer]", "integer[]")),
    _body("unquoted", "undefined name `constant`; a string stands in quotes, `'constant'` [identifier.undefined]", "output = max_pool(input, size = [1,1,2,2], border = constant);", ("border = constant", "border = 'constant'")),
    _body("bad_choice", "`border` of `max_pool` is 'zeros'; expected 'ignore', 'constant', 'replicate', 'reflect' or 'reflect-even' [window.border]", "output = max_pool(input, size = [1,1,2,2], border = 'zeros');", ("'zeros'", "'constant'")),
    _body("negative_axis", "`axes[0]` of `softmax` is -1; expected at least 0 and less than 4 [axis.range]", "output = softmax(input, axes = [-1]);", ("[-1]", "[3]")),
    _body("int_for_scalar", "argument `y` of `add` is of type `integer`; expected `tensor<scalar>` [type.mismatch]", "output = add(input, 1);", ("1)", "1.0)")),
    _body("int_attribute", "argument `alpha` of `elu` is of type `integer`; expected `scalar` [type.mismatch]", "output = elu(input, alpha = 1);", ("alpha = 1", "alpha = 1.0")),
    _body("scalar_axis", "argument `axes` of `softmax` is of type `scalar[]`; expected `integer[]` [type.mismatch]", "output = softmax(input, axes = [1.0]);", ("1.0]", "1]")),
    _mistake("int_for_bool", "argument `transposeB` of `matmul` is of type `integer`; expected `logical` [type.mismatch]", "version 1.0;\n\ngraph net(a, b) -> (output)\n{\n    a = external<scalar>(shape = [2,3]);\n    b = external<scalar>(shape = [2,3]);\n    output = matmul(a, b, transposeB = 1);\n}\n", ("transposeB = 1", "transposeB = true")),
    _mistake("string_for_bool", "argument `transposeB` of `matmul` is of type `string`; expected `logical` [type.mismatch]", "version 1.0;\n\ngraph net(a, b) -> (output)\n{\n    a = external<scalar>(shape = [2,3]);\n    b = external<scalar>(shape = [2,3]);\n    output = matmul(a, b, transposeB = 'true');\n}\n", ("'true'", "true")),
    _body("bare_axes", "argument `axes` of `softmax` is of type `integer`; expected `integer[]` [type.mismatch]", "output = softmax(input, axes = 1);", ("axes = 1", "axes = [1]")),
    _mistake("unknown_batch", "`shape[0]` of `external` is -1; expected a positive extent; `--input-shape` gives an input other extents than the document's [external.shape]", _graph("input = external<scalar>(shape = [-1,3,32,32]);\noutput = relu(input);")),
    _mistake("question_batch", "`?` is not an extent; a document states all of them, and `--input-shape` gives an input others [syntax.unexpected-token]", _graph("input = external<scalar>(shape = [?,3,32,32]);\noutput = relu(input);")),
    _body("constant_scalar", "argument `value` of `constant` is of type `scalar`; expected `scalar[]` [type.mismatch]", "one = constant<scalar>(shape = [1], value = 1.0);\noutput = add(input, one);", ("value = 1.0", "value = [1.0]")),
    _body("hwio", "`filter` of `conv` has 5 channels; expected 3, as `input` of `conv` has; a filter is [outputs, inputs, extents..], which makes [16,3,5,5] of TensorFlow's [5,5,3,16] [conv.channels]", "filter = variable<scalar>(shape = [5,5,3,16], label = 'filter');\noutput = conv(input, filter);"),
    _mistake("nhwc", "`filter` of `conv` has 3 channels; expected 32, as `input` of `conv` has; an input is [batch, channels, extents..] [conv.channels]", _graph("input = external<scalar>(shape = [1,32,32,3]);\nfilter = variable<scalar>(shape = [16,3,3,3], label = 'filter');\noutput = conv(input, filter);")),
    WholeMistake("numpy_broadcast", "shapes align at their first dimension, so that [32] is repeated along the batch of [1,3,32,32] and the result has the shape [32,3,32,32]; [1,1,1,32] aligns with dimension 3 [lint.batch-broadcast]", {"net.nnef": _graph(INPUT + "x = variable<scalar>(shape = [32], label = 'x');\noutput = add(input, x);")}, command="lint net.nnef"),
    _mistake("linear_order", "`input` of `linear` has shape [1,64] and `filter` of `linear` has shape [64,10]: the inner extents at axes 1 and 1 differ; a filter of `linear` is [outputs, inputs], transpose it to [10,64] [matmul.inner-extents]", "version 1.0;\n\ngraph net(x) -> (output)\n{\n    x = external<scalar>(shape = [1,64]);\n    w = variable<scalar>(shape = [64,10], label = 'w');\n    output = linear(x, w);\n}\n"),
    _body("reshape_count", "`shape` of `reshape` is [1,100], which does not fit `input` of `reshape` of shape [1,3,32,32] [reshape.volume]", "output = reshape(input, shape = [1,100]);"),
    _body("two_minus_one", "`shape` of `reshape` contains -1 twice [reshape.items]", "output = reshape(input, shape = [-1,-1]);"),
    _body("transpose_twice", "`axes` of `transpose` is not a permutation of 0 to 3: `axes[2]` is 2 [transpose.axes]", "output = transpose(input, axes = [0,2,2,1]);"),
    _body("concat_shapes", "`values[1]` of `concat` has shape [1,3,16,16]; expected the extents of [1,6,32,32] but for axis 1 [concat.extents]", "x = max_pool(input, size = [1,1,2,2], stride = [1,1,2,2]);\noutput = concat([input, x], axis = 1);"),
    _body("full_stride", "`stride` of `conv` has 4 items; expected 2 or none [window.stride]", FILTER + "output = conv(input, filter, stride = [1,1,2,2]);", ("[1,1,2,2]", "[2,2]")),
    _body("split_ratio", "the sum 3 of `ratios` of `split` does not divide the extent 32 of axis 2 [split.ratios]", "[a, b] = split(input, axis = 2, ratios = [1,2]);\noutput = relu(a);\nunused = relu(b);"),
    _body("axis_range", "`axes[0]` of `softmax` is 4; expected at least 0 and less than 4 [axis.range]", "output = softmax(input, axes = [4]);"),
    _body("kernel_size", "`max_pool` has no parameter `kernel_size`; did you mean `size`? it has an extent for each dimension, batch and channels too: `size = [1,1,3,3]` [binding.unknown-argument]", "output = max_pool(input, kernel_size = [1,1,2,2]);", ("kernel_size", "size")),
    _body("strides", "`conv` has no parameter `strides`; did you mean `stride`? [binding.unknown-argument]", FILTER + "output = conv(input, filter, strides = [2,2]);", ("strides", "stride")),
    _body("keepdims", "`mean_reduce` has no parameter `keepdims`; a reduction keeps its dimensions with extent 1; `squeeze` removes them [binding.unknown-argument]", "output = mean_reduce(input, axes = [2,3], keepdims = true);", (", keepdims = true", "")),
    _body("dim", "`softmax` has no parameter `dim`; did you mean `axes`? [binding.unknown-argument]", "output = softmax(input, dim = 1);", ("dim = 1", "axes = [1]")),
    _body("positional_attribute", "attribute `shape` is given by its position; only tensors can be, write `shape = ..` [binding.positional-attribute]", "output = reshape(input, [1,3072]);", (", [1", ", shape = [1")),
    _body("twice_named", "argument `axes` is given twice [binding.duplicate-argument]", "output = softmax(input, axes = [1], axes = [1]);", (", axes = [1], axes = [1]", ", axes = [1]")),
    _body("missing_attribute", "`max_pool` lacks the argument `size` [binding.missing-argument]", "output = max_pool(input, stride = [1,1,2,2]);"),
    _body("conv2d", "undeclared operation `Conv2d`; did you mean `conv`? [binding.undeclared-operation]", FILTER + "output = Conv2d(input, filter, padding = [(1,1), (1,1)]);", ("Conv2d", "conv")),
    _body("nn_relu", "operations stand in no module; write `ReLU` without `nn.` [syntax.invalid-character]", "output = nn.ReLU(input);", ("nn.ReLU", "relu")),
    _body("tf_concat", "operations stand in no module; write `concat` without `tf.` [syntax.invalid-character]", "output = tf.concat([input, input], axis = 1);", ("tf.concat", "concat")),
    _body("method", "there are no methods; write `relu(input)` [syntax.invalid-character]", "output = input.relu();", ("input.relu()", "relu(input)")),
    _body("gap", "undeclared operation `GlobalAveragePool`; write `mean_reduce(x, axes = [2,3])`, which keeps the axes with extent 1 [binding.undeclared-operation]", "output = GlobalAveragePool(input);"),
    _body("layer_norm", "undeclared operation `layer_norm`; write `m, v = moments(x, axes = ..); y = (x - m) * rsqrt(v + epsilon) * scale + bias;` [binding.undeclared-operation]", "output = layer_norm(input);"),
    _body("hard_swish", "undeclared operation `hard_swish`; write `x * clamp(x + 3.0, 0.0, 6.0) / 6.0` [binding.undeclared-operation]", "output = hard_swish(input);"),
    _body("inplace", "undeclared operation `relu_`; did you mean `relu`? [binding.undeclared-operation]", "output = relu_(input);", ("relu_", "relu")),
    _body("plus", "operator expressions need `extension KHR_enable_operator_expressions;`; without it arguments are literals, names, arrays and tuples [extension.operator-expressions]", "output = input + input;", ("version 1.0;\n", "version 1.0;\nextension KHR_enable_operator_expressions;\n")),
    _body("matmul_at", "`@` begins no token of NNEF; `matmul(a, b)` multiplies matrices [syntax.invalid-character]", "output = input @ input;", ("input @ input", "matmul(input, input)")),
    _body("plus_equals", "there is no `+=`; a name is assigned once [syntax.unexpected-token]", "input += 1.0;\noutput = relu(input);"),
    _body("index", "`tensor<scalar>` has no items; arrays, strings and tuples have, and `slice(x, axes = [0], begin = [0], end = [1])` cuts a tensor [type.subscript-base]", "output = input[0];"),
    _body("loop", "there are no loops; `[for i in a yield ..]` makes an array [syntax.unexpected-token]", "for i in range(3) { input = relu(input); }\noutput = abs(input);"),
    _mistake("yield", "this form of array comprehension belongs to the provisional dialect; write `[for .. in .. yield ..]` here [dialect.comprehension]", "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n\ngraph net(a, b) -> (output)\n{\n    a = external<scalar>(shape = [1]);\n    b = external<scalar>(shape = [1]);\n    output = add_n([relu(x) for x in [a,b]]);\n}\n", ("[relu(x) for x in [a,b]]", "[for x in [a,b] yield relu(x)]")),
    _mistake("frag_extension", "fragment definitions need `extension KHR_enable_fragment_definitions;` [extension.fragment-definitions]", "version 1.0;\n\nfragment twice(x: tensor<scalar>) -> (y: tensor<scalar>)\n{\n    y = add(x, x);\n}\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = twice(input);\n}\n", ("version 1.0;\n", "version 1.0;\nextension KHR_enable_fragment_definitions;\n")),
    _mistake("frag_after", "fragments must stand before the graph [syntax.document-order]", "version 1.0;\nextension KHR_enable_fragment_definitions;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = twice(input);\n}\n\nfragment twice(x: tensor<scalar>) -> (y: tensor<scalar>)\n{\n    y = add(x, x);\n}\n"),
    _mistake("frag_result", "result `y` is not assigned [identifier.result-not-assigned]", "version 1.0;\nextension KHR_enable_fragment_definitions;\n\nfragment twice(x: tensor<scalar>) -> (y: tensor<scalar>)\n{\n    z = add(x, x);\n}\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = twice(input);\n}\n"),
    _mistake("frag_order", "tensor parameter `x` must precede the attributes [declaration.parameter-order]", "version 1.0;\nextension KHR_enable_fragment_definitions;\n\nfragment soft(axis: integer, x: tensor<scalar>) -> (y: tensor<scalar>)\n{\n    y = softmax(x, axes = [axis]);\n}\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = soft(input, axis = 1);\n}\n", ("axis: integer, x: tensor<scalar>", "x: tensor<scalar>, axis: integer")),
    _mistake("frag_default", "the default of `by` is of type `integer`; expected `scalar` [declaration.default-type]", "version 1.0;\nextension KHR_enable_fragment_definitions;\n\nfragment lift(x: tensor<scalar>, by: scalar = 1) -> (y: tensor<scalar>)\n{\n    y = add(x, by);\n}\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,32,32]);\n    output = lift(input);\n}\n", ("= 1)", "= 1.0)")),
    _body("no_label", "`variable` lacks the argument `label` [binding.missing-argument]", "filter = variable<scalar>(shape = [16,3,3,3]);\noutput = conv(input, filter);"),
    _body("space_label", "`label` of `variable` contains ` `; expected letters, digits, `_`, `-`, `.`, `/`, `\\` [variable.label]", "filter = variable<scalar>(shape = [16,3,3,3], label = 'my filter');\noutput = conv(input, filter);", ("'my filter'", "'my_filter'")),
    _body("colon_label", "`label` of `variable` contains `:`; expected letters, digits, `_`, `-`, `.`, `/`, `\\` [variable.label]", "filter = variable<scalar>(shape = [16,3,3,3], label = 'conv/kernel:0');\noutput = conv(input, filter);", ("kernel:0", "kernel_0")),
    _body("reassign", "`x` is assigned twice [identifier.reassigned]", "x = relu(input);\nx = abs(x);\noutput = neg(x);"),
    _body("use_before", "`x` is used before it is assigned [identifier.used-before-assigned]", "output = abs(x);\nx = relu(input);"),
    _mistake("p_typed_external", "expected `;` after the version [syntax.missing-semicolon]", "version 1.0\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3]);\n    output = relu(input);\n}\n", ("version 1.0", "version 1.0;")),
    _body("perm", "`transpose` has no parameter `perm`; the provisional dialect calls `axes` so [binding.unknown-argument]", "output = transpose(input, perm = [0,2,3,1]);", ("perm", "axes")),
    WholeMistake("quant_unquoted", "expected the name of a tensor in quotes, found `x` [syntax.unexpected-token]", {"graph.nnef": MODEL, "graph.quant": "x: linear_quantize(min = 0.0, max = 1.0, bits = 8);\n", "filter.dat": "tensor16,3,3,3"}, command="check ."),
    WholeMistake("quant_unknown", "`y` is not an activation of the graph [quantization.unknown-key]", {"graph.nnef": MODEL, "graph.quant": '"y": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n', "filter.dat": "tensor16,3,3,3"}, command="check ."),
    WholeMistake("graph_file_name", "there is no `graph.nnef` in the folder; it holds `model.nnef`, which can be opened by name [container.no-graph]", {"model.nnef": MODEL, "filter.dat": "tensor16,3,3,3"}, command="check ."),
    WholeMistake("npy_weights", "variable `filter` has no data: `.` comes without tensor files; give a model folder or archive that holds `filter.dat`, or `--random-weights SEED` [variable.no-data]", {"graph.nnef": MODEL, "filter.npy": "x"}, command="run . --random-inputs 1"),
    WholeMistake("raw_weights", "at byte 0: invalid tensor file: it starts with `01 02`, not with `4E EF` [dat.magic]", {"graph.nnef": MODEL, "filter.dat": "\1\2\3\4"}, command="check ."),
    WholeMistake("dat_shape", "the data of variable `filter` has shape [3,3,3,16]; the document says [16,3,3,3] [variable.data-shape]", {"graph.nnef": MODEL, "filter.dat": "tensor3,3,3,16"}, command="check ."),
    _mistake("gen", "type arguments belong to the ratified dialect; `relu` takes none here [dialect.generic]", "version 1.0\n\ngraph net( input ) -> ( output )\n{\n    input = external(shape = [1,3,32,32])\n    output = relu<scalar>(input)\n}\n", ("<scalar>", "")),
    _mistake("planewise", "operation `planewise_conv` belongs to the provisional dialect; write `conv(x, filter, groups = 0)` [binding.undeclared-operation]", "version 1.0;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,8,8]);\n    f = variable<scalar>(shape = [3,1,3,3], label = \"f\");\n    output = planewise_conv(input, f);\n}\n"),
    _mistake("lambda", "there is no `lambda`; a fragment in front of the graph is a function [syntax.unexpected-token]", "version 1.0;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,8,8]);\n    f = lambda x: relu(x);\n    output = f(input);\n}\n"),
    _mistake("keyword_name", "`string` is a keyword and cannot be a name [syntax.keyword-as-name]", "version 1.0;\n\ngraph net(input) -> (string)\n{\n    input = external<scalar>(shape = [1,3,8,8]);\n    string = relu(input);\n}\n"),
    _mistake("version_patch", "version `1.0.5` is not supported; expected `1.0` [syntax.unsupported-version]", "version 1.0.5;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,8,8]);\n    output = relu(input);\n}\n", ("1.0.5", "1.0")),
    _mistake("missing_paren_open", "expected `(` behind `relu` [syntax.unexpected-token]", "version 1.0;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,8,8]);\n    output = relu input);\n}\n", ("relu input", "relu(input")),
    _mistake("swap_brackets", "parameters and results stand in `(` and `)` [syntax.unexpected-token]", "version 1.0;\n\ngraph net[input] -> [output]\n{\n    input = external<scalar>(shape = [1,3,8,8]);\n    output = relu(input);\n}\n", ("[input]", "(input)"), ("[output]", "(output)")),
    _mistake("list_type", "an array type is written `integer[]` [syntax.unexpected-token]", "version 1.0;\nextension KHR_enable_fragment_definitions;\n\nfragment f(x: tensor<scalar>, n: list<integer>) -> (y: tensor<scalar>)\n{\n    y = softmax(x, axes = n);\n}\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,8,8]);\n    output = f(input, n = [1]);\n}\n", ("list<integer>", "integer[]")),
    _mistake("copy", "operation `copy` belongs to the ratified dialect; it is `idn` here [binding.undeclared-operation]", "version 1.0\n\ngraph net( input ) -> ( output )\n{\n    input = external(shape = [1,3,32,32])\n    output = copy(input)\n}\n", ("copy(", "idn(")),
    _mistake("idn", "operation `idn` belongs to the provisional dialect; it is `copy` here [binding.undeclared-operation]", "version 1.0;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,8,8]);\n    output = idn(input);\n}\n", ("idn(", "copy(")),
    _mistake("axes", "`transpose` has no parameter `axes`; the ratified dialect calls `perm` so [binding.unknown-argument]", "version 1.0\n\ngraph net( input ) -> ( output )\n{\n    input = external(shape = [1,3,32,32])\n    output = transpose(input, axes = [0,2,3,1])\n}\n", ("axes", "perm")),
    _mistake("comma_lines", "an assignment ends with `;`, not with `,` [syntax.unexpected-token]", "version 1.0\n\ngraph net( input ) -> ( output )\n{\n    input = external(shape = [1,3,32,32])\n    x = relu(input),\n    output = relu(x)\n}\n", ("(input),", "(input);")),
    _mistake("print", "nothing takes the result of `print`; write `y = print(..)` [syntax.unexpected-token]", "version 1.0;\n\ngraph net(input) -> (output)\n{\n    input = external<scalar>(shape = [1,3,8,8]);\n    print(input);\n    output = relu(input);\n}\n"),
]
