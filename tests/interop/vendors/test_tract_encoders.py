"""Documents as encoders of speech use them in tract's dialect, against tract: masks and distances computed from positions,
relative positions by padding and reshaping, context in front of a stream, subsampled sequences, loops. One document with open
extents runs in three sizes, on both backends and as the IR of `compile` in OpenVINO."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import tract

from models import Nnefc
from openvino_oracle import openvino_outputs
from tensor_files import write_dat

F32 = np.float32
RANDOM = np.random.default_rng(31)
HEAD = "version 1.0;\nextension tract_registry tract_core;\nextension tract_registry tract_transformers;\n"
Shape = list[int | str]
ABC: dict[str, Shape] = {"a": ["T", 3], "b": ["T", 3], "c": ["T", 3]}
AB: dict[str, Shape] = {"a": ["T", 3], "b": ["T", 3]}
LENGTHS = ({"T": 6}, {"T": 1}, {"T": 9})
STREAMS = ({"B": 1, "T": 7}, {"B": 3, "T": 4}, {"B": 2, "T": 10})


@dataclass
class Case:
    body: str  # the statements; `y` is the result
    inputs: dict[str, Shape]
    extents: tuple[dict[str, int], ...] = LENGTHS
    variables: dict[str, tuple[int, ...]] = field(default_factory=dict)
    logicals: tuple[str, ...] = ()
    fragments: str = ""
    are_symbols_declared: bool = True
    has_plain_externals: bool = False

    def write(self, folder: Path) -> Path:
        folder.mkdir()
        texts = {name: ", ".join(map(str, shape)) for name, shape in self.inputs.items()}
        symbols = sorted({symbol for text in texts.values() for symbol in re.findall(r"[A-Za-z]\w*", text)})
        head = HEAD + "".join(f"extension tract_symbol {symbol};\nextension tract_assert {symbol} >= 1;\n" for symbol in symbols if self.are_symbols_declared)
        lines = [f"{name} = external<scalar>(shape = [{text}]);" if self.has_plain_externals else
                 f"{name} = tract_core_external(shape = [{text}], datum_type = '{'bool' if name in self.logicals else 'f32'}');" for name, text in texts.items()]
        for label, shape in self.variables.items():
            lines.append(f"{label} = variable<scalar>(label = '{label}', shape = {list(shape)});")
            write_dat(folder / f"{label}.dat", np.random.default_rng(len(label)).standard_normal(shape).astype(F32))
        body = "\n  ".join([*lines, *(line.strip() for line in self.body.strip().splitlines())])
        (folder / "graph.nnef").write_text(f"{head}\n{self.fragments}\ngraph net({', '.join(self.inputs)}) -> (y)\n{{\n  {body}\n}}\n")
        return folder

    def data(self, extents: dict[str, int]) -> dict[str, np.ndarray]:
        shapes = {name: [eval(str(extent), {}, dict(extents)) for extent in shape] for name, shape in self.inputs.items()}  # noqa: S307
        values = {name: RANDOM.standard_normal(shape).astype(F32) for name, shape in shapes.items()}
        return {name: value > -0.5 if name in self.logicals else value for name, value in values.items()}


# The chunk of each position, two positions in each, by integers and by floats; the difference between rows and columns.
CHUNKS = """n = tract_core_shape_of(a)[0];
positions = tract_core_range(0, n, step = 1);
chunk = positions / 2;
row = unsqueeze(chunk, axes = [1]);
column = unsqueeze(chunk, axes = [0]);
"""
FLOAT_CHUNKS = """extents = tract_core_shape_of({});
n = squeeze(slice(extents, axes = [0], begin = [{}], end = [{}], stride = [1]), axes = [0]);
positions = tract_core_range(0, n, step = 1);
places = tract_core_cast(positions, to = 'f32');
two = tract_core_cast(2, to = 'f32');
part = floor(div(places, two));
chunk = tract_core_cast(part, to = 'i64');
apart = sub(unsqueeze(chunk, axes = [1]), unsqueeze(chunk, axes = [0]));
low = tract_core_cast(0, to = 'i64');
high = tract_core_cast({}, to = 'i64');
mask = and(le(apart, high), ge(apart, low));
"""
BAND = CHUNKS + """apart = row - column;
mask = and(ge(apart, {}), le(apart, {}));
"""
SCORES = "scores = tract_core_einsum([a, b], expr = 'id,jd->ij', acc = 'f32');\n"
SUM_OF_MASKED = "kept = mul(scores, tract_core_cast(mask, to = 'f32'));\ny = squeeze(sum_reduce(kept, axes = [0]), axes = [0]);"
VALUES_OF_MASKED = "kept = mul(scores, tract_core_cast(mask, to = 'f32'));\ny = tract_core_einsum([kept, c], expr = 'ij,jd->id', acc = 'f32');"
ATTENTION = ("weights = tract_transformers_scaled_masked_softmax(scores, mask, scale = 0.5, post_softmax_mask = false);\n"
             "y = tract_core_einsum([weights, c], expr = 'ij,jd->id', acc = 'f32');")
SELECTED = "weights = softmax(select(mask, scores, scores * 0.0 + -inf), axes = [1]);\ny = matmul(weights, c);"
SAME = CHUNKS + "mask = eq(row, column);\n"
# Scores of queries and distances, [T, 2T-1], moved so that column j of row i has the distance i - j.
MOVED = """padded = pad(distant, padding = [[0, 0], [1, 0]], value = 0.0);
view = reshape(padded, shape = [-1, T]);
rest = slice(view, axes = [0], begin = [1], end = [2*T]);
rows = reshape(rest, shape = [T, -1]);
near = slice(rows, axes = [1], begin = [0], end = [T]);
scores = (matmul(a, b, transposeB = true) + near) * 0.5;
"""
MOVED_BY_SHAPES = """padded = pad(distant, padding = [[0, 0], [1, 0]], value = 0.0);
twice = 2 * n;
view = reshape(padded, shape = [twice, n]);
rest = slice(view, axes = [0], begin = [1], end = [twice], stride = [1]);
rows = reshape(rest, shape = [n, twice - 1]);
near = slice(rows, axes = [1], begin = [0], end = [n], stride = [1]);
"""
PARTS = "q = slice(x, axes = [{0}], begin = [0], end = [{1}]);\nk = slice(x, axes = [{0}], begin = [{1}], end = [{2}]);\nv = slice(x, axes = [{0}], begin = [{2}], end = [{3}]);\n"
POOL = """{0}4 = unsqueeze(unsqueeze({0}, axes = [0]), axes = [0]);
{0}m = max_pool({0}4, size = [1, 1, 3, 1], padding = [(0, 0), (0, 0), ({1}, {1}), (0, 0)], stride = [1, 1, {2}, 1], dilation = [1, 1, 1, 1], border = 'constant');
{0}p = squeeze(squeeze({0}m, axes = [0]), axes = [0]);
"""
PLACES = """center = tract_core_cast(10, to = 'i64');
first = sub(center, n);
last = sub(add(center, n), 1);
near_table = tract_core_dyn_slice(table, first, last, axis = 0, len = 2 * {0} - 1);
distant = tract_core_einsum([q, near_table], expr = 'bid,jd->bij', acc = 'f32');
padded = pad(distant, padding = [[0, 0], [0, 0], [1, 0]], value = 0.0);
view = reshape(padded, shape = [1, -1, n]);
one = tract_core_cast(1, to = 'i64');
rest = tract_core_dyn_slice(view, one, add(n, n), axis = 1, len = 2 * {0} - 1);
rows = reshape(rest, shape = [1, n, -1]);
zero = tract_core_cast(0, to = 'i64');
near = tract_core_dyn_slice(rows, zero, n, axis = 2, len = {0});
scores = add(tract_core_einsum([q, k], expr = 'bid,bjd->bij', acc = 'f32'), near);
weights = softmax(select(unsqueeze(mask, axes = [0]), scores, scores * 0.0 + -inf), axes = [2]);
y = tract_core_einsum([weights, v], expr = 'bij,bjd->bid', acc = 'f32');
"""
CASES = {
    # ---- masks from positions ----
    "sums_in_chunks": Case(SCORES + SAME + SUM_OF_MASKED, AB),
    "sums_in_a_band": Case(SCORES + BAND.format(0, 1) + SUM_OF_MASKED, AB),
    "sums_in_a_causal_band": Case(SCORES + BAND.format(-1, 0) + SUM_OF_MASKED, AB),
    "sums_of_batches_in_a_band": Case(
        "scores = tract_core_einsum([a, b], expr = 'nid,njd->nij', acc = 'f32');\n" + BAND.format(0, 1).replace("(a)[0]", "(a)[1]") +
        "wide = unsqueeze(tract_core_cast(mask, to = 'f32'), axes = [0]);\ny = squeeze(sum_reduce(mul(scores, wide), axes = [1]), axes = [1]);",
        {"a": ["B", "T", 3], "b": ["B", "T", 3]}, STREAMS),
    "sums_behind_an_offset": Case(SCORES + SAME + SUM_OF_MASKED, {"a": ["1+T", 3], "b": ["1+T", 3]}),
    "values_in_chunks": Case(SCORES + FLOAT_CHUNKS.format("a", 0, 1, 0) + VALUES_OF_MASKED, ABC),
    "values_in_a_band": Case(SCORES + BAND.format(0, 1) + VALUES_OF_MASKED, ABC),
    "attention_in_chunks": Case(SCORES + SAME + ATTENTION, ABC),
    "attention_in_a_band": Case(SCORES + BAND.format(0, 1) + ATTENTION, ABC),
    "attention_by_select": Case(SCORES + SAME + SELECTED, ABC),
    "two_layers_of_attention": Case(
        SCORES + SAME + ATTENTION.replace("y =", "d =") + "\nscores = tract_core_einsum([d, e], expr = 'id,jd->ij', acc = 'f32');\n" + ATTENTION.replace("c]", "f]"),
        {**ABC, "e": ["T", 3], "f": ["T", 3]}),
    "attention_of_pooled": Case(POOL.format("a", 1, 1) + SCORES.replace("[a", "[ap") + SAME + ATTENTION, ABC),
    "attention_of_subsampled": Case("".join(POOL.format(name, 0, 2) for name in "abc") + SCORES.replace("[a, b", "[ap, bp") +
                                    SAME.replace("(a)", "(ap)") + ATTENTION.replace("c]", "cp]"), ABC, ({"T": 9}, {"T": 3}, {"T": 8})),
    "attention_of_whole_chunks": Case(
        "".join(POOL.format(name, 0, 2) + f"{name}c = reshape({name}p, shape = [s, 2, 3]);\n" for name in "abc") +
        "scores = tract_core_einsum([ac, bc], expr = 'cid,cjd->cij', acc = 'f32');\nweights = softmax(scores * 0.5, axes = [2]);\n"
        "parts = tract_core_einsum([weights, cc], expr = 'cij,cjd->cid', acc = 'f32');\ny = reshape(parts, shape = [2*s, 3]);",
        {name: ["4*s+1", 3] for name in "abc"}, ({"s": 2}, {"s": 1}, {"s": 4})),
    "sums_of_whole_chunks": Case(
        "p = reshape(a, shape = [S, 2, 3]);\nq = reshape(b, shape = [S, 2, 3]);\nscores = tract_core_einsum([p, q], expr = 'spd,sqd->spq', acc = 'f32');\n"
        "y = reshape(squeeze(sum_reduce(scores, axes = [1]), axes = [1]), shape = [2*S]);", {"a": ["2*S", 3], "b": ["2*S", 3]}, ({"S": 3}, {"S": 1}, {"S": 5})),
    "valid_pairs": Case(
        "scores = matmul(a, b, transposeB = true);\nwide = tract_core_broadcast(unsqueeze(valid, axes = [0]), shape = [T, T]);\n"
        "pairs = and(wide, transpose(wide, axes = [1, 0]));\n" + BAND.format(0, 1).replace("mask =", "near =") + "mask = and(near, pairs);\n" +
        SELECTED.replace("-inf", "-1000.0"), {**ABC, "valid": ["T"]}, logicals=("valid",)),
    "heads_in_one_tensor": Case(
        PARTS.format(3, 4, 8, 12) + "scores = tract_core_einsum([q, k], expr = 'bhtd,bhsd->bhts', acc = 'f32');\n" + FLOAT_CHUNKS.format("x", 2, 3, 1) +
        "wide = unsqueeze(unsqueeze(mask, axes = [0]), axes = [0]);\nweights = softmax(select(wide, scores, scores * 0.0 + -inf), axes = [3]);\n"
        "y = tract_core_einsum([weights, v], expr = 'bhts,bhsd->bhtd', acc = 'f32');", {"x": [1, 2, "T", 12]}),
    "heads_by_reshapes": Case(
        PARTS.format(2, 8, 16, 24) + "".join(f"{name}h = reshape({name}, shape = [1, T, 2, 4]);\n" for name in "qkv") +
        "scores = tract_core_einsum([qh, kh], expr = 'bihd,bjhd->bhij', acc = 'f32');\n" + FLOAT_CHUNKS.format("x", 1, 2, 1) +
        "wide = unsqueeze(mask, axes = [0, 0]);\nweights = tract_transformers_scaled_masked_softmax(scores, wide, scale = 1.0, post_softmax_mask = false);\n"
        "y = reshape(tract_core_einsum([weights, vh], expr = 'bhij,bjhd->bihd', acc = 'f32'), shape = [1, T, 8]);", {"x": [1, "T", 24]}),
    "slopes_of_distances": Case(
        SCORES + FLOAT_CHUNKS.format("a", 0, 1, 1) + "distance = sub(unsqueeze(places, axes = [1]), unsqueeze(places, axes = [0]));\n"
        "scores = add(scores, distance * -0.125);\n" + SELECTED, ABC),
    "slopes_of_chunks": Case(
        SCORES + FLOAT_CHUNKS.format("a", 0, 1, 1) + "distance = sub(unsqueeze(part, axes = [1]), unsqueeze(part, axes = [0]));\n"
        "scores = add(scores, distance * -0.5);\n" + SELECTED, ABC),
    # ---- relative positions ----
    "distances_of_an_input": Case("distant = matmul(a, d, transposeB = true);\n" + MOVED + CHUNKS.replace("n = tract_core_shape_of(a)[0];", "").replace("n,", "T,") +
                                  "mask = eq(row, column);\n" + SELECTED, {**ABC, "d": ["2*T-1", 3]}),
    "distances_by_a_product": Case("distant = matmul(a, matmul(d, w), transposeB = true);\n" + MOVED + BAND.format(0, 1) + SELECTED,
                                   {**ABC, "d": ["2*T-1", 3], "w": [3, 3]}),
    "distances_of_a_table": Case(
        "near_table = slice(table, axes = [0], begin = [10 - T], end = [9 + T], stride = [1]);\ndistant = tract_core_einsum([a, near_table], expr = 'id,jd->ij', acc = 'f32');\n" +
        BAND.format(0, 1) + MOVED_BY_SHAPES + "scores = add(tract_core_einsum([a, b], expr = 'id,jd->ij', acc = 'f32'), near);\n" + ATTENTION, ABC,
        variables={"table": (19, 3)}),
    "distances_of_a_dynamic_slice": Case(PARTS.format(2, 4, 8, 12) + FLOAT_CHUNKS.format("x", 1, 2, 1) + PLACES.format("T"), {"x": [1, "T", 12]}, variables={"table": (19, 4)}),
    "distances_of_a_subsampled_sequence": Case(
        "".join(f"{name} = slice({name}a, axes = [1], begin = [0], end = [T], stride = [2]);\n" for name in "qkv") + FLOAT_CHUNKS.format("q", 1, 2, 3) +
        PLACES.format("((T + 1) / 2)"), {f"{name}a": [1, "T", 4] for name in "qkv"}, ({"T": 8}, {"T": 3}, {"T": 14}), {"table": (19, 4)}),
    "distances_of_a_sequence_subsampled_twice": Case(
        "".join(f"{name}m = slice({name}a, axes = [1], begin = [0], end = [T], stride = [2]);\n"
                f"{name} = slice({name}m, axes = [1], begin = [0], end = [(T + 1) / 2], stride = [2]);\n" for name in "qkv") + FLOAT_CHUNKS.format("q", 1, 2, 3) +
        PLACES.format("((T + 3) / 4)"), {f"{name}a": [1, "T", 4] for name in "qkv"}, ({"T": 16}, {"T": 3}, {"T": 29}), {"table": (19, 4)}),
    # ---- streams as a whole ----
    "context_in_front": Case("y = concat([context, x], axis = 2);", {"x": ["B", 1, "T"], "context": ["B", 1, 6]}, STREAMS),
    "causal_convolution": Case("padded = pad(x, padding = [(0, 0), (0, 0), (2, 0)], border = 'constant', value = 0.0);\nkernel = [[[1.0, 2.0, 3.0]]];\n"
                               "y = conv(padded, kernel, border = 'constant', padding = [(0, 0)]);", {"x": ["B", 1, "T"]}, STREAMS),
    "frames_without_a_batch": Case("w = [[1.0, 0.5], [0.0, 1.0], [-0.5, 0.25]];\nbias = [[0.5, -0.25]];\nh = tanh(mul(add(matmul(x, w), bias), scale));\n"
                                   "y = sum_reduce(h, axes = [1]);", {"x": ["T", 3], "scale": [1, 2]}),
    "frames_before_the_batch": Case("w = [[[1.0, 0.5], [0.0, 1.0], [-0.5, 0.25]]];\ny = sum_reduce(matmul(x, w), axes = [2]);", {"x": ["T", "B", 3]}, STREAMS),
    "previous_chunk_in_attention": Case(
        PARTS.format(1, 2, 4, 6) + "".join(f"{name}p = slice(pad({name}, padding = [(1, 0), (0, 0), (0, 0)]), axes = [0], begin = [0], end = [T]);\n"
                                           f"{name}c = concat([{name}p, {name}], axis = 1);\n" for name in "kv") +
        "weights = softmax(tract_core_einsum([q, kc], expr = 'cpd,cld->cpl', acc = 'f32'), axes = [2]);\n"
        "y = tract_core_einsum([weights, vc], expr = 'cpl,cld->cpd', acc = 'f32');", {"x": ["T", 6, 4]}),
    "choice_of_convolutions": Case("".join(f"{name} = conv(x, [[{[0.1 * (i + 1) for i in range(size)]}]], padding = [(0, {size - 1})], border = 'constant', stride = [1], dilation = [1]);\n"
                                           for name, size in (("p", 2), ("q", 3), ("r", 4))) + "y = select(gt(r, 0.0), p, q);",
                                   {"x": [1, 1, "S"]}, ({"S": 7}, {"S": 4}, {"S": 12}), are_symbols_declared=False, has_plain_externals=True),
    "mask_as_long_as_a_convolution": Case("padded = pad(x, padding = [[0, 0], [0, 0], [2, 1]], value = 0.0);\nkernel = [[[0.25, 0.5, 0.125]]];\n"
                                          "c = conv(padded, kernel, dilation = [1], padding = [(0, 0)], stride = [2], groups = 1, border = 'constant');\n"
                                          "small = tract_core_broadcast(0.5, shape = [1, 1, S/2 + 1]);\ny = mul(c, small);",
                                          {"x": [1, 1, "S"]}, ({"S": 8}, {"S": 5}, {"S": 2}), are_symbols_declared=False, has_plain_externals=True),
    "first_rows_of_a_table": Case("table = tract_core_broadcast(0.25, shape = [99, 1]);\ns = tract_core_shape_of(x);\nn = slice(s, axes = [0], begin = [0], end = [1], stride = [1]);\n"
                                  "n = squeeze(n, axes = [0]);\nrows = slice(table, axes = [0], begin = [0], end = [n]);\ny = add(x, rows);",
                                  {"x": ["S", 1]}, ({"S": 8}, {"S": 1}, {"S": 2}), are_symbols_declared=False, has_plain_externals=True),
    "first_half": Case("s = tract_core_shape_of(x);\nn = squeeze(slice(s, axes = [0], begin = [2], end = [3], stride = [1]), axes = [0]);\nh = toward_zero(div(n, 2));\n"
                       "y = slice(x, axes = [2], begin = [0], end = [h], stride = [1]);", {"x": [3, 1, "S"]}, ({"S": 8}, {"S": 3}, {"S": 2}),
                       fragments="fragment toward_zero( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = select(x < 0, ceil(x), floor(x)); }",
                       are_symbols_declared=False, has_plain_externals=True),
    "positions_added_before_a_pool": Case("p = pad(x, padding = [[1, 0]], value = 0.0);\nr = tract_core_cast(tract_core_range(0, tract_core_shape_of(p)[0], step = 1), to = 'f32');\n"
                                          "c = unsqueeze(unsqueeze(unsqueeze(p + r, axes = [0]), axes = [0]), axes = [0]);\n"
                                          "m = max_pool(c, size = [1, 1, 1, 3], padding = [(0, 0), (0, 0), (0, 0), (1, 1)], stride = [1, 1, 1, 1], dilation = [1, 1, 1, 1], border = 'constant');\n"
                                          "y = squeeze(squeeze(squeeze(m, axes = [0]), axes = [0]), axes = [0]);", {"x": ["T"]}),
    "mask_of_all_positions": Case("s = tract_core_shape_of(x);\nn = squeeze(slice(s, axes = [0], begin = [1], end = [2], stride = [1]), axes = [0]);\nm = tile([[0.0]], repeats = [n, n]);\n"
                                  "k = squeeze(slice(tract_core_shape_of(m), axes = [0], begin = [1], end = [2], stride = [1]), axes = [0]);\nr = tract_core_range(0, k, step = 1);\n"
                                  "column = reshape(add(r, 1), shape = [k, 1]);\nc = lt(unsqueeze(r, axes = [0]), column);\nf = tile([[-1.0]], repeats = tract_core_shape_of(m));\n"
                                  "y = select(c, m, f);", {"x": ["B", "T", 4]}, STREAMS),
    "tiles_by_an_item_of_a_range": Case("s = tract_core_shape_of(x);\nn = squeeze(slice(s, axes = [0], begin = [0], end = [1], stride = [1]), axes = [0]);\nr = tract_core_range(n, 2*n, step = 1);\n"
                                        "m = squeeze(slice(r, axes = [0], begin = [0], end = [1], stride = [1]), axes = [0]);\ny = tile(x, repeats = [m, 1]);", {"x": ["T", 2]}),
    "loop_with_all_rows": Case("z = mul(x, 0.5);\ny = tract_core_scan(body = 'step', scan = [('part', x, 0, 1)], full = [('all', z)], state = [], output = [('next', 'full', 0, 1)]);",
                               {"x": ["T", 4]}, fragments="fragment step( part: tensor<scalar>, all: tensor<scalar> ) -> ( next: tensor<scalar> )\n"
                               "{ next = add(part, slice(all, axes = [0], begin = [0], end = [1])); }"),
    "loop_from_a_variable": Case("y = tract_core_scan(body = 'step', scan = [('x_t', x, 0, 1)], full = [], state = [('before', h0, 'next')], output = [('next', 'full', 0, 1)],\n"
                                 "skip = 0, reset_every_turn = false, external_state = false);", {"x": ["T", 4]}, variables={"h0": (1, 4)},
                                 fragments="fragment step( x_t: tensor<scalar>, before: tensor<scalar> ) -> ( next: tensor<scalar> ) { next = add(x_t, before); }"),
}


def by_tract(model: Path, inputs: dict[str, np.ndarray]) -> np.ndarray:
    return tract.nnef().with_tract_transformers().load(str(model)).into_runnable().run([*inputs.values()])[0].to_numpy()


@pytest.mark.parametrize("name", CASES)
def test_document(name: str, nnefc: Path, tmp_path: Path) -> None:
    case, tool = CASES[name], Nnefc(nnefc, tmp_path)
    model = case.write(tmp_path / "model")
    tool.must("compile", model, "-o", tmp_path / "net.xml")
    for extents in case.extents:
        inputs = case.data(extents)
        expected = by_tract(model, inputs)
        np.savez(tmp_path / "in.npz", **inputs)
        found = {each: tool.run(model, "--inputs", tmp_path / "in.npz", "--backend", each)["y"] for each in ("reference", "fast")}
        found["openvino"] = openvino_outputs(tmp_path / "net.xml", inputs)[0]
        for where, value in found.items():
            assert value.shape == expected.shape, (where, extents)
            np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-5, err_msg=f"{where} {extents}")
