"""Operands of the provisional dialect with trailing extents of 1: a literal is a constant of singular shape (P 3.3.2),
and extents that a shape omits are 1 (P 4.1). Each operation must therefore check and compute the same whatever the
number of written trailing extents, for each operand. Operations and parameters are those that the library declares;
attributes and shapes are random."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

LIBRARY = Path(__file__).resolve().parents[3] / "stdlib" / "provisional.nnef"
SHAPES = [[1], [2], [1, 1], [2, 1], [1, 2], [2, 2], [3, 2], [1, 2, 4], [2, 1, 3], [2, 2, 2], [1, 1, 4], [1, 2, 4, 4], [2, 1, 3, 3],
          [2, 2, 1, 3]]
# Each round generates TRIES cases, until ENOUGH of them are valid; at most MOST run.
TRIES, ROUNDS, ENOUGH, MOST = 20, 40, 3, 8
# A literal cannot be a coordinate or a variable.
NEVER_LITERAL = {("sample", "index"), ("desample", "index"), ("update", "variable")}


@dataclass
class Operation:
    name: str
    parameters: list[tuple[str, str, str | None]]  # name, type, default
    results: list[str]  # types

    def tensors(self) -> list[str]:
        return [name for name, kind, _ in self.parameters if kind.startswith("tensor")]


def declarations() -> list[Operation]:
    text = re.sub(r"#[^\n]*", "", LIBRARY.read_text())
    operations = []
    for name, parameters, results in re.findall(r"fragment (\w+)\(([^{;]*?)\)\s*->\s*\(([^{;]*?)\)\s*[{;]", text, re.DOTALL):
        parsed = [(m[1], m[2].replace(" ", ""), m[3]) for m in
                  re.finditer(r"(\w+)\s*:\s*(\([\w, ]+\)\[\]|\w+(?:\[\])?)\s*(?:=\s*('[^']*'|\[[^\]]*\]|[\w.]+))?", parameters)]
        operations.append(Operation(name, parsed, [m[1] for m in re.finditer(r":\s*(\w+(?:\[\])?)", results)]))
    return operations


OPERATIONS = [operation for operation in declarations() if operation.tensors()]


def attribute(draw: random.Random, name: str, kind: str) -> str:
    """Returns a value of an attribute, by its name if its type is not enough."""
    numbers = lambda low, high, most: str([draw.randint(low, high) for _ in range(draw.randint(0, most))])  # noqa: E731
    if name == "axes":
        return str(sorted(draw.sample(range(4), draw.randint(0, 2))))
    if name == "perm":
        return str(draw.sample(range(length := draw.randint(1, 4)), length))
    if name == "ratios":
        return draw.choice(["[1]", "[1, 1]"])
    if name == "shape":
        return draw.choice(["[-1]", "[1]", "[0, -1]", "[1, 1, 1]", "[0, 0, 0]", "[2, -1]"])
    if name == "border":
        return draw.choice(["'constant'", "'replicate'", "'ignore'"])
    if name == "method":
        return draw.choice(["'symmetric'", "'asymmetric'", "'aligned'"])
    if kind == "(extent,extent)[]":
        return "[" + ", ".join(["(%d,%d)" % (draw.randint(0, 1), draw.randint(0, 1)) for _ in range(draw.randint(0, 4))]) + "]"
    if kind == "extent[]":
        return numbers(1, 2, 4)
    if kind == "extent":
        return str(draw.randint(0, 3) if name == "axis" else draw.randint(1, 2))
    if kind == "logical":
        return draw.choice(["true", "false"])
    assert kind == "scalar", (name, kind)
    return draw.choice(["0.5", "1.5"])


def constant(draw: random.Random, shape: list[int]) -> tuple[list[int], list[float]]:
    return shape, [round(draw.uniform(0.25, 2.0), 3) for _ in range(int(np.prod(shape)))]


@dataclass
class Case:
    """One operation with fixed attributes, and forms of one operand that differ only in implied extents."""
    operation: Operation
    forms: list[list[str]] = field(default_factory=list)  # statements; results are named NAME@

    def document(self) -> list[str]:
        """Returns a document for each form."""
        return [graph([(lines, "")]) for lines in self.forms]


def graph(parts: list[tuple[list[str], str]]) -> str:
    results, body = [], []
    for lines, suffix in parts:
        text = "\n".join(f"    {line}" for line in lines).replace("@", suffix)
        results += re.findall(r"\b[yz]\w*(?=[\], =])", text.splitlines()[-1].split(" = ")[0] + " ")
        body.append(text)
    return "version 1.0\ngraph net( o ) -> ( %s )\n{\n    o = external(shape = [1])\n%s\n}\n" % (", ".join(results), "\n".join(body))


def left_side(operation: Operation, attributes: dict[str, str]) -> str:
    names = []
    for place, kind in enumerate(operation.results):
        letter = "yz"[place]
        if kind == "tensor":
            names.append(f"{letter}@")
            continue
        count = int(attributes["times"]) if "times" in attributes else attributes["ratios"].count(",") + 1
        names.append("[" + ", ".join(f"{letter}{i}@" for i in range(count)) + "]")
    return ", ".join(names)


def operand(draw: random.Random, name: str, shape: list[int], attributes: dict[str, str], is_logical: bool) -> tuple[str, list[float]]:
    """Returns the definition of a tensor, with `SHAPE` in place of its shape, and its values."""
    shape, values = constant(draw, shape)
    made = f"constant(shape = SHAPE, value = {values})"
    if name == "variable":
        made = f"variable(shape = SHAPE, label = 'LABEL')"
    elif name == "index":
        window = ", ".join(f"{key} = {attributes[key]}" for key in ("size", "padding", "stride", "dilation") if key in attributes)
        made = f"argmax_pool({made}, {window})"
    elif is_logical:
        made = f"gt({made}, 1.0)"
    return made, values


def make_case(draw: random.Random, operation: Operation, varied: str, as_literal: bool) -> Case:
    attributes = {}
    for name, kind, default in operation.parameters:
        if not kind.startswith("tensor") and (default is None or draw.random() < 0.25):
            attributes[name] = attribute(draw, name, kind)
    given = [name for name, kind, default in operation.parameters
             if kind.startswith("tensor") and (default is None or name == varied or draw.random() < 0.5)]
    base = draw.choice(SHAPES)
    logical = draw.random() < 0.3
    is_logical = {name: logical if not operation.name == "select" else name == "condition" for name in given}
    lines, arguments, forms = [], [], []
    for name in given:
        kind = next(kind for other, kind, _ in operation.parameters if other == name)
        count = draw.randint(1, 3) if kind.endswith("[]") else 1
        chosen = draw.randrange(count)
        items = []
        for i in range(count):
            is_varied = name == varied and i == chosen
            if is_varied and as_literal:
                value = str(draw.choice(["true", "false"])) if is_logical[name] else str(draw.choice([0.5, 1.25]))
                made = f"gt(constant(shape = SHAPE, value = [{1.5 if value == 'true' else 0.5}]), 1.0)" if is_logical[name] else \
                    f"constant(shape = SHAPE, value = [{value}])"
                shapes = [[1] * rank for rank in (1, 2, 3, 5)]
                forms = [[value, None]] + [["v@", f"v@ = {made.replace('SHAPE', str(s))}"] for s in shapes]
                items.append("VARIED")
                continue
            shape = base if draw.random() < 0.6 else draw.choice(SHAPES)
            made, _ = operand(draw, name, shape, attributes, is_logical[name])
            if is_varied:
                shapes = [shape + [1] * more for more in (0, 1, 3)]
                forms = [["v@", f"v@ = {made.replace('SHAPE', str(s)).replace('LABEL', f'v{len(s)}@')}"] for s in shapes]
                items.append("VARIED")
                continue
            label = f"{name}{i}"
            lines.append(f"{label}@ = {made.replace('SHAPE', str(shape)).replace('LABEL', f'{label}@')}")
            items.append(f"{label}@")
        arguments.append(f"{name} = [{', '.join(items)}]" if kind.endswith("[]") else f"{name} = {items[0]}")
    arguments += [f"{name} = {value}" for name, value in attributes.items()]
    invocation = f"{left_side(operation, attributes)} = {operation.name}({', '.join(arguments)})"
    return Case(operation, [lines + ([] if statement is None else [statement]) + [invocation.replace("VARIED", text)]
                            for text, statement in forms])


@pytest.fixture(scope="session")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("provisional_literals"))


def verdicts(tool: Nnefc, folder: Path, documents: list[str]) -> list[frozenset[str]]:
    """Returns the labels of the errors in each document."""
    names = []
    for i, text in enumerate(documents):
        names.append(folder / f"d{i}.nnef")
        names[-1].write_text(text)
    done = tool.call("check", *names)
    assert done.returncode in (0, 1), done.stderr
    found: list[set[str]] = [set() for _ in documents]
    for place, label in re.findall(r"/d(\d+)\.nnef:\d+:\d+: error: .*\[([\w.-]+)\]$", done.stderr, re.MULTILINE):
        found[int(place)].add(label)
    return [frozenset(labels) for labels in found]


def trimmed(value: np.ndarray) -> np.ndarray:
    """Returns the shape without trailing extents of 1."""
    shape = list(value.shape)
    while shape and shape[-1] == 1:
        shape.pop()
    return value.reshape(shape)


SIBLINGS = [(operation, name, as_literal) for operation in OPERATIONS for name in operation.tensors() for as_literal in (True, False)]


@pytest.mark.parametrize("place", range(len(SIBLINGS)),
                         ids=[f"{o.name}-{name}-{'literal' if literal else 'ranks'}" for o, name, literal in SIBLINGS])
def test_implied_extents(tool: Nnefc, tmp_path: Path, place: int) -> None:
    operation, name, as_literal = SIBLINGS[place]
    draw = random.Random(f"{operation.name} {name} {as_literal}")
    accepted = []
    for _ in range(ROUNDS):
        cases = [make_case(draw, operation, name, as_literal) for _ in range(TRIES)]
        judged = iter(verdicts(tool, tmp_path, [document for case in cases for document in case.document()]))
        for case in cases:
            each = [next(judged) for _ in case.forms]
            if len(set(map(bool, each))) != 1:
                pytest.fail("judged otherwise: %s\n%s" % (each, "\n".join(case.document())))
            if not each[0]:
                accepted.append(case)
        if len(accepted) >= ENOUGH:
            break
    accepted = accepted[:MOST]
    assert accepted or (operation.name, name) in NEVER_LITERAL and as_literal
    assert not (accepted and as_literal and (operation.name, name) in NEVER_LITERAL)
    if not accepted:
        return
    parts = [(lines, f"_{i}_{j}") for i, case in enumerate(accepted) for j, lines in enumerate(case.forms)]
    (tmp_path / "graph.nnef").write_text(graph(parts))
    (tmp_path / "flat").mkdir()
    done = tool.call("expand", tmp_path, "--lower=all", "-o", tmp_path / "flat" / "graph.nnef")
    models = [[tmp_path, "--backend", "reference", "--verify"], [tmp_path]]
    if done.returncode == 0:
        models.append([tmp_path / "flat"])
    else:  # coordinates as results have no ratified form
        assert set(re.findall(r"\[([\w.-]+)\]$", done.stderr, re.MULTILINE)) == {"provisional.coordinate-index"}, done.stderr
    for model, *options in models:
        found = tool.run(model, "--input", f"o={zeros(tmp_path)}", "--random-weights", "1", *options)
        for i, case in enumerate(accepted):
            names = [key for key in found if re.fullmatch(rf"[yz]\d*_{i}_0", key)]
            assert names
            for key in names:
                first = trimmed(found[key])
                for j in range(1, len(case.forms)):
                    other = trimmed(found[key[:-1] + str(j)])
                    assert first.shape == other.shape, (options, case.document()[0], case.document()[j])
                    np.testing.assert_allclose(first, other, rtol=1e-5, atol=1e-6, err_msg=case.document()[0] + case.document()[j])


def zeros(folder: Path) -> Path:
    np.save(folder / "o.npy", np.zeros([1], np.float32))
    return folder / "o.npy"


def test_the_declarations_are_read() -> None:
    assert {operation.name for operation in OPERATIONS} == \
        set(re.findall(r"^fragment (\w+)", LIBRARY.read_text(), re.MULTILINE)) - {"external", "constant", "variable"}
