"""Random sequences of graph edits by a transformation in Python, of which each leaves a verified graph or one error."""

import re
import subprocess
import sys

MODEL = """version 1.0;
graph net(x) -> (y, z)
{
    x = external(shape = [2, 3]);
    k = constant(shape = [1, 3], value = [1.0, 2.0, 3.0]);
    a = add(x, k);
    [p, z, q] = split(a, axis = 1, ratios = [1, 1, 1]);
    c = concat([p, q, z], axis = 1);
    s = squeeze(x, axes = []);
    m = mul(c, s);
    y = relu(m);
}
"""

EDITS = '''
import os
import random

import numpy as np
from nnefc.mo.PHASE import KIND
from nnefc.mo.graph.graph import Node, rename_nodes
from nnefc.mo.ops.const import Const
from nnefc.mo.ops.op import Op
from nnefc.mo.ops.parameter import Parameter
from nnefc.mo.ops.result import Result
from nnefc.mo.utils.error import Error


class Edits(KIND):
    def find_and_replace_pattern(self, graph):
        seed = int(os.environ["EDITS_SEED"])
        pick = random.Random(seed)
        former = []

        def node():
            if former and pick.random() < 0.1:
                return pick.choice(former)
            former.append(Node(graph, pick.choice(graph.nodes() or ["none"])))
            return former[-1]

        def source():
            some = node()
            return some.out_port(pick.randrange(max(1, len(some.out_ports()) + pick.randrange(2))))

        def target():
            some = node()
            return some.in_port(pick.randrange(max(1, len(some.in_ports()) + pick.randrange(2))))

        def create():
            op = pick.choice(["ReLU", "Add", "Concat", "Split", "relu", "NoSuchOperation", "Squeeze", "Reshape", "Parameter", "Result"])
            attributes = dict(pick.sample([("axis", 1), ("num_splits", 3), ("name", "new"), ("own", {"a": None}), ("shape", [2, 3]), ("own", len)], 2))
            return Op(graph, {"op": op, **attributes}).create_node([source() for _ in range(pick.randrange(4))])

        edits = [
            create,
            lambda: target().connect(source()),
            lambda: target().disconnect(),
            lambda: source().disconnect(),
            lambda: graph.remove_node(node()),
            lambda: graph.remove_node(node().id),
            lambda: graph.remove_nodes_from([node(), node().id, node().id]),
            lambda: setattr(node(), "name", pick.choice(["x", "y", "new", "", "a/b"])),
            lambda: rename_nodes([(node(), "old"), (node(), pick.choice(["x", "y"]))]),
            lambda: source().get_connection().set_source(source()),
            lambda: target().get_connection().set_destination(target()),
            lambda: target().get_connection().insert_node(create()),
            lambda: node().__setitem__(pick.choice(["axis", "own", "axes", "shape", "value"]), pick.choice([0, 1.5, "t", [1], [], None, {"a": 1}, 1 << 70, len])),
            lambda: node().__delitem__(pick.choice(["axis", "axes", "own"])),
            lambda: Result(graph).create_node([source()]),
            lambda: target().connect(Parameter(graph, {"shape": pick.choice([[2, 3], [3], [-1, 3], None])}).create_node().out_port(0)),
            lambda: Const(graph, {"value": np.ones(pick.choice([(), (3,), (5,), (0,)]), np.float32)}).create_node(),
            lambda: graph.add_edge(node().id, node().id, **{"in": pick.randrange(2), "out": 0}),
            lambda: graph.clean_up(),
            lambda: node().__setitem__("need_shape_inference", True),
            lambda: node().__setitem__("override_output_shape", True),
        ]
        for _ in range(1 + seed % 10):
            try:
                pick.choice(edits)()
            except Error:
                if pick.random() < 0.1:
                    raise


Edits.force_clean_up = int(os.environ["EDITS_SEED"]) % 3 == 0
'''

# Runs a range of seeds in one process, each with its exit code on standard error.
PROGRAM = """
import os, resource, sys
from nnefc import __main__, _nnefc

first = 0
for seed in range(int(sys.argv[1]), int(sys.argv[2])):
    os.environ["EDITS_SEED"] = str(seed)
    words = ["compile", "net.nnef", "--verify", f"--extensions={sys.argv[3]}", "-o", "net.xml"]
    code = __main__._run(__main__._with_folders(words))
    print(f"== {seed} {code}", file=sys.stderr, flush=True)
    if seed == int(sys.argv[1]) + 50:
        first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print("KB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - first)
"""


def test_each_sequence_leaves_a_verified_graph_or_one_error(tmp_path):
    (tmp_path / "net.nnef").write_text(MODEL)
    ends = {0: 0, 1: 0}
    for phase, kind, seeds in (
        ("front.common", "FrontReplacementPattern", (0, 500)),
        ("middle", "MiddleReplacementPattern", (500, 1000)),
    ):
        folder = tmp_path / phase.partition(".")[0]
        folder.mkdir()
        (folder / "edits.py").write_text(EDITS.replace("PHASE", f"{phase}.replacement").replace("KIND", kind))
        words = [sys.executable, "-c", PROGRAM, *map(str, seeds), str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        parts = re.split(r"^== (\d+) (-?\d+)\n", done.stderr, flags=re.MULTILINE)
        assert len(parts) == 3 * (seeds[1] - seeds[0]) + 1
        for output, seed, code in zip(parts[::3], parts[1::3], parts[2::3]):
            errors = [line for line in output.splitlines() if re.match(r"\S+: error: ", line)]
            assert int(code) == len(errors), (seed, output)
            assert "broke the graph" not in output, (seed, output)
            assert "Traceback" not in output, (seed, output)
            ends[int(code)] += 1
        # Growth of the process after 50 of 500 sequences; a graph that stayed each time would be far more.
        assert int(done.stdout.split()[1]) < 30_000
    assert min(ends.values()) > 100, ends
