"""Documents that break a rule of chapter 4 of the provisional text, and rules of the ratified text whose cases are in no other section."""

from __future__ import annotations

import numpy as np

from case import BOTH, PROVISIONAL, Case, Section

ONLY = dict(dialects=(PROVISIONAL,))
X = [2, 4, 8, 8]


def zeros(**shapes) -> dict[str, np.ndarray]:
    return {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}


def tensors() -> list[Case]:
    """4.1 and 4.7: externals, constants, variables and their updates."""
    external, constant, variable, update = Section("4.1.1", 0), Section("4.1.2", 0), Section("4.1.3", 0), Section("4.8", 0, "4.7")
    external.invalid("external", "external.shape", "an extent is negative",
                     "version 1.0\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, -1])\n    y = neg(x)\n}\n", **ONLY)
    for what, rule, text in [("one value less", "constant.value", "shape = [2, 2], value = [1.0, 2.0, 3.0]"),
                             ("one value more", "constant.value", "shape = [2], value = [1.0, 2.0, 3.0]"),
                             ("no value", "constant.value", "shape = [1], value = []"),
                             ("extent zero", "constant.shape", "shape = [0, 2], value = [1.0]"),
                             ("last extent zero", "constant.shape", "shape = [2, 0], value = [1.0]"),
                             ("extent negative", "constant.shape", "shape = [2, -1], value = [1.0]")]:
        constant.invalid("constant", rule, what, f"c = constant({text}); y = add(x, c)", **ONLY)
    for what, rule, text in [("empty label", "variable.label", "shape = [1], label = ''"),
                             ("extent zero", "variable.shape", "shape = [0], label = 'w'"),
                             ("last extent zero", "variable.shape", "shape = [1, 0], label = 'w'"),
                             ("extent negative", "variable.shape", "shape = [-2], label = 'w'")]:
        variable.invalid("variable", rule, what, f"v = variable({text}); y = add(x, v)", **ONLY)
    variable.invalid("variable", "variable.shared-label", "two shapes of one label",
                     "v = variable(shape = [1], label = 'w'); w = variable(shape = [2], label = 'w'); a = add(x, v); y = add(a, w)", **ONLY)
    v = "v = variable(shape = [2, 4], label = 'v'); "
    update.invalid("update", "update.shape", "one extent is less", v + "y = update(v, x)", zeros(x=[2, 3]), **ONLY)
    update.invalid("update", "update.shape", "a second axis is missing", v + "y = update(v, x)", zeros(x=[2]), **ONLY)
    update.invalid("update", "update.once", "a variable is updated twice", v + "a = update(v, x); y = update(v, a)", zeros(x=[2, 4]), **ONLY)
    update.invalid("update", "graph.update-target", "a result is updated", v + "a = update(v, x); y = update(a, x)", zeros(x=[2, 4]), **ONLY)
    update.invalid("update", "graph.update-target", "an external is updated", v + "a = update(v, x); y = update(x, a)", zeros(x=[2, 4]), **ONLY)
    update.invalid("update", "update.variable", "a result of a fragment is updated", """version 1.0;

extension KHR_enable_fragment_definitions;

fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = relu(x);
}

graph net( x ) -> ( y )
{
    x = external<scalar>(shape = [2, 4]);
    v = variable<scalar>(shape = [2, 4], label = 'v');
    w = f(v);
    y = update(w, x);
}
""")
    update.invalid("update", "update.variable", "an external is updated in a fragment", """version 1.0

fragment f( x: tensor, v: tensor ) -> ( y: tensor )
{
    y = update(v, x)
}

graph net( x ) -> ( y )
{
    x = external(shape = [2, 4])
    y = f(x, x)
}
""", **ONLY)
    return external.cases + constant.cases + variable.cases + update.cases


def elements() -> list[Case]:
    """4.2: operands of other data types and shapes."""
    one, two, three, four = Section("4.2.1", 0), Section("4.2.2", 0), Section("4.2.3", 0), Section("4.2.4", 0)
    one.invalid("not", "node.input-type", "of scalars", "y = not(x)", **ONLY)
    one.invalid("neg", "node.input-type", "of logicals", "c = gt(x, 0.0); y = neg(c)", **ONLY)
    one.invalid("round", "node.input-type", "of logicals", "c = gt(x, 0.0); y = round(c)", **ONLY)
    two.invalid("and", "node.input-type", "of scalars on the left", "c = gt(x, 0.0); y = and(x, c)", **ONLY)
    two.invalid("or", "node.input-type", "of scalars on the right", "c = gt(x, 0.0); y = or(c, x)", **ONLY)
    two.invalid("add", "node.input-type", "of logicals on the left", "c = gt(x, 0.0); y = add(c, x)", **ONLY)
    two.invalid("lt", "node.input-type", "of logicals on the right", "c = gt(x, 0.0); y = lt(x, c)", **ONLY)
    three.invalid("select", "node.input-type", "a condition of scalars", "y = select(x, x, x)", **ONLY)
    three.invalid("select", "node.input-types-differ", "scalars or logicals", "c = gt(x, 0.0); y = select(c, x, c)", **ONLY)
    three.invalid("select", "provisional.select-shapes", "values of two shapes", "c = gt(x, 0.0); y = select(c, x, z)", zeros(x=X, z=[2, 4]), **ONLY)
    three.invalid("select", "binary.broadcast", "a condition of another extent", "c = gt(x, 0.0); y = select(c, z, z)",
                  zeros(x=[2, 3], z=[2, 4]), **ONLY)
    for name in ("min", "max"):
        four.invalid(name, "provisional.select-shapes", "operands of two shapes", f"y = {name}(x, z)", zeros(x=[2, 3], z=[2, 1]), **ONLY)
    four.invalid("clamp", "provisional.select-shapes", "a lower bound of another shape", "y = clamp(x, z, 1.0)", zeros(x=[2, 3], z=[2, 1]), **ONLY)
    four.invalid("clamp", "provisional.select-shapes", "an upper bound of another shape", "y = clamp(x, 1.0, z)", zeros(x=[2, 3], z=[2, 1]), **ONLY)
    return one.cases + two.cases + three.cases + four.cases


def windows() -> list[Case]:
    """4.3: sizes, strides, dilations, padding and borders."""
    made = []
    size = "size = [1, 1, 3, 3]"
    for number, operation, call, borders in [
            ("4.3.2", "box", "y = box(x, %s)", True), ("4.3.2", "debox", "y = debox(x, %s)", False),
            ("4.3.3", "argmax_pool", "i = argmax_pool(x, %s); y = neg(x)", True), ("4.8.3", "max_pool", "y = max_pool(x, %s)", True),
            ("4.8.3", "avg_pool", "y = avg_pool(x, %s)", True), ("4.8.3", "rms_pool", "y = rms_pool(x, %s)", True),
            ("4.8.3", "max_pool_with_index", "y, i = max_pool_with_index(x, %s)", True)]:
        s = Section(number, 0)
        none = "padding = [(0,0), (0,0), (0,0), (0,0)]"
        for rule, what, text in [
                ("window.size", "size 0", "size = [1, 1, 0, 3]"), ("window.size", "last size negative", "size = [1, 1, 3, -1]"),
                ("window.stride", "stride 0", size + ", stride = [1, 1, 0, 1]"), ("window.stride", "last stride negative", size + ", stride = [1, 1, 1, -2]"),
                ("window.dilation", "dilation 0", size + ", dilation = [1, 1, 1, 0]"),
                ("window.dilation", "dilation negative", size + ", dilation = [1, 1, -1, 1]"),
                ("provisional.argument", "padding before negative", size + ", padding = [(0,0), (0,0), (-1,1), (1,1)]"),
                ("provisional.argument", "padding after negative", size + ", padding = [(0,0), (0,0), (1,1), (1,-1)]"),
                ("window.border", "border unknown", size + ", border = 'wrap'")]:
            s.invalid(operation, rule, what, call % text, **ONLY)
        if borders:
            s.invalid(operation, "window.fit", "a window one larger than the padded extent", call % f"size = [1, 1, 9, 1], {none}", **ONLY)
            s.invalid(operation, "window.fit", "a dilated window one larger than the padded extent",
                      call % f"size = [1, 1, 1, 5], dilation = [1, 1, 1, 2], {none}", **ONLY)
            s.invalid(operation, "window.border-reach", "a reflection beyond the extent",
                      call % "size = [1, 1, 3, 1], border = 'reflect', padding = [(0,0), (0,0), (8,0), (0,0)]", **ONLY)
        made += s.cases
    s = Section("4.3.3", 0)
    index = "i = argmax_pool(x, size = [1, 1, 2, 2]); "
    s.invalid("sample", "window.border", "border ignore", index + "y = sample(x, i, size = [1, 1, 2, 2], border = 'ignore')", **ONLY)
    s.invalid("desample", "window.border", "border replicate", index + "y = desample(x, i, size = [1, 1, 2, 2], border = 'replicate')", **ONLY)
    s.invalid("sample", "sample.index", "indices of another shape", index + "y = sample(x, i, size = [1, 1, 2, 2], stride = [1, 1, 2, 2])", **ONLY)
    s.invalid("sample", "node.input-type", "indices that are scalars", "y = sample(x, x, size = [1, 1, 2, 2])", **ONLY)
    s.invalid("desample", "node.input-type", "values that are indices", index + "y = desample(i, i, size = [1, 1, 2, 2])", **ONLY)
    s.invalid("sample", "provisional.coordinate-index", "windows of two ranks",
              index + "a = reshape(x, shape = [8, 64]); b = reshape(i, shape = [8, 64]); y = sample(a, b, size = [1, 2])", **ONLY)
    return made + s.cases


def filters() -> list[Case]:
    """4.3.1: filters, groups and biases."""
    s = Section("4.3.1", 0)
    x, f = zeros(x=[1, 4, 8, 8]), zeros(f=[6, 4, 3, 3])
    for operation in ("conv", "deconv"):
        first = x if operation == "conv" else zeros(x=[1, 6, 8, 8])
        for rule, what, text in [
                ("window.stride", "stride 0", ", stride = [0, 1]"), ("window.stride", "second stride negative", ", stride = [1, -1]"),
                ("window.dilation", "dilation 0", ", dilation = [1, 0]"), ("provisional.argument", "padding negative", ", padding = [(1,1), (-1,1)]"),
                ("window.border", "border ignore", ", border = 'ignore'"), ("window.border", "border unknown", ", border = 'wrap'"),
                ("provisional.argument", "groups 0", ", groups = 0"), ("provisional.argument", "groups negative", ", groups = -1")]:
            s.invalid(operation, rule, what, f"y = {operation}(x, f{text})", first, variables=f, **ONLY)
    s.invalid("conv", "conv.groups", "groups do not divide the outputs", "y = conv(x, f, groups = 4)", x, variables=zeros(f=[6, 1, 3, 3]), **ONLY)
    s.invalid("conv", "conv.channels", "channels of the filter one less", "y = conv(x, f)", x, variables=zeros(f=[6, 3, 3, 3]), **ONLY)
    s.invalid("conv", "conv.channels", "channels of the filter one more", "y = conv(x, f)", x, variables=zeros(f=[6, 5, 3, 3]), **ONLY)
    s.invalid("conv", "conv.channels", "groups 2 and all channels", "y = conv(x, f, groups = 2)", x, variables=f, **ONLY)
    s.invalid("conv", "conv.bias", "bias along the batch", "y = conv(x, f, b)", x, variables=f | zeros(b=[6]), **ONLY)
    s.invalid("conv", "conv.bias", "bias one short", "y = conv(x, f, b)", x, variables=f | zeros(b=[1, 5]), **ONLY)
    s.invalid("conv", "conv.bias", "bias with pixels", "y = conv(x, f, b)", x, variables=f | zeros(b=[1, 6, 8]), **ONLY)
    s.invalid("conv", "node.input-type", "an input of logicals", "c = gt(x, 0.0); y = conv(c, f)", x, variables=f, **ONLY)
    s.invalid("conv", "window.fit", "a filter one larger than the padded extent", "y = conv(x, f, padding = [(0,0), (0,0)])", x,
              variables=zeros(f=[6, 4, 9, 1]), **ONLY)
    return s.cases


def sampling() -> list[Case]:
    """4.3.4: factors, methods and borders."""
    s = Section("4.3.4", 0)
    for operation in ("nearest_upsample", "multilinear_upsample", "nearest_downsample", "area_downsample"):
        s.invalid(operation, "sampling.factor", "factor 0", f"y = {operation}(x, factor = [2, 0])", **ONLY)
        s.invalid(operation, "sampling.factor", "factor negative", f"y = {operation}(x, factor = [-2, 2])", **ONLY)
    for operation in ("nearest_downsample", "area_downsample"):
        s.invalid(operation, "sampling.factor", "a factor that does not divide the extent", f"y = {operation}(x, factor = [3, 2])", **ONLY)
    s.invalid("multilinear_upsample", "sampling.method", "method unknown", "y = multilinear_upsample(x, factor = [2, 2], method = 'cubic')", **ONLY)
    s.invalid("multilinear_upsample", "sampling.border", "border ignore", "y = multilinear_upsample(x, factor = [2, 2], border = 'ignore')", **ONLY)
    for operation in ("nearest_upsample", "multilinear_upsample", "nearest_downsample", "area_downsample"):
        s.invalid(operation, "sampling.rank", "no channel axis", f"y = {operation}(x, factor = [])", zeros(x=[4]))
    return s.cases


def ratified_shapes() -> list[Case]:
    """Axes before the first, lengths of output shapes, and operands that reductions do not have in the other sections."""
    reduce, reshape, split, softmax, moments = (Section(number, 0) for number in ("4.4", "4.5.1", "4.5.3", "4.9.1", "4.9.6"))
    for operation in ("argmin_reduce", "all_reduce", "any_reduce"):
        first = {"x": np.zeros(X, np.float32 if operation == "argmin_reduce" else np.bool_)}
        for rule, what, axes in [("axis.range", "axis one beyond", [4]), ("axis.range", "axis negative", [-1]), ("axis.repeated", "axis twice", [2, 2])]:
            reduce.invalid(operation, rule, what, f"y = {operation}(x, axes = {axes})", first)
    for operation in ("squeeze", "unsqueeze"):
        reshape.invalid(operation, "axis.range", "axis negative", f"y = {operation}(x, axes = [-1])")
    split.invalid("split", "axis.range", "axis negative", "[y, z] = split(x, axis = -1, ratios = [1, 1])")
    split.invalid("stack", "axis.range", "axis negative", "y = stack([x, x], axis = -1)")
    split.invalid("unstack", "axis.range", "axis negative", "[y, z] = unstack(x, axis = -4)")
    softmax.invalid("softmax", "axis.range", "axis negative", "y = softmax(x, axes = [-1])")
    moments.invalid("moments", "axis.range", "axis negative", "y, z = moments(x, axes = [-1])")
    moments.invalid("moments", "axis.repeated", "axis twice", "y, z = moments(x, axes = [1, 1])")
    filters, boxes, samples, steps = (Section(number, 0) for number in ("4.3.1", "4.3.2", "4.3.3", "4.9.2"))
    f, rule = zeros(f=[4, 4, 1, 1], p=[4, 1, 1, 1]), "window.output-shape"
    for what, shape in [("two extents of four", [8, 8]), ("five extents of four", [2, 4, 8, 8, 1]), ("one extent more", [2, 4, 9, 8])]:
        text = f"output_shape = {shape})"
        filters.invalid("deconv", rule, f"output shape {what}", f"y = deconv(x, f, {text}", variables={"f": f["f"]})
        boxes.invalid("debox", rule, f"output shape {what}", f"y = debox(x, size = [1, 1, 1, 1], {text}")
        samples.invalid("desample", rule, f"output shape {what}",
                        f"i = argmax_pool(x, size = [1, 1, 1, 1]); y = desample(x, i, size = [1, 1, 1, 1], {text}")
        steps.invalid("separable_deconv", rule, f"output shape {what}", f"y = separable_deconv(x, p, f, {text}", variables=f)
    sections = (reduce, reshape, split, softmax, moments, filters, boxes, samples, steps)
    return [case for section in sections for case in section.cases]


def shapes() -> list[Case]:
    """4.4, 4.5 and 4.6: reductions, shapes and products."""
    reduce, reshape, transpose, split, matmul = (Section(number, 0) for number in ("4.4", "4.5.1", "4.5.2", "4.5.3", "4.6"))
    for operation in ("sum_reduce", "max_reduce", "min_reduce", "mean_reduce"):
        reduce.invalid(operation, "axis.range", "axis negative", f"y = {operation}(x, axes = [-1])", **ONLY)
        reduce.invalid(operation, "axis.repeated", "axis twice", f"y = {operation}(x, axes = [2, 2])", **ONLY)
    for operation in ("sum_reduce", "max_reduce", "min_reduce", "mean_reduce"):
        reduce.invalid(operation, "node.input-type", "of logicals", f"c = gt(x, 0.0); y = {operation}(c, axes = [1])", **ONLY)
    for rule, what, text in [("reshape.volume", "one item more", "[257, 2]"), ("reshape.volume", "-1 that does not divide", "[3, -1]"),
                             ("reshape.items", "two of -1", "[-1, -1]"), ("reshape.items", "an item of -2", "[2, -2]")]:
        reshape.invalid("reshape", rule, what, f"y = reshape(x, shape = {text})", **ONLY)
    for what, perm in [("an axis twice", [0, 1, 1]), ("an axis left out", [0, 2]), ("negative", [-1, 0])]:
        transpose.invalid("transpose", "transpose.axes", what, f"y = transpose(x, perm = {perm})", **ONLY)
    three = zeros(x=[2, 3], z=[2, 4])
    split.invalid("concat", "concat.extents", "an extent beside the axis", "y = concat([x, z], axis = 0)", three, **ONLY)
    split.invalid("concat", "axis.range", "axis negative", "y = concat([x, z], axis = -1)", three, **ONLY)
    split.invalid("concat", "node.input-types-differ", "scalars and logicals", "c = gt(x, 0.0); y = concat([x, c], axis = 1)", **ONLY)
    split.invalid("split", "axis.range", "axis negative", "[y, z] = split(x, axis = -1, ratios = [1, 1])", **ONLY)
    for what, ratios in [("ratios that do not divide", [1, 2]), ("a ratio of 0", [0, 2]), ("a ratio that is negative", [-1, 2])]:
        split.invalid("split", "split.ratios", what, f"[y, z] = split(x, axis = 1, ratios = {ratios})", **ONLY)
    split.invalid("concat", "concat.empty", "no tensors", "y = concat([], axis = 0)", **ONLY)
    split.invalid("concat", "concat.empty", "no tensors", "y = concat<scalar>([], axis = 0)")
    split.invalid("stack", "concat.empty", "no tensors", "y = stack<scalar>([], axis = 0)")
    pair = lambda p, q: zeros(a=p, b=q)  # noqa: E731
    matmul.invalid("matmul", "matmul.inner-extents", "3 and 4", "y = matmul(a, b)", pair([2, 3], [4, 2]), **ONLY)
    matmul.invalid("matmul", "matmul.inner-extents", "first transposed 3 and 2", "y = matmul(a, b, trA = true)", pair([3, 2], [2, 4]), **ONLY)
    matmul.invalid("matmul", "matmul.inner-extents", "second transposed 3 and 2", "y = matmul(a, b, trB = true)", pair([2, 3], [4, 2]), **ONLY)
    matmul.invalid("matmul", "matmul.inner-extents", "both transposed 3 and 4", "y = matmul(a, b, trA = true, trB = true)", pair([3, 2], [4, 2]), **ONLY)
    matmul.invalid("matmul", "provisional.matrix-rank", "first of rank 3", "y = matmul(a, b)", pair([2, 3, 4], [4, 2]), **ONLY)
    matmul.invalid("matmul", "provisional.matrix-rank", "second of rank 3", "y = matmul(a, b)", pair([2, 3], [3, 2, 4]), **ONLY)
    return reduce.cases + reshape.cases + transpose.cases + split.cases + matmul.cases


def compounds() -> list[Case]:
    """4.8: normalization and copies; gathered indices and regions of the ratified text."""
    local, misc, gather, roi = Section("4.8.4", 0), Section("4.9.6", 0, "4.8.6"), Section("4.5.7", 0), Section("4.6.1", 0)
    for operation in ("local_response_normalization", "local_mean_normalization", "local_variance_normalization", "local_contrast_normalization"):
        local.invalid(operation, "normalization.size", "size 0", f"y = {operation}(x, size = [1, 0, 1, 1])", **ONLY)
        local.invalid(operation, "normalization.size", "last size negative", f"y = {operation}(x, size = [1, 1, 1, -1])", **ONLY)
    misc.invalid("copy_n", "copy_n.times", "times -1", "[y] = copy_n(x, times = -1)", dialects=BOTH)
    for what, index in [("index at the extent", 4), ("index negative", -1)]:
        gather.invalid("gather", "gather.index", what, f"i = constant<integer>(shape = [2], value = [0, {index}]); y = gather(x, i, axis = 1)")
    flat = zeros(x=[2, 3], r=[4, 4]) | {"b": np.zeros([4, 1], np.int64)}
    for operation in ("avg_roi_pool", "max_roi_pool"):
        roi.invalid(operation, "roi.input", "no spatial axis", f"y = {operation}(x, r, b, output_size = [])", flat)
    resample = Section("4.6.2", 0)
    resample.invalid("roi_resample", "roi.input", "no spatial axis", "y = roi_resample(x, r, b, output_size = [])", flat)
    return local.cases + misc.cases + gather.cases + roi.cases + resample.cases


def cases() -> list[Case]:
    found = tensors() + elements() + windows() + filters() + sampling() + ratified_shapes() + shapes() + compounds()
    return [numbered(case) for case in found]


def numbered(case: Case) -> Case:
    """The case under a name that no section has: its number is that of this file."""
    case.name = f"rule_{case.name}"[:60].rstrip("_")
    return case
