"""The kinds of transformations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Union

from nnefc._nnefc import TransformError as Error
from nnefc.mo.graph.graph import Graph, Node, NodeId, Port, _fits


class Transformation:
    """A change of the graph. Members of the class may be overridden."""

    enabled: bool = True
    id: str = ""
    run_not_recursively: bool = False
    force_clean_up: bool = False
    force_shape_inference: bool = False
    graph_condition: Sequence[Callable[[Graph], bool]] = ()
    replacement_id: str = ""
    # Name of the corresponding built-in transformation.
    built_in: ClassVar[str] = ""
    phase: ClassVar[str] = "front"
    kind: ClassVar[str] = ""
    driven_by: ClassVar[str] = ""
    # File of the module.
    file: ClassVar[str] = ""
    log: Callable[[str], None]
    warn: Callable[[str], None]

    def run_before(self) -> Sequence[type]:
        """The transformations that run later."""
        return [_anchor(f"{self.phase.capitalize()}Finish")]

    def run_after(self) -> Sequence[type]:
        """The transformations that run earlier."""
        return [_anchor(f"{self.phase.capitalize()}Start")]


def _anchor(name: str) -> type:
    return type(name, (Transformation,), {"built_in": name})


class ReplacementPattern(Transformation):
    """What replaces each match of a pattern. Overrides `find_and_replace_pattern`, or `pattern` and the replacement."""

    def pattern(self) -> dict[str, Any]:
        """Nodes and edges of what is looked for."""
        raise Error(f"{type(self).__name__} overrides neither `find_and_replace_pattern` nor `pattern`")

    def replace_pattern(self, graph: Graph, match: dict[str, Any]) -> None:
        """Replaces a match."""
        raise Error(f"{type(self).__name__} has a pattern and does not override `replace_pattern`")

    def find_and_replace_pattern(self, graph: Graph) -> None:
        """Replaces all matches that are there at the beginning, in their order."""
        lost = 0
        for match in find_matches(graph, self.pattern()):
            if all(graph._native.exists(item._number) for item in match.values()):
                self.replace_pattern(graph, match)
            else:
                lost += 1
        if lost:
            self.warn(f"{lost} of the matches left out: an earlier replacement removed a node")


class DataNode(Node):
    """An output of a node, as patterns of the middle and back phases name it."""

    output: int

    def __init__(self, graph: Graph, node: object, output: int) -> None:
        super().__init__(graph, node)
        object.__setattr__(self, "output", output)

    def _find(self, key: str) -> Any:
        port = Port(Node(self.graph, self.id), self.output, True)
        if key in ("shape", "value"):
            return port.data.get_shape() if key == "shape" else port.data.get_value()
        return "data" if key == "kind" else None

    def in_node(self, idx: int = 0) -> Node:
        """The node whose output it is."""
        return Node(self.graph, self.id)

    def out_nodes(self) -> list[Node]:
        """The nodes that read it."""
        return [port.node for port in Port(self.in_node(), self.output, True).get_destinations()]


def find_matches(graph: Graph, pattern: dict[str, Any]) -> list[dict[str, Any]]:
    """The sub-graphs that are isomorphic to a pattern, exactly its edges between their nodes."""
    nodes = [Node(graph, name) for name in graph.nodes()]
    given = []
    data: dict[str, dict[str, Any]] = {}
    for alias, wanted in ((item[0], dict(item[1]) if len(item) > 1 else {}) for item in pattern["nodes"]):
        if wanted.get("kind") == "data":
            data[alias] = {key: value for key, value in wanted.items() if key != "kind"}
            given.append((alias, True, list[int]()))
            continue
        fitting = [n._number for n in nodes if all(_fits(n._find(key), value) for key, value in wanted.items())]
        given.append((alias, False, fitting))
    edges = []
    for producer, consumer, *rest in pattern.get("edges", ()):
        ports = dict(rest[0]) if rest else {}
        edges.append((producer, consumer, _ports(ports.get("in")), _ports(ports.get("out"))))
    matches = []
    for found in graph._native.matches(given, edges):
        match: dict[str, Any] = Match()
        for alias, (number, output) in found.items():
            name = graph._id(number)
            match[alias] = Node(graph, name) if output is None else DataNode(graph, name, output)
        if all(_fits(match[alias]._find(key), value) for alias, test in data.items() for key, value in test.items()):
            matches.append(match)
    return matches


class Match(dict[str, Any]):
    """Nodes by their aliases."""

    def __missing__(self, alias: str) -> Any:
        raise Error(f"the pattern has no alias `{alias}`; it has {', '.join(f'`{known}`' for known in self)}")


def _ports(value: Any) -> list[int]:
    if value is None:
        return []
    return [int(port) for port in value] if isinstance(value, (list, tuple, set)) else [int(value)]


PortOf = Union[Node, "tuple[Node, int]"]


class _SubGraphs:
    """What takes the place of a sub-graph, of both kinds that replace them."""

    def generate_sub_graph(self, graph: Graph, match: Any) -> Any:
        """Makes the nodes that replace a match, by names for the functions below."""
        raise Error(f"{type(self).__name__} overrides neither `replace_sub_graph` nor `generate_sub_graph`")

    def input_edges_match(self, graph: Graph, match: Any, new_sub_graph: Any) -> dict[Any, Any]:
        """Inputs of matched nodes, to the inputs of new nodes that take their sources."""
        return {}

    def output_edges_match(self, graph: Graph, match: Any, new_sub_graph: Any) -> dict[Any, Any]:
        """Outputs of matched nodes, to the outputs of new nodes that take their consumers."""
        return {}

    def replace_sub_graph(self, graph: Graph, match: Any) -> None:
        """Replaces a match. Who overrides it does everything itself."""
        made = self.generate_sub_graph(graph, match)
        for old, new in self.input_edges_match(graph, match, made).items():
            _port(made, new, False).connect(self._input(match, old))
        outputs = []
        for old, new in self.output_edges_match(graph, match, made).items():
            source, target = self._output(match, old), _port(made, new, True)
            outputs.append(((source.node._number, source.idx), (target.node._number, target.idx)))
        graph._native.take_outputs(outputs)
        graph.remove_nodes_from(self.nodes_to_remove(graph, match))

    def nodes_to_remove(self, graph: Graph, match: Any) -> list[NodeId]:
        """The ids of the nodes that are removed; all that were matched."""
        return [node.id for node in match.values()]

    def _input(self, match: Any, key: Any) -> Port:
        return _port(match, key, False).get_source()

    def _output(self, match: Any, key: Any) -> Port:
        return _port(match, key, True)


def _port(nodes: Any, key: Any, is_output: bool) -> Port:
    name, idx = key if isinstance(key, tuple) else (key, 0)
    node: Node = nodes[name] if isinstance(name, str) and not isinstance(name, NodeId) else name
    return Port(node, idx, is_output)


class FrontReplacementPattern(ReplacementPattern):
    """A change of the graph of NNEF operations."""

    kind = "FrontReplacementPattern"


class FrontReplacementSubgraph(_SubGraphs, FrontReplacementPattern):
    """A sub-graph for a sub-graph."""

    kind = "FrontReplacementSubgraph"

    def replace_pattern(self, graph: Graph, match: dict[str, Any]) -> None:
        """Replaces a match."""
        self.replace_sub_graph(graph, match)


class FrontReplacementOp(FrontReplacementSubgraph):
    """Every node of the operation `op`. Overrides `replace_op`, or `replace_sub_graph` whose match has the alias `op`."""

    kind = "FrontReplacementOp"
    op: str = ""

    def pattern(self) -> dict[str, Any]:
        """The operation."""
        return {"nodes": [("op", {"op": self.op})], "edges": []}

    def replace_op(self, graph: Graph, node: Node) -> Iterable[Any]:
        """Returns ids of the nodes that take the place of the outputs, by their output 0; of one node its outputs."""
        raise Error(f"{type(self).__name__} overrides neither `replace_op` nor `replace_sub_graph`")

    def replace_sub_graph(self, graph: Graph, match: Any) -> None:
        """Calls `replace_op`, connects what it returns and removes the node."""
        node = match["op"]
        made = list(self.replace_op(graph, node) or ())
        outputs = node.out_ports()
        for idx, port in outputs.items():
            if len(made) == 1 and len(outputs) > 1:
                only = Node(graph, made[0])
                if idx in only.out_ports():
                    port.get_connection().set_source(only.out_port(idx))
            elif idx < len(made):
                item = made[idx]
                source, number = item if isinstance(item, tuple) else (item, 0)
                port.get_connection().set_source(Node(graph, source).out_port(number))
        graph.remove_node(node)


class FrontExtractorOp(Transformation):
    """Reads attributes of every node of the operation `op` before front transformations run. Overrides `extract`.

    A later one of the same `op`, of the same or a later folder, takes the place of an earlier one.
    """

    kind = "FrontExtractorOp"
    op: str = ""
    # Extractors replaced by this one.
    replaced: Sequence[str] = ()

    def run_before(self) -> Sequence[type]:
        """The transformations that run later."""
        return [_anchor("FrontStart")]

    def run_after(self) -> Sequence[type]:
        """The transformations that run earlier."""
        return [_anchor("LoadFinish")]

    @classmethod
    def extract(cls, node: Node) -> bool:
        """Sets attributes of a node; `Op.update_node_stat` helps. Returns whether it did."""
        raise Error(f"{cls.__name__} does not override `extract`")

    def find_and_replace_pattern(self, graph: Graph) -> None:
        """Lets `extract` have each node of the operation."""
        for other in self.replaced:
            self.log(f"it takes the place of {other}")
        for node in graph.get_op_nodes(op=self.op):
            called = f"`{node.id}` ({node.op})"
            try:
                is_done = self.extract(node)
            except (Exception, SystemExit) as error:
                what = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
                raise Error(f"{called}: {what}").with_traceback(error.__traceback__) from error
            if not is_done:
                self.log(f"{called} is left as it is: `extract` returned {is_done}")


class MiddleReplacementPattern(ReplacementPattern):
    """A change of the graph of OpenVINO operations, whose shapes are known. Patterns may name data."""

    phase = "middle"
    kind = "MiddleReplacementPattern"


class BackReplacementPattern(ReplacementPattern):
    """A change of the graph before it is written or run."""

    phase = "back"
    kind = "BackReplacementPattern"


class SubgraphMatch:
    """A sub-graph that an entry of the configuration names."""

    def __init__(self, graph: Graph, parts: dict[str, Any]) -> None:
        self.graph, self.scope = graph, parts["scope"]
        self._nodes = [Node(graph, graph._id(number)) for number in parts["nodes"]]
        self._names: list[str] = parts["names"]
        self._inputs: list[list[tuple[Node, int]]] = [
            [(Node(graph, graph._id(number)), idx) for number, idx in ports] for ports in parts["inputs"]
        ]
        self._outputs = [(Node(graph, graph._id(number)), idx) for number, idx in parts["outputs"]]
        self.custom_replacement_desc = Description(parts["custom_attributes"])

    def inputs_count(self) -> int:
        """How many tensors enter."""
        return len(self._inputs)

    def outputs_count(self) -> int:
        """How many tensors leave."""
        return len(self._outputs)

    def input_nodes(self, port: int) -> list[tuple[Node, int]]:
        """The nodes, with the number of their input, that read a tensor from outside."""
        if not 0 <= port < len(self._inputs):
            raise Error(f"the match has no input {port}; it has {len(self._inputs)}")
        return self._inputs[port]

    def single_input_node(self, port: int) -> tuple[Node, int]:
        """The only one; an Error if there are more."""
        nodes = self.input_nodes(port)
        if len(nodes) != 1:
            raise Error(f"input {port} of the match is read by {len(nodes)} nodes; expected one")
        return nodes[0]

    def output_node(self, port: int) -> tuple[Node, int]:
        """The node, with the number of its output, of a tensor that leaves."""
        if not 0 <= port < len(self._outputs):
            raise Error(f"the match has no output {port}; it has {len(self._outputs)}")
        return self._outputs[port]

    def matched_nodes_names(self) -> list[str]:
        """The names of all nodes, within scopes."""
        return self._names

    def nodes(self) -> list[Node]:
        """All nodes."""
        return self._nodes

    def node_by_pattern(self, pattern: str) -> Node | None:
        """The node whose name within the scope a regular expression matches; an Error if there are several."""
        import re

        prefix = f"{self.scope}/" if self.scope else ""
        found = [n for n, name in zip(self._nodes, self._names) if re.match(prefix + pattern, name)]
        if len(found) > 1:
            raise Error(f"`{pattern}` matches {len(found)} nodes of the match; expected one")
        return found[0] if found else None

    def values(self) -> list[Node]:
        """All nodes but results, as what is removed."""
        return [node for node in self._nodes if node.op != "Result"]


class Description:
    """What an entry of the configuration says beside what it names."""

    def __init__(self, custom_attributes: dict[str, Any]) -> None:
        self.custom_attributes = custom_attributes


class FrontReplacementFromConfigFileSubGraph(_SubGraphs, Transformation):
    """A sub-graph that an entry of the configuration with the `replacement_id` names."""

    kind = "FrontReplacementFromConfigFileSubGraph"
    driven_by = "sub_graph"

    def _input(self, match: SubgraphMatch, key: Any) -> Port:
        if not isinstance(key, int):
            return Port(key[0], key[1], False).get_source()
        node, idx = match.input_nodes(key)[0]
        return node.in_port(idx).get_source()

    def _output(self, match: SubgraphMatch, key: Any) -> Port:
        node, idx = match.output_node(key) if isinstance(key, int) else key
        return Port(node, idx, True)


class FrontReplacementFromConfigFileGeneral(Transformation):
    """Once for each entry of the configuration with the `replacement_id`."""

    kind = "FrontReplacementFromConfigFileGeneral"
    driven_by = "general"

    def transform_graph(self, graph: Graph, replacement_descriptions: dict[str, Any]) -> None:
        """Changes the graph, by the custom attributes of the entry."""
        raise Error(f"{type(self).__name__} does not override `transform_graph`")
