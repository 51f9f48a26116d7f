"""If-8 and TensorIterator-1 that break a rule of their documentation: each message names the layer."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ir_builder import Graph, Port, back_edges, mapped
from seed_if_cases import condition, truth
from seed_models import FLOAT, Branches, Loop, Refusal, finish, ramp, refused

Edit = Callable[[str], str]


def replaced(old: str, new: str, count: int = 1) -> Edit:
    return lambda text: text.replace(old, new, count)


def in_part(tag: str, edit: Edit) -> Edit:
    """Returns an edit of the content of the first element with that name."""
    return lambda text: re.sub(f"<{tag}>.*?</{tag}>", lambda match: edit(match[0]), text, count=1, flags=re.DOTALL)


def small_if(cond: Port | None = None, graph: Graph | None = None, inputs: dict[str, np.ndarray] | None = None,
             edit: Edit = str, at_run: bool = False, words: tuple[str, ...] = ()) -> Refusal:
    """x + x or x * x: in each body Parameter 0, the operation 1, Result 2; port 1 is x, port 2 the output."""
    graph = graph or Graph()
    cond = cond or condition(graph)
    x = graph.parameter([2], name="x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    choice.give(choice.then.binary("Add", then, then, [2]), choice.other.binary("Multiply", other, other, [2]))
    made = choice.close()
    return Refusal(finish(graph, made[0]), "choice", words, {**(inputs or {}), "x": ramp(2)}, at_run, edit)


def other_condition(shape: list[int], type_: str) -> Refusal:
    graph = Graph()
    return small_if(graph.parameter(shape, type_, "cond"), graph)


refused("if-condition-i32", [], "i32")(other_condition)
refused("if-condition-f32", [1], "f32")(other_condition)
refused("if-condition-of-rank-2", [1, 1], "boolean")(other_condition)
refused("if-condition-of-two", [2], "boolean")(other_condition)
refused("if-condition-of-none", [0], "boolean")(other_condition)


@refused("if-constant-condition-of-two", [True, False])
@refused("if-constant-condition-of-none", [])
@refused("if-constant-condition-of-rank-2", [[True]])
def constant_condition(values: list) -> Refusal:
    graph = Graph()
    return small_if(graph.const(values, bool), graph)


@refused("if-open-condition-of-two", 2)
@refused("if-open-condition-of-none", 0)
def open_condition(count: int) -> Refusal:
    graph = Graph()
    return small_if(graph.parameter([-1], "boolean", "cond"), graph, {"cond": truth(True, [count])}, at_run=True)


IF_EDITS: dict[str, Edit] = {
    "if-output-of-then-alone": in_part("else_port_map", replaced(mapped("output", 2, 2), "")),
    "if-output-of-else-alone": in_part("then_port_map", replaced(mapped("output", 2, 2), "")),
    "if-parameter-without-input": in_part("then_port_map", replaced(mapped("input", 1, 0), "")),
    "if-parameter-fed-twice": in_part("then_port_map", replaced(mapped("input", 1, 0), mapped("input", 1, 0) * 2)),
    "if-output-twice": in_part("then_port_map", replaced(mapped("output", 2, 2), mapped("output", 2, 2) * 2)),
    "if-unknown-input": in_part("then_port_map", replaced(mapped("input", 1, 0), mapped("input", 8, 0))),
    "if-unknown-output": in_part("else_port_map", replaced(mapped("output", 2, 2), mapped("output", 9, 2))),
    "if-unknown-parameter": in_part("else_port_map", replaced(mapped("input", 1, 0), mapped("input", 1, 40))),
    "if-unknown-result": in_part("then_port_map", replaced(mapped("output", 2, 2), mapped("output", 2, 41))),
    "if-input-to-an-operation": in_part("then_port_map", replaced(mapped("input", 1, 0), mapped("input", 1, 1))),
    "if-input-to-a-result": in_part("then_port_map", replaced(mapped("input", 1, 0), mapped("input", 1, 2))),
    "if-output-of-an-operation": in_part("then_port_map", replaced(mapped("output", 2, 2), mapped("output", 2, 1))),
    "if-output-of-a-parameter": in_part("else_port_map", replaced(mapped("output", 2, 2), mapped("output", 2, 0))),
    "if-negative-port": in_part("then_port_map", replaced('external_port_id="1"', 'external_port_id="-1"')),
    "if-port-not-a-number": in_part("then_port_map", replaced('external_port_id="1"', 'external_port_id="one"')),
    "if-map-without-port": in_part("then_port_map", replaced('external_port_id="1" ', "")),
    "if-map-without-layer": in_part("else_port_map", replaced(' internal_layer_id="2"', "")),
    "if-without-then-map": in_part("then_port_map", lambda text: ""),
    "if-without-else-map": in_part("else_port_map", lambda text: ""),
    "if-without-then-body": in_part("then_body", lambda text: ""),
    "if-without-else-body": in_part("else_body", lambda text: ""),
    "if-empty-then-body": in_part("then_body", lambda text: "<then_body><layers/><edges/></then_body>"),
    "if-empty-else-body": in_part("else_body", lambda text: "<else_body/>"),
    "if-condition-to-a-number": in_part("then_port_map", replaced(mapped("input", 1, 0), mapped("input", 0, 0))),
}
for label, change in IF_EDITS.items():
    refused(label)(lambda change=change: small_if(edit=change))


@refused("if-body-without-result")
def body_without_result() -> Refusal:
    made = small_if()
    made.edit = in_part("else_body", lambda text: re.sub(
        r'<layer id="2".*?</layer>|<edge from-layer="1"[^>]*>', "", text, flags=re.DOTALL))
    return made


def without_precision(text: str) -> str:
    """Body Parameters whose ports state no type."""
    return re.sub(r'(type="Parameter"[^>]*>\n<data shape="[^"]*" element_type="\w+"/>\n<output><port id="0") precision="\w+"',
                  r"\1", text)


def with_false_precision(text: str) -> str:
    """Body Parameters whose ports state the type of their input, unlike their data."""
    return re.sub(r'(element_type="\w+"/>\n<output><port id="0" precision)="\w+"', r'\1="FP32"', text)


def if_of_types(then_type: str, else_type: str, then_from: str, words: tuple[str, ...], edit: Edit = str) -> Refusal:
    """Bodies that return values of these types; the then body's parameter declares `then_from`."""
    graph = Graph()
    cond, x, y = condition(graph), graph.parameter([2], then_type, "x"), graph.parameter([2], else_type, "y")
    choice = Branches(graph, cond)
    then = choice.feed("then", choice.port(x), type_=then_from)
    choice.give(then, *choice.take(y, "else"))
    return Refusal(finish(graph, choice.close()[0]), "choice", words, edit=edit)


refused("if-parameter-of-another-type-silently", "f32", "i32", "i32", ("f32", "i32"),
        in_part("then_body", without_precision))(if_of_types)
refused("if-parameter-of-another-type-falsely", "f32", "i32", "i32", ("f32", "i32"),
        in_part("then_body", with_false_precision))(if_of_types)
refused("if-results-of-two-types", "f32", "i32", "f32", ("f32", "i32"))(if_of_types)
refused("if-results-of-two-widths", "i64", "i32", "i64", ("i64", "i32"))(if_of_types)
refused("if-parameter-of-another-type", "f32", "i32", "i32", ("f32", "i32"))(if_of_types)
refused("if-parameter-of-another-width", "f16", "f32", "f32", ("f16", "f32"))(if_of_types)
refused("if-parameter-boolean", "u8", "boolean", "boolean", ("u8", "boolean"))(if_of_types)


@refused("if-one-result-for-two-outputs", [(0, 0), (1, 0)])
@refused("if-two-results-for-one-output", [(0, 0), (0, 1)])
@refused("if-result-without-output", [(0, 0)])
def crossed(pairs: list[tuple[int, int]]) -> Refusal:
    """Two results in each body; the then map has pairs of an output and a result."""
    graph = Graph()
    cond, x = condition(graph), graph.parameter([2], name="x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    choice.give(then, other)
    choice.give(choice.then.binary("Add", then, then, [2]), choice.other.binary("Multiply", other, other, [2]))
    layers = [layer for _, layer in choice.results["then"]]
    choice.results["then"] = [(output, layers[result]) for output, result in pairs]
    made = choice.close()
    return Refusal(finish(graph, made[0], made[1]), "choice")


@refused("if-more-results-in-else")
def more_results() -> Refusal:
    graph = Graph()
    cond, x = condition(graph), graph.parameter([2], name="x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    choice.give(then, other)
    choice.other.result(choice.other.binary("Add", other, other, [2]))
    return Refusal(finish(graph, choice.close()[0]), "choice")


@refused("if-within-a-body")
def within_a_body() -> Refusal:
    """The mistake is in the inner If, which the message names."""
    graph = Graph()
    cond, x = condition(graph), graph.parameter([2], name="x")
    outer = Branches(graph, cond, "outer")
    flag = outer.feed("then", 0)
    then, other = outer.take(x)
    inner = Branches(outer.then, flag, "inner")
    a, b = inner.take(then)
    inner.give(a, inner.other.binary("Greater", b, b, [2], "boolean"))
    outer.give(inner.close()[0], other)
    return Refusal(finish(graph, outer.close()[0]), "inner", ("f32", "boolean"))


PLAIN = {"axis": 1, "start": 0, "end": -1, "stride": 1, "part_size": 1}


def small_loop(shape: list[int] | None = None, take: dict[str, int] | None = None, put: dict[str, int] | None = None,
               part: list[int] | None = None, length: int = 6, edit: Edit = str, **more: object) -> Refusal:
    """State h and part x: Parameters 0 and 1, Add 2, Result 3 (back edge to 1); ports 0 x, 1 h, 2 concatenation, 3 last."""
    graph = Graph()
    x, h = graph.parameter(shape or [1, length], name="x"), graph.parameter(part or [1, 1], name="h")
    loop = Loop(graph)
    piece = loop.feed(x, part or [1, 1], **PLAIN | (take or {}))
    state = loop.feed(h)
    result = loop.carry(loop.body.binary("Add", piece, state, part or [1, 1]), state)
    loop.give(result, [1, length], **PLAIN | (put or {}))
    loop.give(result, part or [1, 1])
    made = loop.close()
    return Refusal(finish(graph, made[0], made[1]), "loop", edit=edit, **more)


SLICES: dict[str, dict] = {
    "loop-length-not-of-parts": {"length": 5, "take": {"stride": 2, "part_size": 2}, "part": [1, 2]},
    "loop-stride-0": {"take": {"stride": 0}},
    "loop-output-stride-0": {"put": {"stride": 0}},
    "loop-part-size-is-not-stride": {"take": {"stride": 1, "part_size": 2}, "part": [1, 2]},
    "loop-output-part-size-is-not-stride": {"put": {"stride": 2, "part_size": 1}},
    "loop-axis-beyond-rank": {"take": {"axis": 2}},
    "loop-axis-negative": {"take": {"axis": -1}},
    "loop-output-axis-beyond-rank": {"put": {"axis": 2}},
    "loop-output-axis-negative": {"put": {"axis": -1}},
    "loop-start-beyond-length": {"take": {"start": 9}},
    "loop-end-before-start": {"take": {"start": 5, "end": -4}},
    "loop-no-iteration": {"take": {"start": 6, "end": -1}},
    "loop-backward-with-forward-borders": {"take": {"stride": -1}},
    "loop-forward-with-backward-borders": {"take": {"start": -1, "end": 0}},
    "loop-end-far-below": {"take": {"end": -9}},
    "loop-outputs-of-another-length": {"put": {"end": 4}},
    "loop-parts-longer-than-parameter": {"take": {"stride": 2, "part_size": 2}, "put": {"stride": 2, "part_size": 2}},
    "loop-concatenates-other-parts": {"put": {"stride": 3, "part_size": 3}},
    "loop-length-0": {"length": 0},
}
for label, options in SLICES.items():
    refused(label)(lambda options=options: small_loop(**options))

LOOP_EDITS: dict[str, Edit] = {
    "loop-without-body": in_part("body", lambda text: ""),
    "loop-empty-body": in_part("body", lambda text: "<body><layers/><edges/></body>"),
    "loop-without-map": in_part("port_map", lambda text: ""),
    "loop-parameter-without-input": replaced(mapped("input", 1, 1), ""),
    "loop-parameter-fed-twice": replaced(mapped("input", 1, 1), mapped("input", 1, 1) * 2),
    "loop-output-without-result": replaced(mapped("output", 3, 3), ""),
    "loop-output-twice": replaced(mapped("output", 3, 3), mapped("output", 3, 3) * 2),
    "loop-unknown-input": replaced(mapped("input", 1, 1), mapped("input", 17, 1)),
    "loop-unknown-output": replaced(mapped("output", 3, 3), mapped("output", 30, 3)),
    "loop-unknown-parameter": replaced(mapped("input", 1, 1), mapped("input", 1, 17)),
    "loop-unknown-result": replaced(mapped("output", 3, 3), mapped("output", 3, 18)),
    "loop-input-to-an-operation": replaced(mapped("input", 1, 1), mapped("input", 1, 2)),
    "loop-output-of-a-parameter": replaced(mapped("output", 3, 3), mapped("output", 3, 0)),
    "loop-map-without-port": replaced('<input external_port_id="1" ', "<input "),
    "loop-map-without-layer": replaced('<output external_port_id="3" internal_layer_id="3"/>', '<output external_port_id="3"/>'),
    "loop-stride-not-a-number": replaced('stride="1"', 'stride="fast"'),
    "loop-axis-empty": replaced('axis="1"', 'axis=""'),
    "loop-back-edge-from-an-operation": replaced('<edge from-layer="3" to-layer="1"/>', '<edge from-layer="2" to-layer="1"/>'),
    "loop-back-edge-to-an-operation": replaced('<edge from-layer="3" to-layer="1"/>', '<edge from-layer="3" to-layer="2"/>'),
    "loop-back-edge-to-nothing": replaced('<edge from-layer="3" to-layer="1"/>', '<edge from-layer="3" to-layer="21"/>'),
    "loop-back-edge-twice": replaced('<edge from-layer="3" to-layer="1"/>', '<edge from-layer="3" to-layer="1"/>' * 2),
    "loop-back-edge-to-a-slice": replaced('<edge from-layer="3" to-layer="1"/>', '<edge from-layer="3" to-layer="0"/>'),
    "loop-back-edge-without-target": replaced('<edge from-layer="3" to-layer="1"/>', '<edge from-layer="3"/>'),
}
for label, change in LOOP_EDITS.items():
    refused(label)(lambda change=change: small_loop(edit=change))


def types_of_a_loop(place: int, inner: str, edit: Edit = str) -> Refusal:
    """A sliced, a merged and an invariant parameter of f32 values; the one at `place` declares another type."""
    graph = Graph()
    outer = [graph.parameter([1, 3], name="x"), graph.parameter([1, 1], name="h"), graph.parameter([1, 1], name="m")]
    loop = Loop(graph)
    types = [inner if place == number else "f32" for number in range(3)]
    piece, state, scale = (loop.feed(value, [1, 1], type_, **(PLAIN if number == 0 else {}))
                           for number, (value, type_) in enumerate(zip(outer, types)))
    del scale
    loop.carry(state, state)
    loop.give(loop.body.result(piece), [1, 3], **PLAIN)
    return Refusal(finish(graph, loop.close()[0]), "loop", ("f32", inner), edit=edit)


for position, title in enumerate(("sliced", "merged", "invariant")):
    for element in ("i32", "f16", "boolean"):
        refused(f"loop-{title}-parameter-{element}", position, element)(types_of_a_loop)
    for label, change in (("silently", without_precision), ("falsely", with_false_precision)):
        refused(f"loop-{title}-parameter-{label}", position, "i64", in_part("body", change))(types_of_a_loop)


def types_of_loop_5(place: int, type_: str, edit: Edit = str) -> Refusal:
    """Loop-5 of three iterations: body Parameters for the iteration, an invariant and a merged value; one is of another type."""
    graph = Graph()
    trips, go = graph.const(3, np.int64), graph.const(True, bool)
    outer = [graph.parameter([1], name="m"), graph.parameter([1], name="h")]
    body = Graph(graph.blobs)
    types = ["i64", "f32", "f32"]
    types[place] = type_
    count, scale, state = (body.parameter([] if number == 0 else [1], kind) for number, kind in enumerate(types))
    body.result(body.const(True, bool))
    result = body.result(state)
    body.result(scale)
    body.result(count)
    maps = ('<input external_port_id="-1" internal_layer_id="0" purpose="current_iteration"/>\n' + mapped("input", 2, 1) +
            mapped("input", 3, 2) +
            '<output external_port_id="-1" internal_layer_id="4" purpose="execution_condition"/>\n' +
            mapped("output", 4, result.number))
    made = graph.add("Loop", "opset5", [trips, go, *outer], [("f32", [1])], name="loop",
                     more=f"<port_map>\n{maps}</port_map>\n{back_edges((result.number, 2))}{body.body()}")
    return Refusal(finish(graph, made[0]), "loop", (type_,) if place == 0 else ("f32", type_), edit=edit)


refused("loop-5-iteration-f32", 0, "f32")(types_of_loop_5)
refused("loop-5-iteration-boolean", 0, "boolean")(types_of_loop_5)
for element in ("i32", "f16"):
    refused(f"loop-5-invariant-{element}", 1, element)(types_of_loop_5)
    refused(f"loop-5-merged-{element}", 2, element)(types_of_loop_5)
refused("loop-5-invariant-silently", 1, "i64", in_part("body", without_precision))(types_of_loop_5)
refused("loop-5-merged-falsely", 2, "i64", in_part("body", with_false_precision))(types_of_loop_5)


@refused("loop-back-edge-of-another-type")
def back_edge_type() -> Refusal:
    graph = Graph()
    x, count = graph.parameter([3], name="x"), graph.parameter([1], "i64", "count")
    loop = Loop(graph)
    piece, state = loop.feed(x, axis=0), loop.feed(count)
    result = loop.carry(piece, state)
    loop.give(result, [3], axis=0)
    return Refusal(finish(graph, loop.close()[0]), "loop", ("f32", "i64"))


@refused("loop-slices-a-scalar")
def slices_a_scalar() -> Refusal:
    graph = Graph()
    loop = Loop(graph)
    piece = loop.feed(graph.parameter([], name="x"), [], axis=0)
    loop.give(loop.body.result(piece), [1], axis=0)
    return Refusal(finish(graph, loop.close()[0]), "loop")


@refused("loop-scalars-along-axis-1")
def scalars_along_axis_1() -> Refusal:
    graph = Graph()
    loop = Loop(graph)
    loop.feed(graph.parameter([3], name="x"), axis=0)
    state = loop.feed(graph.parameter([], name="s"))
    loop.give(loop.body.result(state), [1, 3], axis=1)
    return Refusal(finish(graph, loop.close()[0]), "loop")


@refused("loop-slices-of-two-lengths", 3, 4)
@refused("loop-slices-of-two-lengths-by-one", 5, 4)
def two_lengths(first: int, second: int) -> Refusal:
    graph = Graph()
    loop = Loop(graph)
    a = loop.feed(graph.parameter([first], name="a"), axis=0)
    b = loop.feed(graph.parameter([second], name="b"), axis=0)
    loop.give(loop.body.result(loop.body.binary("Add", a, b, [1])), [first], axis=0)
    return Refusal(finish(graph, loop.close()[0]), "loop")


@refused("loop-open-length-0", [0], [2])
@refused("loop-open-length-not-of-parts", [5], [2])
@refused("loop-open-lengths-differ", [4], [3])
def open_lengths(first: list[int], second: list[int]) -> Refusal:
    """Parts of 2 of the first tensor, of 1 of the second; their lengths are known at run time."""
    graph = Graph()
    loop = Loop(graph)
    a = loop.feed(graph.parameter([-1], name="a"), [2], axis=0, stride=2, part_size=2)
    b = loop.feed(graph.parameter([-1], name="b"), [1], axis=0)
    loop.give(loop.body.result(loop.body.binary("Add", a, b, [2])), [-1], axis=0, stride=2, part_size=2)
    inputs = {"a": np.ones(first, FLOAT), "b": np.ones(second, FLOAT)}
    return Refusal(finish(graph, loop.close()[0]), "loop", (), inputs, True)


@refused("loop-in-a-branch")
def loop_in_a_branch() -> Refusal:
    """The loop in the then body slices an axis that is not divisible into parts of 2."""
    graph = Graph()
    cond, x = condition(graph), graph.parameter([5], name="x")
    choice = Branches(graph, cond)
    then, other = choice.take(x)
    loop = Loop(choice.then, "inner")
    piece = loop.feed(then, [2], axis=0, start=0, end=-1, stride=2, part_size=2)
    loop.give(loop.body.result(piece), [5], axis=0, start=0, end=-1, stride=2, part_size=2)
    choice.give(loop.close()[0], other)
    return Refusal(finish(graph, choice.close()[0]), "inner")


@refused("parameter-without-data-or-precision")
def nothing_known() -> Refusal:
    """A body's Parameter whose port states no element type either."""
    made = small_loop(edit=in_part("body", lambda text: re.sub(
        r'<data shape="1,1" element_type="f32"/>\n(<output><port id="0") precision="FP32"', r"\1", text, count=1)))
    made.layer = "Parameter_0"
    return made
